"""Samples and texts for Hugging Face ``datasets``.

>>> import clrs_rs as clrs, clrs_rs.datasets
>>> rows = clrs.datasets.dataset("bfs", n=8, count=100)
>>> rows.num_rows, rows.column_names
(100, ['nodes', 'steps', 'input/pos', 'input/s', 'input/A', 'input/adj', 'output/pi', 'hint/reach_h', 'hint/pi_h'])
>>> next(iter(clrs.datasets.stream("bfs", n=8)))["output/pi"] == rows[0]["output/pi"]
True
>>> next(iter(clrs.datasets.text({"minimum": [4]})))["answer"]
'3\\n\\n'

Columns are those of the Parquet files that ``clrs export --format parquet`` writes, and nothing is padded: hints have as many rows
as their sample has steps. Masks are int8, with -1 where they are masked out; categoricals are classes; pointers are int32.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import datasets
import numpy as np
import numpy.typing as npt

from clrs_rs import samplers, text as texts
from clrs_rs.probing import DataPoint
from clrs_rs.samplers import Feedback
from clrs_rs.specs import Type

__all__ = ["dataset", "features", "generator", "stream", "text"]

#: Number of samples that are drawn at once.
_CHUNK = 64


def generator(
    algorithm: str,
    n: int = 16,
    count: int | None = None,
    seeds: Sequence[int] = (0,),
    hints: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Rows of samples, for ``from_generator``: `count` of each seed, or endless ones of the seeds in turn.

    >>> next(generator("minimum", n=3, hints=False))["output/min"].tolist()
    [1, 0, 0]
    """
    built = [
        samplers.build_sampler(algorithm, -1, seed=seed, length=n, track_max_steps=False, strict=True, **(options or {}))[0]
        for seed in seeds
    ]
    if count is None:
        while built:
            for sampler in built:
                yield from _rows(sampler.next(_CHUNK), hints)
    else:
        for sampler in built:
            for start in range(0, count, _CHUNK):
                yield from _rows(sampler.next(min(_CHUNK, count - start)), hints)


def _rows(feedback: Feedback, hints: bool) -> Iterator[dict[str, Any]]:
    stages = {"input": feedback.features.inputs, "output": feedback.outputs, "hint": feedback.features.hints if hints else []}
    columns = {f"{stage}/{point.name}": _values(point) for stage, points in stages.items() for point in points}
    nodes = next(int(point.data.shape[1]) for point in feedback.features.inputs if point.location != "graph")
    for index, length in enumerate(feedback.features.lengths):
        row: dict[str, Any] = {"nodes": nodes, "steps": int(length)}
        for name, values in columns.items():
            row[name] = values[: int(length), index] if name.startswith("hint/") else values[index]
        yield row


def _values(point: DataPoint) -> npt.NDArray[Any]:
    if point.type_ == Type.SCALAR:
        scalars: npt.NDArray[Any] = point.data
        return scalars
    if point.type_ in (Type.POINTER, Type.SHOULD_BE_PERMUTATION):
        return np.asarray(point.data, np.int32)
    if point.type_ == Type.CATEGORICAL:
        # A cell that is masked out has a -1 instead of a 1.
        is_masked = (point.data == -1).any(-1)
        return np.where(is_masked, -1, point.data.argmax(-1)).astype(np.int8)
    return np.asarray(point.data, np.int8)


def features(
    algorithm: str, n: int = 16, hints: bool = True, options: Mapping[str, Any] | None = None
) -> datasets.Features:
    """Types of the columns of :func:`generator`: arrays of two and three axes are declared as such.

    >>> features("minimum", n=4)["hint/pred_h"]
    Array2D(shape=(None, 4), dtype='int32')
    """
    row = next(generator(algorithm, n, 1, hints=hints, options=options))
    return datasets.Features({name: _feature(name, value) for name, value in row.items()})


def _feature(name: str, value: Any) -> Any:
    array = np.asarray(value)
    if name in ("nodes", "steps"):
        return datasets.Value("uint32")
    if array.ndim == 0:
        return datasets.Value(str(array.dtype))
    if array.ndim == 1:
        return datasets.List(datasets.Value(str(array.dtype)))
    shape = (None, *array.shape[1:]) if name.startswith("hint/") else array.shape
    return {2: datasets.Array2D, 3: datasets.Array3D}[array.ndim](shape=shape, dtype=str(array.dtype))


def dataset(
    algorithm: str, n: int = 16, count: int = 1000, seed: int = 0, *, hints: bool = True, **options: Any
) -> datasets.Dataset:
    """`count` samples as a dataset in memory: those of :func:`clrs_rs.sample` with the same arguments."""
    columns = features(algorithm, n, hints, options)
    rows = generator(algorithm, n, count, (seed,), hints, options)
    return datasets.Dataset.from_list(list(rows), features=columns)


def stream(
    algorithm: str, n: int = 16, *, seeds: Sequence[int] = (0,), hints: bool = True, **options: Any
) -> datasets.IterableDataset:
    """Endless samples, drawn while they are read.

    Every seed is a shard: with as many seeds as workers, each worker of a loader draws its own samples.
    """
    arguments = {"algorithm": algorithm, "n": n, "seeds": list(seeds), "hints": hints, "options": options}
    return datasets.IterableDataset.from_generator(
        generator, features=features(algorithm, n, hints, options), gen_kwargs=arguments
    )


def text(
    algos_and_lengths: Mapping[str, Sequence[int]],
    *,
    seeds: Sequence[int] = (0,),
    num_samples: int | None = None,
    use_hints: bool = False,
    num_decimals_in_float: int | None = 3,
    format: texts.Format = "text@2.0.3",
) -> datasets.IterableDataset:
    """Rows of :func:`clrs_rs.text.generator` while they are read: `num_samples` of each seed, or endless ones.

    Every seed is a shard, as in :func:`stream`.
    """
    columns = {name: datasets.Value("string") for name in ("text", "question", "answer", "algo_name")}
    arguments = {
        # A list would be split among workers.
        "algos_and_lengths": {name: tuple(lengths) for name, lengths in algos_and_lengths.items()},
        "seeds": list(seeds),
        "num_samples": num_samples,
        "use_hints": use_hints,
        "num_decimals_in_float": num_decimals_in_float,
        "format": format,
    }
    return datasets.IterableDataset.from_generator(
        _text_rows,
        features=datasets.Features({**columns, "length": datasets.Value("int32"), "use_hints": datasets.Value("bool")}),
        gen_kwargs=arguments,
    )


def _text_rows(seeds: Sequence[int], num_samples: int | None, **arguments: Any) -> Iterator[texts.Row]:
    streams = [texts.generator(num_samples=num_samples, seed=seed, **arguments) for seed in seeds]
    # Streams of the same length take turns, so that endless ones all do.
    for rows in zip(*streams, strict=True):
        yield from rows
