"""Samples as graphs of PyTorch Geometric.

>>> import clrs_rs as clrs, clrs_rs.pyg
>>> feedback = clrs.sample("bfs", n=8, batch=4).feedback()
>>> graphs = clrs.pyg.to_data(feedback)
>>> graphs[0].inputs, graphs[0].hints, graphs[0].outputs
(['pos_', 's', 'A'], ['reach_h', 'pi_h'], ['pi'])
>>> graphs[0].pi.dtype, tuple(graphs[0].pi_h.shape)
(torch.int64, (8, 5))
>>> batch = clrs.pyg.collate(graphs)
>>> batch.num_graphs, batch.num_nodes, int(batch.pi.max()) >= 24
(4, 32, True)

Endless batches of graphs, for ``DataLoader(dataset, batch_size=None)``:

>>> dataset = clrs.pyg.IterableDataset("dijkstra", n=8, batch=4)
>>> next(iter(dataset)).A.shape == next(iter(dataset)).edge_index[0].shape
True
"""

import keyword
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
import torch_geometric.utils
from torch_geometric.data import Batch, Data

from clrs_rs import _arguments, torch as clrs_torch
from clrs_rs.errors import DataPointError
from clrs_rs.probing import DataPoint
from clrs_rs.samplers import Feedback
from clrs_rs.specs import Location, OutputClass, Type

__all__ = ["CLRSData", "IterableDataset", "attribute_name", "collate", "edge_targets", "to_data"]

#: How graphs represent pointers.
Style = Literal["index", "salsa"]
#: Which pairs of nodes are edges.
Graph = Literal["adj", "complete"]

_POINTERS = (Type.POINTER, Type.SHOULD_BE_PERMUTATION)


class CLRSData(Data):
    """A sample as a graph.

    ``edge_index``: the edges. ``length``: number of steps, ``[1]``. ``inputs``, ``hints`` and ``outputs``: names of the
    attributes with the probes of each stage; ``pointers``: of those whose values are indices of nodes, which batches shift.
    Probes at nodes are ``[N, ...]``, at edges ``[E, ...]``, and at the graph ``[1, ...]``; hints have steps as their second axis.
    """

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key in self._probes():
            return self.num_nodes if key in self.pointers else 0
        return super().__inc__(key, value, *args, **kwargs)

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        # PyG decides by names, and would take `index_h` for a list of edges.
        return 0 if key in self._probes() else super().__cat_dim__(key, value, *args, **kwargs)

    def _probes(self) -> list[str]:
        # Absent while PyG creates an object.
        stages = (self._store.get(stage) or [] for stage in ("inputs", "hints", "outputs"))
        return [name for names in stages for name in names]


def attribute_name(probe: str) -> str:
    """Name of the attribute of a probe: an underscore is added to what means something else in Python or PyG.

    >>> [attribute_name(name) for name in ("key", "return", "pos", "x", "time")]
    ['key', 'return_', 'pos_', 'x_', 'time_']
    """
    return f"{probe}_" if keyword.iskeyword(probe) or hasattr(Data, probe) or probe in _RESERVED else probe


#: Attributes of CLRSData that are not probes.
_RESERVED = ("hints", "inputs", "length", "outputs", "pointers", "ptr", "weights")


def to_data(
    feedback: Feedback, *, style: Style = "index", graph: Graph | None = None, pad: int = 0, dtype: torch.dtype = torch.float32
) -> list[CLRSData]:
    """The samples of a batch as graphs.

    Args:
      feedback: a batch, ours or dm-clrs's.
      style: how pointers of nodes are represented. ``index``: by the index of the node. ``salsa``, as in SALSA-CLRS: by a mask of
        the edges, in which edge ``(i, j)`` is 1 if `i` points to `j`; probes keep their names, so that some are only accessible as
        ``data["return"]``; weights are in ``weights``.
      graph: ``adj``: the edges are those of the input ``adj``, including self-loops; ``complete``: all pairs of nodes. By default
        ``adj`` for algorithms that have it.
      pad: pad hints to at least so many steps. They always have at least those of the longest sample of the batch.
      dtype: of values other than pointers.

    Raises:
      DataPointError: if there is a value at a pair of nodes that is no edge.

    >>> import clrs_rs as clrs
    >>> feedback = clrs.sample("insertion_sort", n=5, batch=1).feedback()
    >>> to_data(feedback)[0].num_edges, to_data(feedback)[0].pred.tolist()
    (25, [3, 2, 0, 4, 4])
    >>> to_data(feedback, style="salsa")[0].pred.shape
    torch.Size([25])
    """
    _arguments.choice("style", style, ("index", "salsa"))
    if graph is not None:
        _arguments.choice("graph", graph, ("adj", "complete"))
    features, outputs = feedback
    adjacency = next((np.asarray(point.data) for point in features.inputs if point.name == "adj"), None)
    if graph == "adj" and adjacency is None:
        raise DataPointError("there is no input `adj`; use graph='complete'")
    is_complete = graph == "complete" or adjacency is None
    nodes = _nodes(features.inputs)
    lengths = np.asarray(features.lengths)
    graphs = []
    for index in range(len(lengths)):
        edges = np.ones((nodes, nodes)) if is_complete or adjacency is None else adjacency[index]
        graphs.append(_Builder(edges, style, dtype).build(feedback, index, int(lengths[index]), pad, is_complete))
    return graphs


def _nodes(inputs: Iterable[DataPoint]) -> int:
    for point in inputs:
        if point.location in (Location.NODE, Location.EDGE):
            return int(np.shape(point.data)[1])
    raise DataPointError("no input is at nodes or edges, so that the number of nodes is unknown")


class _Builder:
    def __init__(self, edges: npt.NDArray[Any], style: Style, dtype: torch.dtype) -> None:
        self.is_edge = np.asarray(edges) != 0
        self.rows, self.columns = np.nonzero(self.is_edge)
        self.style = style
        self.dtype = dtype
        self.data = CLRSData(edge_index=torch.from_numpy(np.stack([self.rows, self.columns])), num_nodes=len(edges))
        self.data.pointers = []

    def build(self, feedback: Feedback, index: int, length: int, pad: int, is_complete: bool) -> CLRSData:
        features, outputs = feedback
        self.data.length = torch.tensor([length])
        inputs = []
        for point in features.inputs:
            if point.name == "adj" and not is_complete:
                continue
            if point.name == "A" and self.style == "salsa":
                self._weights(np.asarray(point.data)[index])
                continue
            inputs.append(self._add(point, np.asarray(point.data)[index], False))
        hints = []
        for point in features.hints:
            # What pads a batch is no value of the sample, and not always one of its graph.
            name = self._add(point, np.asarray(point.data)[:length, index], True)
            self.data[name] = _pad_steps(self.data[name], max(len(point.data), pad))
            hints.append(name)
        self.data.inputs, self.data.hints = inputs, hints
        self.data.outputs = [self._add(point, np.asarray(point.data)[index], False) for point in outputs]
        return self.data

    def _weights(self, weights: npt.NDArray[Any]) -> None:
        """Unweighted graphs have none, and self-loops that are no edges of the problem weigh 1."""
        if not np.isin(weights, (0, 1)).all():
            weights = weights + np.eye(len(weights))
            self.data.weights = torch.as_tensor(weights[self.rows, self.columns], dtype=self.dtype)

    def _add(self, point: DataPoint, values: npt.NDArray[Any], is_hint: bool) -> str:
        """Adds a probe, and returns the name of its attribute. Hints have a first axis of steps."""
        name = point.name if self.style == "salsa" else attribute_name(point.name)
        steps = values if is_hint else values[None]
        is_pointer = point.type_ in _POINTERS
        if is_pointer and point.location == Location.NODE and self.style == "salsa":
            steps = steps[..., None] == np.arange(steps.shape[1])
            steps, is_pointer = self._at_edges(point, steps), False
        elif point.location == Location.EDGE:
            steps = self._at_edges(point, steps)
        elif point.location == Location.GRAPH:
            steps = steps[:, None]
        # Nodes, edges or graph first, so that batches concatenate the first axis.
        steps = np.swapaxes(steps, 0, 1)
        tensor = torch.as_tensor(np.ascontiguousarray(steps), dtype=torch.int64 if is_pointer else self.dtype)
        if is_pointer:
            self.data.pointers.append(name)
        self.data[name] = tensor if is_hint else tensor[:, 0]
        return name

    def _at_edges(self, point: DataPoint, steps: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values ``[T, N, N, ...]`` at the edges ``[T, E, ...]``."""
        others = steps[:, ~self.is_edge]
        can_be_masked = point.type_ in (Type.MASK, Type.CATEGORICAL)
        if np.any((others != 0) & ~(can_be_masked & (others == OutputClass.MASKED))):
            raise DataPointError(f"`{point.name}` has values at pairs of nodes that are no edges; use graph='complete'")
        return steps[:, self.rows, self.columns]


def collate(graphs: Sequence[CLRSData]) -> Batch:
    """A batch of graphs of any sizes, with hints padded with zeros to the longest one.

    >>> import clrs_rs as clrs
    >>> samples = [clrs.sample("bfs", n=n, batch=2).feedback() for n in (4, 32)]
    >>> batch = collate([graph for feedback in samples for graph in to_data(feedback)])
    >>> tuple(batch.pi_h.shape)[0] == 2 * 4 + 2 * 32
    True
    """
    steps = max((graph[name].shape[1] for graph in graphs for name in graph.hints), default=0)
    return Batch.from_data_list([_padded(graph, steps) for graph in graphs])


def _padded(graph: CLRSData, steps: int) -> CLRSData:
    graph = graph.clone() if any(graph[name].shape[1] < steps for name in graph.hints) else graph
    for name in graph.hints:
        graph[name] = _pad_steps(graph[name], steps)
    return graph


def _pad_steps(values: torch.Tensor, steps: int) -> torch.Tensor:
    missing = values.new_zeros((values.shape[0], steps - values.shape[1], *values.shape[2:]))
    return torch.cat([values, missing], 1)


def edge_targets(edge_index: torch.Tensor, logits: torch.Tensor, num_nodes: int) -> torch.Tensor:
    """For each node, the target of its edge with the largest logit: predicted pointers from predictions at edges.

    >>> edges = torch.tensor([[0, 0, 1], [0, 1, 1]])
    >>> edge_targets(edges, torch.tensor([0.1, 0.7, 0.2]), 2)
    tensor([1, 1])
    """
    source, target = edge_index
    largest = torch_geometric.utils.scatter(logits, source, dim_size=num_nodes, reduce="max")
    is_chosen = logits == largest[source]
    targets = torch.arange(num_nodes, device=logits.device)
    # Of equal ones the last.
    targets[source[is_chosen]] = target[is_chosen]
    return targets


class IterableDataset(clrs_torch.IterableDataset):
    """Endless batches of graphs. Workers, ranks and arguments are those of :class:`clrs_rs.torch.IterableDataset`; `style` and
    `graph` those of :func:`to_data`.
    """

    def __init__(
        self, algorithm: str, n: int | Sequence[int] = 16, batch: int = 32, seed: int = 0, *,
        style: Style = "index", graph: Graph | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(algorithm, n, batch, seed, **options)
        self.style: Style = style
        self.graph: Graph | None = graph

    def _convert(self, feedback: Feedback) -> Batch:
        return collate(to_data(feedback, style=self.style, graph=self.graph, dtype=self.dtype or torch.float32))
