"""Batches of samples that were recorded one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs.errors import BatchError
from clrs_rs.probing import DataPoint
from clrs_rs.samplers._types import Trajectories, Trajectory


def _batch_io(traj_io: Trajectories) -> Trajectory:
    """Joins inputs or outputs of samples along their first axis, probe by probe."""
    if not traj_io:
        raise BatchError("a batch needs at least one sample")
    for sample in traj_io:
        for first, point in zip(traj_io[0], sample, strict=True):
            if point.name != first.name:
                raise BatchError(f"samples with different probes: `{first.name}`, `{point.name}`")
            if point.data.shape[0] != 1:
                raise BatchError(f"`{point.name}` has no batch axis of length 1")
    return [_with_data(points[0], np.concatenate([p.data for p in points])) for points in zip(*traj_io, strict=True)]


def _batch_hints(traj_hints: Trajectories, min_steps: int) -> tuple[Trajectory, npt.NDArray[np.float64]]:
    """Joins hints of samples, padded with zeros to the longest sample and to at least `min_steps` steps.

    Returns the hints and the number of steps of each sample.
    """
    if not traj_hints:
        raise BatchError("a batch needs at least one sample")
    steps = min_steps
    for sample in traj_hints:
        for point in sample:
            if point.data.shape[1] != 1:
                raise BatchError(f"`{point.name}` has no batch axis of length 1")
            steps = max(steps, len(point.data))
    lengths = np.zeros(len(traj_hints))
    batched = [_with_data(point, np.zeros((steps, len(traj_hints), *point.data.shape[2:]))) for point in traj_hints[0]]
    for index, sample in enumerate(traj_hints):
        for into, point in zip(batched, sample, strict=True):
            if into.name != point.name:
                raise BatchError(f"samples with different probes: `{into.name}`, `{point.name}`")
            if len(point.data) != len(sample[0].data):
                raise BatchError(f"`{point.name}` has another number of steps than `{sample[0].name}`")
            into.data[: len(point.data), index] = point.data[:, 0]
            lengths[index] = len(point.data)
    return batched, lengths


def _subsample_data(trajectory: Trajectory, idx: Sequence[int] | npt.NDArray[np.int64], axis: int = 0) -> Trajectory:
    """Selects samples of every data point."""
    return [_with_data(point, np.take(point.data, idx, axis=axis)) for point in trajectory]


def _with_data(point: DataPoint, data: Any) -> DataPoint:
    return DataPoint(point.name, point.location, point.type_, data)
