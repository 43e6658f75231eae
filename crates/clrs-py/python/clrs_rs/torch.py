"""Batches for PyTorch.

>>> import clrs_rs as clrs, clrs_rs.torch
>>> from torch.utils.data import DataLoader
>>> dataset = clrs.torch.IterableDataset("bfs", n=8, batch=4, seed=1)
>>> loader = DataLoader(dataset, batch_size=None)  # the dataset yields batches
>>> feedback = next(iter(loader))
>>> feedback.outputs[0].data.dtype, tuple(feedback.outputs[0].data.shape)
(torch.int64, (4, 8))
>>> feedback.features.hints[0].data.dtype
torch.float32

Fixed sets are sequences, which loaders batch with :func:`collate`:

>>> loader = DataLoader(clrs.load("clrs30", "bfs", "val"), batch_size=8, collate_fn=clrs.torch.collate)
>>> next(iter(loader)).features.lengths.shape
torch.Size([8])

Raw predictions of a network, one tensor of logits per output, are trained and scored by the rules of the benchmark:

>>> logits = {"pi": torch.eye(8)[feedback.outputs[0].data]}
>>> loss = sum(clrs.torch.loss(point, logits[point.name]) for point in feedback.outputs)
>>> clrs.torch.evaluate(dataset.spec, feedback.outputs, logits)["score"]
1.0
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import torch
import torch.utils.data

from clrs_rs import _arguments, decoders, evaluation, samplers
from clrs_rs.errors import BatchError, DataPointError
from clrs_rs.probing import DataPoint
from clrs_rs.samplers import Features, Feedback
from clrs_rs.samples import Sample
from clrs_rs.specs import OutputClass, Spec, Type

__all__ = ["IterableDataset", "Transform", "as_numpy", "as_torch", "collate", "evaluate", "loss"]

#: A transform of batches, such as :func:`~clrs_rs.process_pred_as_input`.
Transform: TypeAlias = Callable[[Spec, Iterator[Feedback]], tuple[Spec, Iterator[Feedback]]]

_Tree = TypeVar("_Tree")

#: Values of these types are indices of nodes.
_POINTERS = (Type.POINTER, Type.SHOULD_BE_PERMUTATION)


def as_torch(feedback: _Tree, dtype: torch.dtype | None = torch.float32, device: torch.device | str | None = None) -> _Tree:
    """The same feedback, features or data points, with tensors in place of arrays.

    Pointers and lengths become int64, and all other values `dtype`. With ``dtype=None``, values keep their types, and tensors on
    the CPU share the memory of the arrays.

    >>> import clrs_rs as clrs
    >>> feedback = clrs.sample("bfs", n=4, batch=2).feedback()
    >>> as_torch(feedback).features.lengths
    tensor([3, 1])
    >>> as_torch(feedback.outputs)[0].data.dtype
    torch.int64
    """

    def convert(type_: str | None, data: Any) -> torch.Tensor:
        chosen = dtype if dtype is None or type_ not in (*_POINTERS, None) else torch.int64
        return torch.as_tensor(data if isinstance(data, torch.Tensor) else np.asarray(data), dtype=chosen, device=device)

    return _map(convert, feedback)


def as_numpy(feedback: _Tree) -> _Tree:
    """The same feedback, features or data points, with arrays in place of tensors, of any device.

    >>> import clrs_rs as clrs
    >>> feedback = as_torch(clrs.sample("bfs", n=4, batch=2).feedback())
    >>> as_numpy(feedback).features.lengths
    array([3, 1])
    """
    return _map(lambda type_, data: _array(data), feedback)


def _array(data: Any) -> Any:
    return data.detach().cpu().numpy() if isinstance(data, torch.Tensor) else np.asarray(data)


def _map(convert: Callable[[str | None, Any], Any], tree: Any) -> Any:
    """Applies a function to the types and values of data points, and to other arrays."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_map(convert, child) for child in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(_map(convert, child) for child in tree)
    if hasattr(tree, "type_"):
        return DataPoint(tree.name, tree.location, tree.type_, convert(tree.type_, tree.data))
    return convert(None, tree)


class IterableDataset(torch.utils.data.IterableDataset[Feedback]):
    """Endless batches, drawn while you train. Use it with ``DataLoader(dataset, batch_size=None)``.

    Every worker of every rank draws other samples: the first one the stream of `seed`, as
    ``build_sampler(algorithm, -1, seed=seed, length=n, track_max_steps=False)`` does, and the others streams of seeds that are
    derived from `seed` and their number. Iterating again starts again.

    Args:
      algorithm: name of the algorithm.
      n: problem size, or several, which take turns.
      batch: number of samples per batch.
      seed: a number.
      dtype: of values other than pointers; see :func:`as_torch`.
      transform: transforms batches before they become tensors. It must pickle if workers are spawned, as functions of modules do.
      rank: number of this process among all that train together; by default that of ``torch.distributed``, or of ``torchrun``.
      **options: options of the sampler; unknown ones are errors.

    >>> from functools import partial
    >>> import clrs_rs as clrs
    >>> transform = partial(clrs.process_permutations, enforce_permutations=True)
    >>> dataset = IterableDataset("insertion_sort", n=[4, 8], batch=2, transform=transform)
    >>> dataset.spec["pred"]
    ('output', 'node', 'permutation_pointer')
    >>> batches = iter(dataset)
    >>> [tuple(next(batches).outputs[0].data.shape) for _ in range(3)]
    [(2, 4, 4), (2, 8, 8), (2, 4, 4)]
    """

    def __init__(
        self,
        algorithm: str,
        n: int | Sequence[int] = 16,
        batch: int = 32,
        seed: int = 0,
        *,
        dtype: torch.dtype | None = torch.float32,
        transform: Transform | None = None,
        rank: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.algorithm = algorithm
        self.sizes = _arguments.sizes("n", n)
        self.batch = _arguments.integer("batch", batch, 1)
        self.seed = _arguments.seed(seed)
        self.dtype = dtype
        self.transform = transform
        self.rank = _rank() if rank is None else _arguments.integer("rank", rank)
        self.options = options
        # Fails here rather than in a worker.
        self._spec = self._samplers(seed)[0][1]

    @property
    def spec(self) -> Spec:
        """Stage, location and type of every probe, after the transform."""
        return self._spec if self.transform is None else self.transform(self._spec, iter(()))[0]

    def __iter__(self) -> Iterator[Feedback]:
        worker = torch.utils.data.get_worker_info()
        # Ranks may have different numbers of workers, so numbers of workers do not follow from each other.
        stream = (self.rank, 0 if worker is None else worker.id)
        drawn = self._draw(_stream_seed(self.seed, stream))
        if self.transform is not None:
            _, drawn = self.transform(self._spec, drawn)
        return map(self._convert, drawn)

    def _convert(self, feedback: Feedback) -> Any:
        return as_torch(feedback, self.dtype)

    def _draw(self, seed: int) -> Iterator[Feedback]:
        streams = [sampler for sampler, _ in self._samplers(seed)]
        while True:
            for sampler in streams:
                yield sampler.next(self.batch)

    def _samplers(self, seed: int) -> list[tuple[samplers.Sampler, Spec]]:
        common: dict[str, Any] = {"seed": seed, "track_max_steps": False, "strict": True, **self.options}
        return [samplers.build_sampler(self.algorithm, -1, length=size, **common) for size in self.sizes]


def _stream_seed(seed: int, stream: tuple[int, int]) -> int:
    """A seed of 32 bits, as NumPy derives independent ones."""
    if not any(stream):
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=stream).generate_state(1)[0])


def _rank() -> int:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    return int(os.environ.get("RANK", "0"))


def collate(items: Sequence[Sample | Feedback], dtype: torch.dtype | None = torch.float32) -> Feedback:
    """A batch of samples, or of smaller batches, of one size. Hints are padded with zeros to the longest one.

    >>> import clrs_rs as clrs
    >>> collate(clrs.sample("bfs", n=6, batch=8)[:3]).outputs[0].data.shape
    torch.Size([3, 6])
    """
    if not items:
        raise BatchError("no samples to collate")
    first = items[0]
    samples = [item for item in items if isinstance(item, Sample)]
    if isinstance(first, Sample) and all(sample._samples is first._samples for sample in samples) and len(samples) == len(items):
        batch = first._samples.feedback([sample._index for sample in samples], 0)
    else:
        batch = _joined([item._samples.feedback([item._index], 0) if isinstance(item, Sample) else item for item in items])
    return as_torch(batch, dtype)


def _joined(batches: Sequence[Feedback]) -> Feedback:
    steps = max((len(point.data) for batch in batches for point in batch.features.hints), default=0)

    def join(stage: Iterable[Sequence[DataPoint]], axis: int) -> list[DataPoint]:
        joined = []
        for points in zip(*stage, strict=True):
            first = points[0]
            if any(point.name != first.name for point in points):
                raise BatchError("the samples have different probes")
            data = [np.asarray(point.data) for point in points]
            if axis == 1:
                data = [np.pad(values, [(0, steps - len(values))] + [(0, 0)] * (values.ndim - 1)) for values in data]
            if len({values.shape[:axis] + values.shape[axis + 1 :] for values in data}) > 1:
                raise BatchError(f"`{first.name}` has different shapes: the samples differ in size")
            joined.append(DataPoint(first.name, first.location, first.type_, np.concatenate(data, axis)))
        return joined

    features = Features(
        join((batch.features.inputs for batch in batches), 0),
        join((batch.features.hints for batch in batches), 1),
        np.concatenate([np.asarray(batch.features.lengths) for batch in batches]),
    )
    return Feedback(features, join((batch.outputs for batch in batches), 0))


def loss(truth: DataPoint, logits: torch.Tensor) -> torch.Tensor:
    """The loss of dm-clrs for an output, or for a step of a hint: a mean over all cells that are not masked out.

    `logits` have the shape of the values, and for pointers ``[..., N, N]``: one logit per node that can be pointed to. Those of
    permutations are logarithms of doubly stochastic matrices.

    >>> truth = DataPoint("pi", "node", "pointer", torch.tensor([[0, 0]]))
    >>> loss(truth, torch.tensor([[[9.0, 0.0], [9.0, 0.0]]])).item() < 1e-3
    True
    """
    values = torch.as_tensor(truth.data, device=logits.device)
    if truth.type_ == Type.SCALAR:
        return torch.nn.functional.mse_loss(logits, values.to(logits.dtype))
    if truth.type_ == Type.MASK:
        is_known = values != OutputClass.MASKED
        return torch.nn.functional.binary_cross_entropy_with_logits(logits[is_known], values[is_known].to(logits.dtype))
    if truth.type_ in _POINTERS:
        return torch.nn.functional.cross_entropy(logits.flatten(0, -2), values.flatten().long())
    if truth.type_ == Type.PERMUTATION_POINTER:
        return -(values.to(logits.dtype) * logits).sum(-1).mean()
    if truth.type_ in (Type.MASK_ONE, Type.CATEGORICAL):
        is_one = values == OutputClass.POSITIVE
        return -torch.log_softmax(logits, -1)[is_one].sum() / is_one.sum()
    raise DataPointError(f"`{truth.name}` has the type {truth.type_}, which no network predicts")


def evaluate(spec: Spec, outputs: Sequence[DataPoint], logits: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Scores raw predictions as :func:`clrs_rs.evaluate` does: hard decisions are compared with the outputs.

    `spec` is that of the data, after transforms; `logits` are those of :func:`loss` by name.
    """
    raw = {name: _array(values) for name, values in logits.items()}
    # Permutations that no transform replaced are predicted and scored as pointers.
    pointers = {
        name: (stage, location, Type.POINTER if type_ == Type.SHOULD_BE_PERMUTATION else type_)
        for name, (stage, location, type_) in spec.items()
    }
    decided = decoders.postprocess(pointers, raw, sinkhorn_temperature=0.1, sinkhorn_steps=50, hard=True)
    truth = [
        DataPoint(point.name, point.location, pointers[point.name][2], _array(point.data)) for point in outputs
    ]
    return evaluation.evaluate(truth, decided)
