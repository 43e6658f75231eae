"""Checks of arguments, whose errors name the argument."""

import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from clrs_rs import _core
from clrs_rs.errors import ArgumentError, ArgumentTypeError, UnknownOptionError

#: Largest seed: NumPy's generators are seeded with 32 bits.
MAX_SEED = 2**32 - 1
#: Largest size or count. More than any memory has room for.
MAX_COUNT = 2**48


def integer(name: str, value: Any, minimum: int = 0, maximum: int = MAX_COUNT) -> int:
    """An integer in a range: Python's, NumPy's, or of another type that is one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"`{name}` must be an integer, not {describe(value)}") from None
    if not minimum <= number <= maximum:
        nearest = f"at least {minimum}" if number < minimum else f"at most {maximum}"
        limits = nearest if maximum == MAX_COUNT else f"from {minimum} to {maximum}"
        raise ArgumentError(f"`{name}` must be {limits}, not {number}")
    return number


def seed(value: Any, name: str = "seed") -> int:
    """A seed of the engine."""
    return integer(name, value, 0, MAX_SEED)


def number(name: str, value: Any) -> float:
    """A finite number."""
    try:
        converted = float(value) if not isinstance(value, (str, bytes)) else None
    except (TypeError, ValueError, OverflowError):
        converted = None
    if converted is None:
        raise ArgumentTypeError(f"`{name}` must be a number, not {describe(value)}")
    if not math.isfinite(converted):
        raise ArgumentError(f"`{name}` must be a finite number, not {converted}")
    return converted


def flag(name: str, value: Any) -> bool:
    """Whether something holds: anything that is true or false."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`{name}` must be True or False, not {describe(value)}") from None


def dtype(name: str, value: Any) -> np.dtype[Any]:
    """A type of NumPy's arrays."""
    try:
        found: np.dtype[Any] = np.dtype(value)
    except TypeError:
        raise ArgumentTypeError(f"`{name}` must be a type of arrays, not {describe(value)}") from None
    return found


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"`{name}` must be a str, not {describe(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"`{name}` is a str with a character that no text has") from None
    return value


def is_false(value: Any) -> bool:
    """Whether a callback returned ``False``, Python's or NumPy's; ``None`` is neither true nor false."""
    return isinstance(value, (bool, np.bool_)) and not value


def path(name: str, value: Any) -> str:
    """A path: a text, or an object that is a path."""
    try:
        found = os.fspath(value)
    except TypeError:
        found = None
    if not isinstance(found, str):
        raise ArgumentTypeError(f"`{name}` must be a path, not {describe(value)}")
    if "\0" in found:
        raise ArgumentError(f"`{name}` must be a path, and has a character that no path has")
    return found


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of several texts."""
    if not isinstance(value, str) or value not in choices:
        expected = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
        raise ArgumentError(f"`{name}` must be {expected}, not {describe(value)}")
    return value


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A dictionary."""
    if not isinstance(value, Mapping):
        raise ArgumentTypeError(f"`{name}` must be a dict, not {describe(value)}")
    return value


def items(name: str, values: Any, check: Callable[[str, Any], Any], what: str) -> list[Any]:
    """A list of checked items, from anything that can be iterated over but a text."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"`{name}` must be {what}, not {describe(values)}")
    return [check(f"{name}[{index}]", value) for index, value in enumerate(values)]


def pair(name: str, value: Any) -> tuple[Any, Any]:
    """A tuple of two values."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ArgumentTypeError(f"`{name}` must be a pair, not {describe(value)}")
    return value[0], value[1]


def sizes(name: str, value: Any) -> list[int]:
    """Sizes of problems; a single one may be given without a list."""
    given = value if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else [value]
    found = [integer(name, size, 1) for size in given]
    if not found:
        raise ArgumentError(f"`{name}` has no sizes")
    return found


def callback(value: Any) -> None:
    """Refuses what cannot be called, before any work."""
    if value is not None and not callable(value):
        raise ArgumentTypeError(f"`callback` must be a function, not {describe(value)}")


def feedback(value: Any, name: str = "feedback", chunked: bool = True) -> Any:
    """A ``Feedback``, of this package or another: an object with features, which have inputs and hints, and outputs."""
    if not (hasattr(value, "features") and hasattr(value, "outputs")):
        raise ArgumentTypeError(f"`{name}` must be a Feedback, not {describe(value)}")
    features(value.features, f"{name}.features", chunked)
    _points(f"{name}.outputs", value.outputs)
    return value


def features(value: Any, name: str = "features", chunked: bool = True) -> Any:
    """``Features`` of this package or another; those of chunks, which have no lengths, only if they may be ``chunked``."""
    if not (hasattr(value, "inputs") and hasattr(value, "hints")):
        raise ArgumentTypeError(f"`{name}` must be Features, not {describe(value)}")
    for stage in ("inputs", "hints"):
        _points(f"{name}.{stage}", getattr(value, stage))
    if not (chunked or hasattr(value, "lengths")):
        raise ArgumentTypeError(f"`{name}` has no lengths: it must be that of a batch, not of a chunk")
    return value


def _points(name: str, value: Any) -> None:
    # An iterator would be used up here.
    if not isinstance(value, Iterable) or isinstance(value, Iterator):
        raise ArgumentTypeError(f"`{name}` must be a list of DataPoints, not {describe(value)}")
    for index, point in enumerate(value):
        if not is_point(point):
            raise ArgumentTypeError(f"`{name}[{index}]` must be a DataPoint, not {describe(point)}")


def is_point(value: Any) -> bool:
    """Whether something has the attributes of a ``DataPoint``."""
    return all(hasattr(value, attribute) for attribute in ("name", "location", "type_", "data"))


def known(function: str, names: Iterable[str], expected: Sequence[str]) -> None:
    """Refuses keyword arguments that a function does not have."""
    for name in names:
        if name not in expected:
            suggestion = _core.did_you_mean(name, list(expected))
            raise UnknownOptionError(f"{function} has no argument `{name}`{suggestion}; its arguments are: {', '.join(expected)}")


def describe(value: Any) -> str:
    """A value in a message: short ones as they are, others by their type."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        shown = repr(value)
        return shown if len(shown) <= 40 else f"{shown[:40]}.."
    return type(value).__name__
