"""Datasets of the benchmark, and chunks of their trajectories."""

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import Any

from clrs_rs import _arguments, _core
from clrs_rs.errors import ArgumentTypeError
from clrs_rs.probing import DataPoint
from clrs_rs.samplers import Features, FeaturesChunked, Feedback
from clrs_rs.specs import SPECS, Spec

__all__ = [
    "Dataset",
    "chunkify",
    "create_chunked_dataset",
    "create_dataset",
    "get_clrs_folder",
    "get_dataset_gcp_url",
]

_VERSION = "1.0.0"


def get_clrs_folder() -> str:
    """Name of the folder of dm-clrs's published dataset."""
    return f"CLRS30_v{_VERSION}"


def get_dataset_gcp_url() -> str:
    """Address of dm-clrs's published dataset. There is no need to download it: ``clrs30`` is generated in milliseconds."""
    return f"https://storage.googleapis.com/dm-clrs/CLRS30_v{_VERSION}.tar.gz"


class Dataset:
    """Batches of a set, again and again: an iterable of :class:`Feedback` with tuples of data points.

    Values and their order are those that dm-clrs reads from its dataset, and batches continue from one round to the next.
    Hints are padded to the longest sample of the set.
    """

    def __init__(self, samples: _core.Samples, batch_size: int) -> None:
        self._samples = samples
        self._batch_size = _arguments.integer("batch_size", batch_size, 1)

    def __iter__(self) -> Iterator[Feedback]:
        indices = itertools.cycle(range(len(self._samples)))
        while True:
            batch = list(itertools.islice(indices, self._batch_size))
            features, outputs = self._samples.feedback(batch, self._samples.max_steps)
            yield Feedback(
                Features(_sorted(features.inputs), _sorted(features.hints), features.lengths), _sorted(outputs)
            )

    def as_numpy_iterator(self) -> Iterator[Feedback]:
        """Iterates over the batches, as ``tf.data.Dataset`` does."""
        return iter(self)

    def __repr__(self) -> str:
        samples = self._samples
        return f"Dataset(algorithm={samples.algorithm!r}, num_samples={len(samples)}, batch_size={self._batch_size})"


def create_dataset(
    folder: str | os.PathLike[str], algorithm: str, split: str, batch_size: int
) -> tuple[Dataset, int, Spec]:
    """Opens a set; returns endless batches of it, its number of samples and its spec.

    Args:
      folder: a directory of the store that ``clrs generate`` writes; a directory of TensorFlow Datasets, such as dm-clrs's
        published one (TensorFlow is not needed); or a version of the benchmark, such as ``clrs30`` or
        ``clrs30@1.0.0``, which is generated on the spot.
      algorithm: name of the algorithm.
      split: ``train``, ``val`` or ``test``.
      batch_size: number of samples per batch.

    >>> import clrs_rs as clrs
    >>> dataset, num_samples, spec = clrs.create_dataset("clrs30", "bfs", "val", batch_size=4)
    >>> num_samples
    32
    >>> next(dataset.as_numpy_iterator()).outputs[0].data.shape
    (4, 16)
    """
    folder = _arguments.path("folder", folder)
    samples = open_samples(folder, algorithm, split)
    if not _is_tfds(folder):
        samples = samples.records(split)
    spec = samples.spec
    expected = SPECS.get(algorithm)
    return Dataset(samples, batch_size), len(samples), expected if expected == spec else spec


def open_samples(folder: str, algorithm: str, split: str) -> _core.Samples:
    """The samples of a set of the store, of TensorFlow Datasets, or of the benchmark."""
    algorithm, split = _arguments.text("algorithm", algorithm), _arguments.text("split", split)
    if folder.split("@")[0] == "clrs30" and not os.path.exists(folder):
        return _core.Samples.benchmark(folder, algorithm, split)
    if _is_tfds(folder):
        return _core.Samples.read_tfds(folder, algorithm, split)
    return _core.Samples.read(folder, algorithm, split)


def _is_tfds(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "clrs_dataset"))


def create_chunked_dataset(
    folder: str | os.PathLike[str], algorithm: str, split: str, batch_size: int, chunk_length: int
) -> tuple[Iterator[Feedback], Spec]:
    """As :func:`create_dataset`, in chunks; see :func:`chunkify`. Returns the chunks and the spec."""
    dataset, _, spec = create_dataset(folder, algorithm, split, batch_size)
    return chunkify(dataset.as_numpy_iterator(), chunk_length), spec


def chunkify(dataset: Iterator[Feedback], chunk_length: int) -> Iterator[Feedback]:
    """Lays the samples of batches end to end, without padding, and cuts them into chunks of equal length.

    All arrays of a chunk are ``[chunk_length, B, ...]``: inputs and outputs are repeated at every step of their sample.
    ``is_first`` and ``is_last`` mark the first and the last step of every sample.

    >>> import clrs_rs as clrs
    >>> dataset, _, _ = clrs.create_dataset("clrs30", "bfs", "val", batch_size=2)
    >>> chunk = next(clrs.chunkify(dataset.as_numpy_iterator(), 5))
    >>> chunk.features.is_first.T
    array([[1, 0, 0, 0, 1],
           [1, 0, 0, 0, 1]])
    """
    chunks = _core.Chunks(_arguments.integer("chunk_length", chunk_length, 1))
    if not isinstance(dataset, Iterable):
        raise ArgumentTypeError(f"`dataset` must be an iterator over Feedback, not {_arguments.describe(dataset)}")
    for feedback in dataset:
        features, outputs = _arguments.feedback(feedback, chunked=False)
        chunks.push(features.inputs, features.hints, outputs, features.lengths)
        while (chunk := chunks.next()) is not None:
            inputs, hints, is_first, is_last, chunk_outputs = chunk
            yield Feedback(
                FeaturesChunked(type(features.inputs)(inputs), type(features.hints)(hints), is_first, is_last),
                type(outputs)(chunk_outputs),
            )


def _sorted(points: list[DataPoint]) -> tuple[Any, ...]:
    """By name: the order of features in TensorFlow's records."""
    return tuple(sorted(points, key=lambda point: point.name))
