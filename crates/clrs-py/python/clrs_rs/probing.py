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

from clrs_rs import _core, _pytree
from clrs_rs.errors import ClrsError
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
        fields = (f'name="{self.name}"', f"location={self.location}", f"type={self.type_}", f"data=Array{tuple(self.data.shape)}")
        return "DataPoint(" + ",\t".join(fields) + ")"

    def __eq__(self, other: object) -> Any:
        """False if names, locations or types differ; else the comparison of the arrays, which is an array."""
        if not isinstance(other, DataPoint):
            return NotImplemented
        return self.tree_flatten()[1] == other.tree_flatten()[1] and self.data == other.data

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


class ProbeError(ClrsError, AssertionError, ValueError):
    """Probes do not match their spec."""


def initialize(spec: Spec) -> ProbesDict:
    """Creates the dictionary of the probes of a spec, without values."""
    probes: ProbesDict = {stage: {location: {} for location in _LOCATIONS} for stage in _STAGES}
    for name, (stage, location, type_) in spec.items():
        probes[stage][location][name] = {"data": [], "type_": type_}
    return probes


def push(probes: ProbesDict, stage: str, next_probe: dict[str, Any]) -> None:
    """Adds values of all probes of a stage: once for inputs and outputs, once per step for hints."""
    for location in _LOCATIONS:
        for name, probe in probes[stage][location].items():
            if name not in next_probe:
                raise ProbeError(f"Missing probe for {name}.")
            if not isinstance(probe["data"], list):
                raise ProbeError(f"The probes are finalized; no value can be pushed to {name}.")
            probe["data"].append(next_probe[name])


def finalize(probes: ProbesDict) -> None:
    """Turns the lists of values into arrays, with one row per step for hints."""
    for stage in _STAGES:
        for location in _LOCATIONS:
            for name, probe in probes[stage][location].items():
                if not isinstance(probe["data"], list):
                    raise ProbeError(f"The probes are finalized already: {name}.")
                probe["data"] = np.stack(probe["data"]) if stage == Stage.HINT else np.squeeze(np.array(probe["data"]))


def split_stages(probes: ProbesDict, spec: Spec) -> tuple[list[DataPoint], list[DataPoint], list[DataPoint]]:
    """Checks finalized probes, and returns inputs, outputs and hints as data points of a batch of one sample."""
    points: dict[str, list[DataPoint]] = {stage: [] for stage in _STAGES}
    for name, (stage, location, type_) in spec.items():
        if stage not in probes:
            raise ProbeError(f"Missing stage {stage}.")
        if location not in probes[stage]:
            raise ProbeError(f"Missing location {location}.")
        if name not in probes[stage][location]:
            raise ProbeError(f"Missing probe {name}.")
        probe = probes[stage][location][name]
        for attribute in ("type_", "data"):
            if attribute not in probe:
                raise ProbeError(f"Probe {name} missing attribute `{attribute}`.")
        if probe["type_"] != type_:
            raise ProbeError(f"Probe {name} has type {probe['type_']} instead of {type_}.")
        data = probe["data"]
        if isinstance(data, list) or not hasattr(data, "shape"):
            raise ProbeError(f"Probe {name} has no array as data. Did you forget to call `probing.finalize`?")
        _check_classes(name, type_, data)
        points[stage].append(DataPoint(name, location, type_, np.expand_dims(data, 1 if stage == Stage.HINT else 0)))
    return points[Stage.INPUT], points[Stage.OUTPUT], points[Stage.HINT]


def _check_classes(name: str, type_: str, data: _Array) -> None:
    if type_ not in (Type.MASK, Type.MASK_ONE, Type.CATEGORICAL):
        return
    if not np.isin(data, (OutputClass.NEGATIVE, OutputClass.POSITIVE, OutputClass.MASKED)).all():
        raise ProbeError(f"Probe {name} of type {type_} has other values than 0, 1 and -1.")
    if type_ != Type.MASK and not np.all(np.abs(data).sum(axis=-1) == 1):
        raise ProbeError(f"Probe {name} of type {type_} is not one-hot.")


# The textbook's names of arguments.


def array(A_pos: _Array) -> _Array:
    """Predecessors of the nodes in an order; the first node points to itself.

    >>> array(np.array([2, 0, 1]))
    array([2, 0, 2])
    """
    probe = np.arange(len(A_pos))
    probe[A_pos[1:]] = A_pos[:-1]
    return probe


def array_cat(A: _Array, n: int) -> _Array:
    """One-hot rows of `n` classes.

    >>> array_cat(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    if n <= 0:
        raise ProbeError(f"`n` must be at least 1, not {n}")
    probe = np.zeros((len(A), n))
    probe[np.arange(len(A)), A] = 1
    return probe


def heap(A_pos: _Array, heap_size: int) -> _Array:
    """Parents of the nodes in a heap, the first `heap_size` nodes of an order; other nodes point to themselves.

    >>> heap(np.array([2, 0, 1]), 3)
    array([2, 2, 2])
    """
    if heap_size <= 0:
        raise ProbeError(f"`heap_size` must be at least 1, not {heap_size}")
    probe = np.arange(len(A_pos))
    children = np.arange(1, heap_size)
    probe[A_pos[children]] = A_pos[(children - 1) // 2]
    return probe


def graph(A: _Array) -> _Array:
    """Adjacency matrix of weights, with self-loops.

    >>> graph(np.array([[0.0, 0.5], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])
    """
    return np.where(A + np.eye(len(A)) != 0, 1.0, 0.0)


def mask_one(i: int, n: int) -> _Array:
    """One-hot mask of node `i` of `n`.

    >>> mask_one(1, 3)
    array([0., 1., 0.])
    """
    if n <= i:
        raise ProbeError(f"node {i} does not exist: there are {n} nodes")
    probe = np.zeros(n)
    probe[i] = 1
    return probe


def strings_id(T_pos: _Array, P_pos: _Array) -> _Array:
    """0 for nodes of the first string, 1 for those of the second."""
    return np.repeat([0.0, 1.0], [len(T_pos), len(P_pos)])


def strings_pair(pair_probe: _Array) -> _Array:
    """Values of pairs of the two strings as values of pairs of nodes."""
    n, m = pair_probe.shape
    probe = np.zeros((n + m, n + m))
    probe[:n, n:] = pair_probe
    return probe


def strings_pair_cat(pair_probe: _Array, nb_classes: int) -> _Array:
    """Classes of pairs of the two strings as one-hot classes of pairs of nodes. Other pairs are masked out."""
    if nb_classes <= 0:
        raise ProbeError(f"`nb_classes` must be at least 1, not {nb_classes}")
    n, m = pair_probe.shape
    probe = np.zeros((n + m, n + m, nb_classes + 1))
    probe[..., nb_classes] = OutputClass.MASKED
    probe[:n, n:] = np.eye(nb_classes + 1)[pair_probe.astype(int)]
    return probe


def strings_pi(T_pos: _Array, P_pos: _Array, pi: _Array) -> _Array:
    """Pointers `pi` of the second string as pointers of nodes; nodes of the first point to themselves."""
    n = len(T_pos)
    probe = np.arange(n + len(P_pos))
    probe[n + P_pos] = n + pi[P_pos]
    return probe


def strings_pos(T_pos: _Array, P_pos: _Array) -> _Array:
    """Positions in both strings, each from 0 to 1."""
    return np.concatenate([positions * 1.0 / len(positions) for positions in (T_pos, P_pos)])


def strings_pred(T_pos: _Array, P_pos: _Array) -> _Array:
    """Predecessors of the nodes in both strings; the first node of each points to itself."""
    return np.concatenate([array(T_pos), len(T_pos) + array(P_pos)])


def predecessor_pointers_to_permutation_matrix(pointers: Any) -> _Array:
    """The matrix ``[..., N, N]`` that sorts nodes by the order of their predecessors ``[..., N]``."""
    nodes = np.asarray(pointers)
    rows = nodes.reshape(-1, nodes.shape[-1])
    matrices = np.zeros((*rows.shape, rows.shape[-1]), np.float32)
    for matrix, predecessors in zip(matrices, rows, strict=True):
        # The last node is that which no node points to.
        node = int(np.bincount(predecessors.astype(int), minlength=len(predecessors)).argmin())
        for position in reversed(range(len(predecessors))):
            matrix[position, node] = 1
            node = int(predecessors[node])
    return matrices.reshape(*nodes.shape, -1)


def permutation_matrix_to_predecessor_pointers(perm: Any) -> _Array:
    """The predecessors ``[..., N]`` of nodes in the order that a matrix ``[..., N, N]`` sorts them by."""
    order = np.argmax(np.asarray(perm), axis=-1)
    pointers = np.zeros(order.shape, np.int64)
    previous = np.concatenate([order[..., :1], order[..., :-1]], axis=-1)
    np.put_along_axis(pointers, order, previous, axis=-1)
    return pointers


def predecessor_to_cyclic_predecessor_and_first(pointers: Any) -> tuple[_Array, _Array]:
    """Closes predecessors in a linear order ``[..., N]`` to a cycle.

    Returns the one-hot cycle ``[..., N, N]``, in which the first node points to the last, and a mask ``[..., N]`` of the first
    node.

    >>> cycle, first = predecessor_to_cyclic_predecessor_and_first([2, 1, 1])
    >>> cycle
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    >>> first
    array([0., 1., 0.], dtype=float32)
    """
    return _core.cyclic_permutation(pointers)
