"""Data points, and probes of algorithms that are written in Python.

An algorithm records its states in a dictionary of probes: :func:`initialize` creates it from a spec, :func:`push` adds the
values of a stage, :func:`finalize` stacks them, and :func:`split_stages` returns them as :class:`DataPoint`\\ s. The other
functions create the values of single probes.

>>> import numpy as np
>>> from clrs_rs import probing
>>> spec = {"key": ("input", "node", "scalar"), "max": ("output", "node", "mask_one"), "max_h": ("hint", "node", "mask_one")}
>>> probes = probing.initialize(spec)
>>> keys = np.array([0.3, 0.7])
>>> probing.push(probes, "input", {"key": keys})
>>> for step in range(2):
...     probing.push(probes, "hint", {"max_h": probing.mask_one(int(np.argmax(keys[: step + 1])), 2)})
>>> probing.push(probes, "output", {"max": probing.mask_one(1, 2)})
>>> probing.finalize(probes)
>>> inputs, outputs, hints = probing.split_stages(probes, spec)
>>> hints
[DataPoint(name="max_h",	location=node,	type=mask_one,	data=Array(2, 1, 2))]
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from clrs_rs import _pytree
from clrs_rs.specs import Location, OutputClass, Spec, Stage, Type

__all__ = [
    "DataPoint",
    "ProbeError",
    "ProbesDict",
    "array",
    "array_cat",
    "finalize",
    "graph",
    "heap",
    "initialize",
    "mask_one",
    "permutation_matrix_to_predecessor_pointers",
    "predecessor_pointers_to_permutation_matrix",
    "predecessor_to_cyclic_predecessor_and_first",
    "push",
    "split_stages",
    "strings_id",
    "strings_pair",
    "strings_pair_cat",
    "strings_pi",
    "strings_pos",
    "strings_pred",
]

_Array: TypeAlias = npt.NDArray[Any]

#: Stage, location and name to ``data`` and ``type_``.
ProbesDict: TypeAlias = dict[str, dict[str, dict[str, dict[str, Any]]]]

_STAGES = (Stage.INPUT, Stage.OUTPUT, Stage.HINT)
_LOCATIONS = (Location.NODE, Location.EDGE, Location.GRAPH)


class DataPoint:
    """A named array with its location and type.

    ``data`` can be replaced; the other attributes are read-only. Data points pickle, and are a pytree of JAX whose only leaf
    is ``data``.

    >>> import numpy as np
    >>> DataPoint("pos", "node", "scalar", np.zeros((2, 3)))
    DataPoint(name="pos",	location=node,	type=scalar,	data=Array(2, 3))
    """

    __slots__ = ("_location", "_name", "_type_", "data")

    # Arrays cannot be hashed.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, location: str, type_: str, data: Any) -> None:
        self._name = name
        self._location = location
        self._type_ = type_
        self.data = data

    @property
    def name(self) -> str:
        """Name of the probe."""
        return _text(self._name)

    @property
    def location(self) -> str:
        """One of the constants of :class:`~clrs_rs.specs.Location`."""
        return _text(self._location)

    @property
    def type_(self) -> str:
        """One of the constants of :class:`~clrs_rs.specs.Type`."""
        return _text(self._type_)

    def __repr__(self) -> str:
        fields = (f'name="{self.name}"', f"location={self.location}", f"type={self.type_}", f"data=Array{self.data.shape}")
        return "DataPoint(" + ",\t".join(fields) + ")"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DataPoint):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

    def __reduce__(self) -> tuple[type["DataPoint"], tuple[str, str, str, Any]]:
        return DataPoint, (self.name, self.location, self.type_, self.data)

    def tree_flatten(self) -> tuple[tuple[Any], tuple[str, str, str]]:
        """The leaf and the static part, for JAX."""
        return (self.data,), (self.name, self.location, self.type_)

    @classmethod
    def tree_unflatten(cls, meta: tuple[str, str, str], data: tuple[Any]) -> "DataPoint":
        """Inverse of :meth:`tree_flatten`, for JAX."""
        return DataPoint(*meta, *data)


_pytree.register(DataPoint)


def _text(value: Any) -> str:
    """A name, which TensorFlow turns into bytes or a tensor."""
    if isinstance(value, str):
        return value
    if hasattr(value, "numpy"):
        value = value.numpy()
    return str(value.decode("utf-8"))
