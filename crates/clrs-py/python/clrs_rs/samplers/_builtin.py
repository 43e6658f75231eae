"""The samplers of the benchmark.

Their ``_sample_data`` is used by derived classes and by algorithms in Python. With the algorithms of the package, the engine
draws the same problems.
"""

import inspect
import itertools
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs import _arguments, _core, algorithms
from clrs_rs.errors import ArgumentError, IgnoredOptionWarning, SampleError, UnknownAlgorithmError
from clrs_rs.samplers._sampler import Sampler
from clrs_rs.specs import SPECS, Spec

#: Samples, length and seed of the splits of CLRS-30.
CLRS30: Mapping[str, dict[str, int]] = types.MappingProxyType(
    {
        "train": {"num_samples": 1000, "length": 16, "seed": 1},
        "val": {"num_samples": 32, "length": 16, "seed": 2},
        "test": {"num_samples": 32, "length": 64, "seed": 3},
    }
)


def build_sampler(
    name: str,
    num_samples: int,
    *args: Any,
    seed: Any = None,
    track_max_steps: bool = True,
    truncate_decimals: int | None = None,
    strict: bool = False,
    **kwargs: Any,
) -> tuple[Sampler, Spec]:
    """Creates the sampler of an algorithm; returns it and the spec of the algorithm. See :class:`Sampler`.

    Keyword arguments that the sampler does not have are ignored with a warning; with ``strict``, they are an error.

    >>> import clrs_rs as clrs
    >>> sampler, spec = clrs.build_sampler("bfs", 100, seed=1, length=16)
    >>> feedback = sampler.next(32)
    >>> [point.name for point in feedback.features.inputs], feedback.outputs[0].data.shape
    (['pos', 's', 'A', 'adj'], (32, 16))
    >>> clrs.build_sampler("bfs", 100, length=16, prob=0.2, strict=True)
    Traceback (most recent call last):
    clrs_rs.errors.UnknownOptionError: the sampler of bfs has no argument `prob`; its arguments are: length, p
    """
    if _arguments.text("name", name) not in SPECS or name not in SAMPLERS:
        raise UnknownAlgorithmError(f"unknown algorithm `{name}`" + _core.did_you_mean(name, list(SAMPLERS)))
    sampler_class = SAMPLERS[name]
    known = [argument for argument in inspect.signature(sampler_class._sample_data).parameters if argument != "self"]
    unknown = [argument for argument in kwargs if argument not in known]
    if strict:
        _arguments.known(f"the sampler of {name}", unknown, known)
    if unknown:
        message = f"the sampler of {name} ignores the arguments it does not have: {', '.join(unknown)}"
        warnings.warn(message, IgnoredOptionWarning, stacklevel=2)
    sampler = sampler_class(
        getattr(algorithms, name),
        SPECS[name],
        num_samples,
        *args,
        seed=seed,
        track_max_steps=track_max_steps,
        truncate_decimals=truncate_decimals,
        **{argument: value for argument, value in kwargs.items() if argument in known},
    )
    return sampler, SPECS[name]


class SortingSampler(Sampler):
    """Uniformly distributed keys."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int, low: float = 0.0, high: float = 1.0) -> list[Any]:
        return [self._random_sequence(length, low, high)]


class SearchSampler(Sampler):
    """A number to find, and sorted keys."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int, low: float = 0.0, high: float = 1.0) -> list[Any]:
        keys = np.sort(self._random_sequence(length, low, high))
        return [self._rng.uniform(low=low, high=high), keys]


class MaxSubarraySampler(Sampler):
    """Numbers of both signs."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int, low: float = -1.0, high: float = 1.0) -> list[Any]:
        return [self._random_sequence(length, low, high)]


class LCSSampler(Sampler):
    """Two strings, of `length` letters together unless `length_2` is given."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, length_2: int | None = None, chars: int = 4) -> list[Any]:
        return [self._random_string(part, chars) for part in _halves(length, length_2)]


class OptimalBSTSampler(Sampler):
    """Probabilities of keys and of the gaps around them."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int) -> list[Any]:
        weights = self._random_sequence(2 * length + 1)
        return np.split(weights / np.sum(weights), [length])


class ActivitySampler(Sampler):
    """Start and finish times."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int, low: float = 0.0, high: float = 1.0) -> list[Any]:
        times = [self._random_sequence(length, low, high) for _ in range(2)]
        return [np.minimum(*times), np.maximum(*times)]


class TaskSampler(Sampler):
    """Deadlines from 1 to `max_deadline`, and weights."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self, length: int, max_deadline: int | None = None, low: float = 0.0, high: float = 1.0
    ) -> list[Any]:
        deadlines = 1 + self._random_string(length, length if max_deadline is None else max_deadline)
        return [deadlines, self._random_sequence(length, low, high)]


class DfsSampler(Sampler):
    """Directed graphs."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, p: Sequence[float] = (0.5,)) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p), directed=True)]


class BfsSampler(Sampler):
    """Undirected graphs and a source."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, p: Sequence[float] = (0.5,)) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p)), self._rng.choice(length)]


class TopoSampler(Sampler):
    """Acyclic graphs."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, p: Sequence[float] = (0.5,)) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p), directed=True, acyclic=True)]


class ArticulationSampler(Sampler):
    """Sparse undirected graphs."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, p: Sequence[float] = (0.2,)) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p))]


class MSTSampler(Sampler):
    """Sparse undirected graphs with weights."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self, length: int, p: Sequence[float] = (0.2,), low: float = 0.0, high: float = 1.0
    ) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p), weighted=True, low=low, high=high)]


class BellmanFordSampler(Sampler):
    """Undirected graphs with weights, and a source."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self, length: int, p: Sequence[float] = (0.5,), low: float = 0.0, high: float = 1.0
    ) -> list[Any]:
        graph = self._random_er_graph(length, self._rng.choice(p), weighted=True, low=low, high=high)
        return [graph, self._rng.choice(length)]


class DAGPathSampler(Sampler):
    """Acyclic graphs with weights, and a source."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self, length: int, p: Sequence[float] = (0.5,), low: float = 0.0, high: float = 1.0
    ) -> list[Any]:
        kind: dict[str, Any] = {"directed": True, "acyclic": True, "weighted": True, "low": low, "high": high}
        return [self._random_er_graph(length, self._rng.choice(p), **kind), self._rng.choice(length)]


class FloydWarshallSampler(Sampler):
    """Undirected graphs with weights."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self, length: int, p: Sequence[float] = (0.5,), low: float = 0.0, high: float = 1.0
    ) -> list[Any]:
        return [self._random_er_graph(length, self._rng.choice(p), weighted=True, low=low, high=high)]


class SccSampler(Sampler):
    """Directed graphs of `k` communities."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, k: int = 4, p: Sequence[float] = (0.5,), eps: float = 0.01) -> list[Any]:
        return [self._random_community_graph(length, k, self._rng.choice(p), eps, directed=True)]


class BipartiteSampler(Sampler):
    """Flow networks of bipartite graphs, with `length` nodes unless `length_2` is given."""

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, length_2: int | None = None, p: Sequence[float] = (0.3,)) -> list[Any]:
        left, right = _halves(length, length_2)
        return [self._random_bipartite_graph(left, right, self._rng.choice(p)), left, right, 0, left + right + 1]


class MatcherSampler(Sampler):
    """A text and a pattern that occurs in it, of `length` letters together.

    A negative `length_needle` is the largest length of the pattern, which is then random.
    """

    CAN_TRUNCATE_INPUT_DATA = False

    def _sample_data(self, length: int, length_needle: int | None = None, chars: int = 4) -> list[Any]:
        if length_needle is None:
            length_needle = max(length // 5, 1)
        elif length_needle < 0:
            length_needle = int(self._rng.randint(1, high=1 - length_needle))
        pattern = self._random_string(length_needle, chars)
        text = self._random_string(length - length_needle, chars)
        start = self._rng.choice(len(text) - length_needle)
        text[start : start + length_needle] = pattern
        return [text, pattern]


class SegmentsSampler(Sampler):
    """Two segments, which intersect with a probability of one half."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(self, length: int, low: float = 0.0, high: float = 1.0) -> list[Any]:
        del length  # always four points
        wanted = bool(self._rng.binomial(1, 0.5))
        while True:
            xs, ys = (self._random_sequence(4, low, high) for _ in range(2))
            if _segments_cross(xs, ys) == wanted:
                return [xs, ys]


class ConvexHullSampler(Sampler):
    """Points in a disk, no three of them collinear."""

    CAN_TRUNCATE_INPUT_DATA = True

    def _sample_data(
        self,
        length: int,
        origin_x: float = 0.0,
        origin_y: float = 0.0,
        radius: float = 2.0,
        collinearity_resampling_attempts: int = 1000,
        collineararity_eps: float = 1e-12,
    ) -> list[Any]:
        for _ in range(collinearity_resampling_attempts):
            angles = self._random_sequence(length, 0.0, 2.0 * np.pi)
            distances = radius * np.sqrt(self._random_sequence(length))
            # Truncated before the test, since truncation can make points collinear.
            xs = self._trunc_array(distances * np.cos(angles) + origin_x)
            ys = self._trunc_array(distances * np.sin(angles) + origin_y)
            if not _any_collinear(xs, ys, collineararity_eps):
                return [xs, ys]
        attempts = collinearity_resampling_attempts
        raise SampleError(f"no sample of {length} points without three collinear ones in {attempts} attempts")


def _halves(length: int, second: int | None) -> tuple[int, int]:
    """Both lengths, or a total length in two."""
    return (length - length // 2, length // 2) if second is None else (length, second)


def _segments_cross(xs: npt.NDArray[np.float64], ys: npt.NDArray[np.float64]) -> bool:
    """Whether segments from point 0 to 1 and from point 2 to 3 cross: the ends of each are on both sides of the other."""

    def is_left(a: int, b: int, c: int) -> bool:
        return bool((ys[c] - ys[a]) * (xs[b] - xs[a]) > (ys[b] - ys[a]) * (xs[c] - xs[a]))

    return is_left(0, 2, 3) != is_left(1, 2, 3) and is_left(0, 1, 2) != is_left(0, 1, 3)


def _is_collinear(
    point_1: npt.NDArray[np.float64], point_2: npt.NDArray[np.float64], point_3: npt.NDArray[np.float64], eps: float
) -> bool:
    """Whether three points of the plane are on one line."""
    for point in (point_1, point_2, point_3):
        if point.shape != (2,):
            raise ArgumentError(f"{point} is not a point of the plane")
    (a, b), (c, d) = point_2 - point_1, point_3 - point_1
    return bool(abs(a * d - b * c) < eps)


def _any_collinear(xs: npt.NDArray[np.float64], ys: npt.NDArray[np.float64], eps: float) -> bool:
    points = np.stack([xs, ys], axis=1)
    return any(_is_collinear(*triple, eps) for triple in itertools.combinations(points, 3))


#: The sampler of every algorithm.
SAMPLERS: dict[str, type[Sampler]] = {
    "insertion_sort": SortingSampler,
    "bubble_sort": SortingSampler,
    "heapsort": SortingSampler,
    "quicksort": SortingSampler,
    "quickselect": SortingSampler,
    "minimum": SortingSampler,
    "binary_search": SearchSampler,
    "find_maximum_subarray": MaxSubarraySampler,
    "find_maximum_subarray_kadane": MaxSubarraySampler,
    "matrix_chain_order": SortingSampler,
    "lcs_length": LCSSampler,
    "optimal_bst": OptimalBSTSampler,
    "activity_selector": ActivitySampler,
    "task_scheduling": TaskSampler,
    "dfs": DfsSampler,
    "topological_sort": TopoSampler,
    "strongly_connected_components": SccSampler,
    "articulation_points": ArticulationSampler,
    "bridges": ArticulationSampler,
    "bfs": BfsSampler,
    "mst_kruskal": MSTSampler,
    "mst_prim": BellmanFordSampler,
    "bellman_ford": BellmanFordSampler,
    "dag_shortest_paths": DAGPathSampler,
    "dijkstra": BellmanFordSampler,
    "floyd_warshall": FloydWarshallSampler,
    "bipartite_matching": BipartiteSampler,
    "naive_string_matcher": MatcherSampler,
    "kmp_matcher": MatcherSampler,
    "segments_intersect": SegmentsSampler,
    "graham_scan": ConvexHullSampler,
    "jarvis_march": ConvexHullSampler,
}

#: The samplers whose problems the engine draws. Unlike :data:`SAMPLERS`, users do not change it.
NATIVE_SAMPLERS: Mapping[str, type[Sampler]] = types.MappingProxyType(dict(SAMPLERS))
