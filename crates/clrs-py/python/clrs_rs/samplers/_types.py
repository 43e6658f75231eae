"""The containers of samples."""

from typing import Any, NamedTuple, TypeAlias

from clrs_rs.probing import DataPoint

#: Data points of one stage.
Trajectory: TypeAlias = list[DataPoint]
#: Several of them, one per sample.
Trajectories: TypeAlias = list[Trajectory]


class Features(NamedTuple):
    """Inputs ``[B, ...]``, hints ``[T, B, ...]``, and the number of steps of each sample ``[B]``."""

    inputs: Any
    hints: Any
    lengths: Any


class FeaturesChunked(NamedTuple):
    """Inputs and hints of a chunk ``[L, B, ...]``, and masks ``[L, B]`` of the first and the last step of every sample."""

    inputs: Any
    hints: Any
    is_first: Any
    is_last: Any


class Feedback(NamedTuple):
    """Features of a batch, and its outputs ``[B, ...]``."""

    features: Any
    outputs: Any
