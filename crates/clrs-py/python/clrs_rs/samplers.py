"""Samplers: fixed sets and endless streams of trajectories."""

from typing import Any, NamedTuple, TypeAlias

from clrs_rs.probing import DataPoint

#: Data points of one stage.
Trajectory: TypeAlias = list[DataPoint]
Trajectories: TypeAlias = list[Trajectory]


class Features(NamedTuple):
    """Inputs, hints, and the number of steps of each sample."""

    inputs: Any
    hints: Any
    lengths: Any


class FeaturesChunked(NamedTuple):
    """Inputs and hints of a chunk, and where its samples begin and end."""

    inputs: Any
    hints: Any
    is_first: Any
    is_last: Any


class Feedback(NamedTuple):
    """Features of a batch and its outputs."""

    features: Any
    outputs: Any
