"""Pickles of ``save_model``, read and written without JAX, optax or Haiku.

A pickle is a program that can call any function. :func:`load` calls none of another package: the few that occur in these
files are replaced by classes of this module, which hold what an array or a named tuple is made of; everything else is refused.
"""

import os
import pickle
import re
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clrs_rs.errors import CheckpointError, MissingFileError, StoreError

__all__ = ["EmptyState", "ScaleByAdamState", "adam_state", "load", "opt_state", "save"]


class EmptyState(NamedTuple):
    """State of a transformation without state, as in optax."""


class ScaleByAdamState(NamedTuple):
    """State of Adam, as in optax: the number of updates, and the moments of all parameters."""

    count: Any
    mu: Any
    nu: Any


#: Where the classes are defined in optax.
_OPTAX: dict[Any, tuple[str, str]] = {
    EmptyState: ("optax._src.base", "EmptyState"),
    ScaleByAdamState: ("optax._src.transform", "ScaleByAdamState"),
}


def opt_state(updates: int, mu: Any, nu: Any, clips: bool) -> tuple[Any, ...]:
    """State of the optimizer of a model with or without clipping. Of optax's own classes, if optax is imported."""
    empty, adam = (_optax_class(cls) for cls in (EmptyState, ScaleByAdamState))
    state = adam(count=np.array(updates, np.int32), mu=mu, nu=nu)
    return (empty(), state, empty()) if clips else (state, empty())


def adam_state(state: Any) -> tuple[int, Any, Any]:
    """Number of updates and moments, from a state of optax, ours or theirs."""
    for part in _parts(state, depth=3):
        if all(hasattr(part, field) for field in ScaleByAdamState._fields):
            count = np.asarray(part.count)
            if count.dtype.kind in "iu" and count.ndim == 0 and count >= 0 and is_tree(part.mu) and is_tree(part.nu):
                return int(count), part.mu, part.nu
    raise CheckpointError("the state of the optimizer is not one of Adam")


def is_tree(tree: Any) -> bool:
    """Whether arrays are stored by module and name."""
    return isinstance(tree, Mapping) and all(
        isinstance(module, str) and isinstance(arrays, Mapping) and all(isinstance(name, str) for name in arrays)
        for module, arrays in tree.items()
    )


def _parts(state: Any, depth: int) -> Any:
    """A tuple and the tuples in it."""
    yield state
    if isinstance(state, (tuple, list)) and depth:
        for part in state:
            yield from _parts(part, depth - 1)


def _optax_class(cls: Any) -> Any:
    module, name = _OPTAX[cls]
    return getattr(sys.modules.get(module), name, cls)


def save(path: str, params: Any, state: Any) -> None:
    """Writes a pickle that dm-clrs reads. The file has its name only when it is complete."""
    directory = os.path.dirname(path) or "."
    try:
        os.makedirs(directory, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=directory, prefix=f".{os.path.basename(path)}.")
    except OSError as error:
        raise StoreError(error.errno, f"{path}: {error.strerror}") from None
    try:
        with open(descriptor, "wb") as file:
            _Pickler(file, protocol=4).dump({"params": params, "opt_state": state})
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise StoreError(error.errno, f"{path}: {error.strerror}") from None
        raise


class _Pickler(pickle._Pickler):
    """Writes our named tuples as those of optax, which need not be installed.

    Only the pickler in Python can write the name of a class that cannot be imported; its stubs lack most methods.
    """

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if obj in _OPTAX:
            module, name = _OPTAX[obj]
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())  # type: ignore[attr-defined]
            self.memoize(obj)  # type: ignore[attr-defined]
        else:
            super().save_global(obj, name)  # type: ignore[misc]

    # The pickler for classes, in `save`.
    dispatch = pickle._Pickler.dispatch | {type: save_global}  # type: ignore[assignment]


def load(path: str) -> tuple[dict[str, dict[str, Any]], Any]:
    """Reads parameters and the state of the optimizer from a pickle of ours or of dm-clrs.

    Raises:
        CheckpointError: If the file is not such a pickle.
    """
    try:
        file = open(path, "rb")  # noqa: SIM115, closed below
    except OSError as error:
        missing = MissingFileError if isinstance(error, FileNotFoundError) else StoreError
        raise missing(error.errno, f"{path}: {error.strerror}") from None
    with file:
        try:
            saved = _finished(_Unpickler(file).load(), depth=8)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None
        except Exception as error:  # damaged pickles raise anything
            raise CheckpointError(f"{path}: not a file of save_model ({error})") from error
    params: Any = saved.get("params") if isinstance(saved, dict) else None
    if not is_tree(params) or not all(isinstance(array, np.ndarray) for arrays in params.values() for array in arrays.values()):
        raise CheckpointError(f"{path}: not a file of save_model (`params` is not a dictionary of arrays by module)")
    return params, saved.get("opt_state")


def _finished(value: Any, depth: int) -> Any:
    """A value with arrays in place of their parts. Nested no deeper than the files of dm-clrs are."""
    if depth == 0:
        raise CheckpointError("nested too deeply")
    if isinstance(value, _Array):
        return value.array()
    if isinstance(value, dict):
        return {_finished(key, depth - 1): _finished(item, depth - 1) for key, item in value.items()}
    if isinstance(value, tuple) and type(value) is not tuple:
        return type(value)(*(_finished(item, depth - 1) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_finished(item, depth - 1) for item in value)
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    raise CheckpointError(f"contains a {type(value).__name__}")


class _Array:
    """What an array is made of."""

    def __init__(self, *_: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def array(self) -> Any:
        _, shape, dtype, is_fortran, data = self.state
        array = np.frombuffer(data, dtype.dtype())
        return array.reshape(shape, order="F" if is_fortran else "C")


class _DType:
    """What the type of numbers is made of."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code = code
        self.byte_order = "="

    def __setstate__(self, state: Any) -> None:
        self.byte_order = state[1]

    def dtype(self) -> Any:
        if not isinstance(self.code, str) or not re.fullmatch("[fiu][1248]|b1", self.code):
            raise CheckpointError(f"contains an array of type {self.code!r}")
        order = self.byte_order if self.byte_order in ("<", ">") else "="
        return np.dtype(order + self.code)


class _BufferArray(_Array):
    """An array of pickle protocol 5."""

    def __init__(self, data: Any, dtype: Any, shape: Any, order: Any) -> None:
        self.state = (1, shape, dtype, order == "F", data)


class _ScalarArray(_Array):
    """A number of NumPy."""

    def __init__(self, dtype: Any, data: Any) -> None:
        self.state = (1, (), dtype, False, data)


def _jax_array(_function: Any, _arguments: Any, state: Any, _type: Any) -> _Array:
    array = _Array()
    array.__setstate__(state)
    return array


def _encoded(text: Any, encoding: Any) -> bytes:
    """Bytes in pickle protocols up to 2."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise CheckpointError("contains bytes in an unknown encoding")
    return text.encode("latin1")


def _flat_mapping(*arguments: Any) -> dict[Any, Any]:
    """Haiku's dictionaries of earlier versions."""
    return dict(*arguments)


_REPLACED: dict[str, dict[str, Any]] = {
    "numpy": {"ndarray": _Array, "dtype": _DType},
    "numpy.core.multiarray": {"_reconstruct": _Array, "scalar": _ScalarArray},
    "numpy._core.multiarray": {"_reconstruct": _Array, "scalar": _ScalarArray},
    "numpy.core.numeric": {"_frombuffer": _BufferArray},
    "numpy._core.numeric": {"_frombuffer": _BufferArray},
    "jax._src.array": {"_reconstruct_array": _jax_array},
    "haiku._src.data_structures": {"FlatMapping": _flat_mapping, "FlatMap": _flat_mapping, "frozendict": _flat_mapping},
    "collections": {"OrderedDict": _flat_mapping},
    "_codecs": {"encode": _encoded},
    **{module: {name: cls} for cls, (module, name) in _OPTAX.items()},
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        replaced = _REPLACED.get(module, {}).get(name)
        if replaced is None:
            raise CheckpointError(f"refused to load `{module}.{name}`: not part of a file of save_model")
        return replaced
