"""Batches for JAX.

Feedback is a pytree whose leaves are arrays, so that functions over it can be differentiated and compiled:

>>> import jax, jax.numpy as jnp
>>> import clrs_rs as clrs, clrs_rs.jax
>>> batches = clrs.jax.batches("bfs", n=8, batch=4, seed=1)
>>> feedback = next(batches)
>>> feedback.features.hints[0].data.dtype, feedback.outputs[0].data.dtype
(dtype('float32'), dtype('int32'))
>>> @jax.jit
... def mean_position(feedback):
...     return clrs.jax.inputs(feedback)["pos"].mean()
>>> float(mean_position(feedback))
0.4375

Hints of all batches have the same number of steps, so that a function is compiled once.
"""

import collections
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from clrs_rs import _arguments, samplers
from clrs_rs.probing import DataPoint
from clrs_rs.samplers import Features, Feedback
from clrs_rs.specs import Spec, Type

__all__ = ["Transform", "as_jax", "batches", "hints", "inputs", "outputs", "prefetch"]

#: A transform of batches, such as :func:`~clrs_rs.process_pred_as_input`.
Transform: TypeAlias = Callable[[Spec, Iterator[Feedback]], tuple[Spec, Iterator[Feedback]]]


def as_jax(feedback: Feedback, dtype: Any = jnp.float32, device: Any = None) -> Feedback:
    """The same feedback with arrays of JAX: pointers and lengths are int32, all other values `dtype`.

    `device` is a device or a sharding, as of ``jax.device_put``.

    >>> import clrs_rs as clrs
    >>> as_jax(clrs.sample("bfs", n=4, batch=2).feedback()).features.lengths
    Array([3, 1], dtype=int32)
    """

    def points(stage: Sequence[DataPoint]) -> list[DataPoint]:
        return [DataPoint(point.name, point.location, point.type_, np.asarray(point.data, _dtype(point, dtype))) for point in stage]

    features, outputs = feedback
    lengths = np.asarray(features.lengths, np.int32)
    converted = Feedback(Features(points(features.inputs), points(features.hints), lengths), points(outputs))
    # One transfer for the whole tree.
    moved: Feedback = jax.device_put(converted, device)
    return moved


def _dtype(point: DataPoint, dtype: Any) -> Any:
    return np.int32 if point.type_ in (Type.POINTER, Type.SHOULD_BE_PERMUTATION) else dtype


def batches(
    algorithm: str,
    n: int | Sequence[int] = 16,
    batch: int = 32,
    seed: int = 0,
    *,
    dtype: Any = jnp.float32,
    device: Any = None,
    transform: Transform | None = None,
    process: int | None = None,
    ahead: int = 2,
    **options: Any,
) -> Iterator[Feedback]:
    """Endless batches on a device.

    Args:
      algorithm: name of the algorithm.
      n: problem size, or several, which take turns. A function over batches is compiled once for each.
      batch: number of samples per batch.
      seed: a number. Process 0 draws the samples of ``build_sampler(algorithm, -1, seed=seed, length=n)``.
      dtype: of values other than pointers.
      device: a device or a sharding.
      transform: transforms batches before they are transferred.
      process: number of this process among all that train together, which draw different samples; by default
        ``jax.process_index()``.
      ahead: number of batches that are transferred before they are needed.
      **options: options of the sampler; unknown ones are errors.

    >>> stream = batches("insertion_sort", n=[4, 8], batch=2)
    >>> [next(stream).outputs[0].data.shape for _ in range(3)]
    [(2, 4), (2, 8), (2, 4)]
    """
    sizes, batch, seed = _arguments.sizes("n", n), _arguments.integer("batch", batch, 1), _arguments.seed(seed)
    process = jax.process_index() if process is None else _arguments.integer("process", process)
    seed = int(np.random.SeedSequence(seed, spawn_key=(process,)).generate_state(1)[0]) if process else seed
    built = [samplers.build_sampler(algorithm, -1, seed=seed, length=size, strict=True, **options) for size in sizes]

    drawn: Iterator[Feedback] = (sampler.next(batch) for sampler, _ in itertools.cycle(built))
    if transform is not None:
        _, drawn = transform(built[0][1], drawn)
    return prefetch(map(lambda feedback: as_jax(feedback, dtype, device), drawn), ahead)


def prefetch(iterator: Iterator[Feedback], size: int = 2) -> Iterator[Feedback]:
    """Takes `size` items from an iterator before they are needed: transfers run while you compute.

    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    queue = collections.deque(itertools.islice(iterator, max(size, 1)))
    while queue:
        queue.extend(itertools.islice(iterator, 1))
        yield queue.popleft()


def inputs(feedback: Feedback) -> dict[str, Any]:
    """Inputs ``[B, ...]`` by name."""
    return {point.name: point.data for point in feedback.features.inputs}


def hints(feedback: Feedback) -> dict[str, Any]:
    """Hints ``[T, B, ...]`` by name."""
    return {point.name: point.data for point in feedback.features.hints}


def outputs(feedback: Feedback) -> dict[str, Any]:
    """Outputs ``[B, ...]`` by name."""
    return {point.name: point.data for point in feedback.outputs}
