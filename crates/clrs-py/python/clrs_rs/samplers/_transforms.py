"""Transforms of endless iterators of feedback."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from clrs_rs import _arguments
from clrs_rs.errors import ArgumentTypeError, TransformError
from clrs_rs.probing import DataPoint, predecessor_to_cyclic_predecessor_and_first
from clrs_rs.samplers._types import Feedback
from clrs_rs.specs import Location, Spec, Stage, Type


def process_random_pos(sample_iterator: Iterator[Feedback], rng: Any) -> Iterator[Feedback]:
    """Replaces ``pos`` by sorted random numbers, drawn from the generator of the caller.

    Where positions restart at 0, as those of two strings do, so do the random ones. The data point of the sampler is changed
    in place.
    """
    if not hasattr(rng, "uniform"):
        raise ArgumentTypeError(f"`rng` must be a generator of NumPy, not {_arguments.describe(rng)}")
    for feedback in sample_iterator:
        features = _arguments.feedback(feedback).features
        found = [point for point in features.inputs if point.name == "pos"]
        if len(found) != 1:
            raise TransformError(f"the inputs have {len(found)} data points `pos` instead of one")
        (pos,) = found
        drawn = rng.uniform(size=pos.data.shape)
        # A string starts at a 0. Numbers of later strings are shifted, so that one sort keeps every string in its place.
        string = np.cumsum(pos.data == 0, axis=1)
        pos.data = np.take_along_axis(drawn, np.lexsort((drawn, string), axis=1), axis=1)
        yield feedback._replace(features=features._replace(inputs=list(features.inputs)))


def process_pred_as_input(spec: Spec, sample_iterator: Iterator[Feedback]) -> tuple[Spec, Iterator[Feedback]]:
    """Makes the hint ``pred_h``, which must be the same at every step, an input ``pred``. Returns the new spec too."""
    pointer = (Location.NODE, Type.POINTER)
    if spec.get("pred_h", (Stage.HINT, *pointer)) != (Stage.HINT, *pointer):
        raise TransformError("`pred_h` is not a pointer of nodes")
    new_spec = {
        ("pred" if name == "pred_h" else name): ((Stage.INPUT, *pointer) if name == "pred_h" else probe)
        for name, probe in spec.items()
    }
    return new_spec, map(_pred_as_input, sample_iterator)


def _pred_as_input(feedback: Feedback) -> Feedback:
    features = _arguments.feedback(feedback, chunked=False).features
    moved = [point for point in features.hints if point.name == "pred_h"]
    if not moved:
        return feedback
    point = moved[0]
    try:
        data, lengths = np.asarray(point.data), np.asarray(features.lengths)
    except ValueError as error:
        raise TransformError(f"`pred_h` or the lengths are not arrays: {error}") from None
    if data.ndim != 3 or lengths.shape != data.shape[1:2]:
        raise TransformError(f"`pred_h` has shape {data.shape} with lengths of shape {lengths.shape}; [T, B, N] and [B] expected")
    changes = np.any(data != data[:1], axis=-1) & (np.arange(len(data))[:, None] < lengths)
    if np.any(changes):
        raise TransformError("`pred_h` changes; it cannot become an input")
    pred = DataPoint("pred", point.location, point.type_, point.data[0])
    hints = tuple(point for point in features.hints if point.name != "pred_h")
    return feedback._replace(features=features._replace(inputs=(*features.inputs, pred), hints=hints))


def process_permutations(
    spec: Spec, sample_iterator: Iterator[Feedback], enforce_permutations: bool
) -> tuple[Spec, Iterator[Feedback]]:
    """Replaces each permutation by a cyclic permutation and a mask of its first node, or else by plain pointers.

    Returns the new spec too. Cyclic permutations and masks are float32 arrays.
    """
    new_spec: Spec = {}
    for name, (stage, location, type_) in spec.items():
        if (location, type_) != (Location.NODE, Type.SHOULD_BE_PERMUTATION):
            new_spec[name] = (stage, location, type_)
        elif enforce_permutations:
            new_spec[name] = (stage, location, Type.PERMUTATION_POINTER)
            new_spec[name + "_mask"] = (stage, location, Type.MASK_ONE)
        else:
            new_spec[name] = (stage, location, Type.POINTER)

    def transform(feedback: Feedback) -> Feedback:
        features = _arguments.feedback(feedback).features
        inputs, hints, outputs = (
            _preprocess_permutations(points, enforce_permutations)
            for points in (features.inputs, features.hints, feedback.outputs)
        )
        features = features._replace(inputs=tuple(inputs), hints=tuple(hints))
        return feedback._replace(features=features, outputs=outputs)

    return new_spec, map(transform, sample_iterator)


def _preprocess_permutations(probes: Any, enforce_permutations: bool) -> list[DataPoint]:
    replaced: list[DataPoint] = []
    for point in probes:
        if point.type_ != Type.SHOULD_BE_PERMUTATION:
            replaced.append(point)
            continue
        if point.location != Location.NODE:
            raise TransformError(f"`{point.name}` is a permutation, but not of nodes")
        if not enforce_permutations:
            replaced.append(DataPoint(point.name, point.location, Type.POINTER, point.data))
            continue
        cycle, first = predecessor_to_cyclic_predecessor_and_first(point.data)
        replaced.append(DataPoint(point.name, point.location, Type.PERMUTATION_POINTER, cycle))
        replaced.append(DataPoint(point.name + "_mask", point.location, Type.MASK_ONE, first))
    return replaced
