"""Scores of predicted outputs and hints, as dm-clrs computes them.

>>> import clrs_rs as clrs
>>> feedback = clrs.build_sampler("bfs", 8, seed=0, length=6)[0].next()
>>> predictions = {point.name: point for point in feedback.outputs}
>>> scores = clrs.evaluate(feedback.outputs, predictions)
>>> float(scores["pi"]), scores["score"]
(1.0, 1.0)
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from clrs_rs import _arguments, _core
from clrs_rs.errors import ArgumentTypeError, ScoreError
from clrs_rs.probing import DataPoint
from clrs_rs.specs import Location, OutputClass, Type

__all__ = ["Result", "evaluate", "evaluate_hints", "fuse_perm_and_mask"]

#: Predictions by name.
Result: TypeAlias = Mapping[str, DataPoint]


def evaluate(outputs: Sequence[DataPoint], predictions: Result) -> dict[str, Any]:
    """Scores predicted outputs: F1 for masks, accuracy otherwise.

    Returns the score of every output, and their mean as ``score``. A cyclic permutation and its mask are scored as pointers.
    """
    scores, mean = _core.evaluate(outputs, _points(predictions))
    return {**{name: np.float64(score) for name, score in scores}, "score": mean}


def _points(predictions: Result) -> list[DataPoint]:
    """Predictions with the names that they are found by."""
    if not isinstance(predictions, Mapping):
        raise ArgumentTypeError(f"predictions must be a dict of DataPoints by name, not {_arguments.describe(predictions)}")
    points = []
    for name, point in predictions.items():
        if not _arguments.is_point(point):
            raise ArgumentTypeError(
                f"the prediction of `{name}` must be a DataPoint, not {_arguments.describe(point)}; "
                "`decoders.postprocess` turns logits into data points"
            )
        points.append(point if point.name == name else DataPoint(name, point.location, point.type_, point.data))
    return points


def evaluate_hints(hints: Sequence[DataPoint], lengths: Any, hint_preds: Sequence[Result]) -> dict[str, Any]:
    """Scores predicted hints; ``hint_preds`` are the predictions of every step after the first, which is given.

    Returns the mean score of every hint over the steps of all samples, and its score at each step as ``NAME_along_time``.
    """
    predictions = _arguments.items("hint_preds", hint_preds, lambda _, step: _points(step), "a list of predictions")
    scores: dict[str, Any] = {}
    for name, score, per_step in _core.evaluate_hints(hints, lengths, predictions):
        scores[name] = np.float64(score)
        scores[name + "_along_time"] = np.array(per_step)
    return scores


def fuse_perm_and_mask(perm: DataPoint, mask: DataPoint) -> DataPoint:
    """Opens a cyclic permutation at its first node, which then points to itself."""
    if (perm.type_, perm.location) != (Type.PERMUTATION_POINTER, Location.NODE):
        raise ScoreError(f"`{perm.name}` is not a permutation")
    if (mask.type_, mask.location) != (Type.MASK_ONE, Location.NODE):
        raise ScoreError(f"`{mask.name}` is not a one-hot mask")
    if mask.name != perm.name + "_mask":
        raise ScoreError(f"`{mask.name}` is not the mask of `{perm.name}`")
    if perm.data.shape != (*mask.data.shape, mask.data.shape[-1]):
        raise ScoreError(f"`{perm.name}` and its mask differ in shape")
    nodes = np.arange(perm.data.shape[-1])
    pointers = np.where(np.asarray(mask.data) > 0.5, nodes, np.argmax(perm.data, axis=-1))
    return DataPoint(perm.name, perm.location, Type.POINTER, pointers)


def _eval_one(pred: Any, truth: Any) -> Any:
    """Accuracy of one-hot rows that are not masked out."""
    unmasked = np.all(truth != OutputClass.MASKED, axis=-1)
    return np.sum((np.argmax(pred, -1) == np.argmax(truth, -1)) * unmasked) / np.sum(unmasked)
