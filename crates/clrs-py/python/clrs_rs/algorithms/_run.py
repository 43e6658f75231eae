"""Calls of the engine with the arguments and results of dm-clrs."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from clrs_rs import _core, probing
from clrs_rs.errors import InvalidProblemError
from clrs_rs.specs import SPECS, Location, Stage, Type

Array: TypeAlias = npt.NDArray[Any]
Probes: TypeAlias = probing.ProbesDict

_F = TypeVar("_F", bound=Callable[..., Any])

#: Functions that the engine runs, and their names.
_NATIVE: dict[Callable[..., Any], str] = {}


def native(function: _F) -> _F:
    """Marks a function as the algorithm of the engine with the same name."""
    _NATIVE[function] = function.__name__
    return function


def native_name(algorithm: Callable[..., Any]) -> str | None:
    """Name of the engine's algorithm that a function runs."""
    return _NATIVE.get(algorithm)


class Run:
    """A run of an algorithm of the engine."""

    def __init__(self, name: str, problem: Mapping[str, Any], **inputs: Any) -> None:
        """Runs `name` on a problem of the engine. `inputs` are the arguments that are inputs too, whose types they keep."""
        feedback = _core.run(name, problem_json(problem))
        self.probes = probing.initialize(SPECS[name])
        for stage, points in (
            (Stage.INPUT, feedback.features.inputs),
            (Stage.OUTPUT, feedback.outputs),
            (Stage.HINT, feedback.features.hints),
        ):
            for point in points:
                data = point.data[:, 0] if stage == Stage.HINT else point.data[0]
                dtype: npt.DTypeLike | None = _hint_dtype(point) if stage == Stage.HINT else None
                if stage == Stage.INPUT and point.name in inputs:
                    dtype = np.asarray(inputs[point.name]).dtype
                self.probes[stage][point.location][point.name]["data"] = np.asarray(data, dtype)

    def output(self, name: str) -> Array:
        """A copy of an output."""
        (data,) = (found[name]["data"] for found in self.probes[Stage.OUTPUT].values() if name in found)
        return np.array(data)

    def node(self, name: str) -> int:
        """The node of an output that is a one-hot mask."""
        return int(np.argmax(self.output(name)))


def problem_json(problem: Mapping[str, Any]) -> str:
    """A problem as the engine reads it."""
    try:
        return json.dumps(problem, default=_plain, allow_nan=False)
    except ValueError:
        raise InvalidProblemError("the problem has a number that is not finite, or contains itself") from None
    except RecursionError:
        raise InvalidProblemError("the problem is nested too deeply") from None
    except TypeError as error:
        raise InvalidProblemError(f"the problem cannot be read: {error}") from None


def _hint_dtype(point: probing.DataPoint) -> type[np.generic]:
    """Type of a hint before it is part of a batch, where all are float64."""
    is_integer = (point.location, point.type_) in ((Location.NODE, Type.POINTER), (Location.GRAPH, Type.MASK))
    # The time `t` of task scheduling is the only scalar that counts.
    return np.int64 if is_integer or (point.location, point.name) == (Location.GRAPH, "t") else np.float64


def _plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not an array or a number")
