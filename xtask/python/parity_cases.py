"""The cases that `parity.py` compares: every algorithm at many sizes, all options, all ways to draw batches, all transforms."""
import dataclasses
import json

from reference import ALGORITHMS, specs


@dataclasses.dataclass(frozen=True)
class Case:
    """One call of `clrs sample` and the equivalent call of dm-clrs."""

    algorithm: str
    size: int
    seed: int
    count: int = 3
    options: tuple = ()  # (name, value) pairs; a list of values is a tuple
    next: tuple = ()
    stream: bool = False
    track_max_steps: bool = False
    transforms: tuple = ()
    position_seed: int = 9
    chunk_length: int = 8

    def arguments(self):
        """Arguments of the call, without the binary and the file."""
        arguments = ["sample", self.algorithm, "--size", str(self.size), "--seed", str(self.seed)]
        arguments += ["--stream"] if self.stream else ["--count", str(self.count)]
        arguments += ["--track-max-steps"] if self.track_max_steps else []
        for name, value in self.options:
            values = value if isinstance(value, tuple) else (value,)
            arguments += ["--set", f"{name}={','.join(map(json.dumps, values))}"]
        arguments += ["--next", ",".join(map(str, self.next))] if self.next else []
        arguments += ["--transform", ",".join(self.transforms)] if self.transforms else []
        arguments += ["--position-seed", str(self.position_seed)] if "random_pos" in self.transforms else []
        arguments += ["--chunk-length", str(self.chunk_length)] if "chunk" in self.transforms else []
        return arguments


STRINGS = ("naive_string_matcher", "kmp_matcher")
HULLS = ("graham_scan", "jarvis_march")
SORTS = tuple(name for name, spec in specs.SPECS.items() if any(t == "should_be_permutation" for _, _, t in spec.values()))
PRED_AS_INPUT = tuple(name for name, spec in specs.SPECS.items() if "pred_h" in spec and name not in (*SORTS, "quickselect"))
# The order of equal keys is that of dm-clrs's default sort, which differs between CPUs.
SORTED_BY_ARGSORT = (
    "activity_selector", "task_scheduling", "mst_kruskal", "mst_prim", "dijkstra", "strongly_connected_components"
)

RANGE = (("low", (-2.5, 0.25)), ("high", (1.75, 40.0)))
# At least 0, since dm-clrs takes the square root of a product; low below high, since equal weights are ties.
WEIGHTS = (("low", (0.25, 0.6)), ("high", (0.75, 20.0)))
P = (("p", ((0.1, 0.9), 0.35, (0.5, 0.2, 0.7, 0.0, 1.0))),)

OPTIONS = {
    **{name: RANGE for name in (*SORTS, "quickselect", "minimum")},
    "binary_search": (*RANGE, ("sorted", (False,))),
    "matrix_chain_order": WEIGHTS,  # dm-clrs accepts negative dimensions, ours rejects them
    "find_maximum_subarray": (("low", (-5.0, 0.0)), ("high", (0.5, 3.0))),
    "find_maximum_subarray_kadane": (("low", (-5.0, 0.0)), ("high", (0.5, 3.0))),
    "lcs_length": (("length_2", (3, 9)), ("chars", (2, 1))),
    "optimal_bst": (),
    "activity_selector": RANGE,
    "task_scheduling": (("max_deadline", (3, 20)), *RANGE),
    **{name: P for name in ("dfs", "articulation_points", "bridges", "topological_sort", "bfs")},
    **{
        name: (*P, *WEIGHTS)
        for name in ("mst_kruskal", "bellman_ford", "dijkstra", "mst_prim", "dag_shortest_paths", "floyd_warshall")
    },
    "strongly_connected_components": (*P, ("k", (2, 1, 8)), ("eps", (0.3, 0.0))),
    "bipartite_matching": (("length_2", (3, 5)), *P),
    **{name: (("length_needle", (2, -3, 1)), ("chars", (2, 3))) for name in STRINGS},
    "segments_intersect": RANGE,
    **{
        name: (
            ("origin_x", (3.5, -1.0)),
            ("origin_y", (-7.0, 0.5)),
            ("radius", (0.5, 10.0)),
            ("collinearity_resampling_attempts", (50, 7)),
            ("collineararity_eps", (1e-3, 0.01)),
        )
        for name in HULLS
    },
}
"""Values other than the default of every option of every algorithm. The small matrix uses the first of them."""

OUTGROWN = ("quickselect", 10, 15)
"""Algorithm, size and seed of a stream whose later batches are longer than the 1,000 samples drawn first."""


def small():
    """The matrix of `cargo xtask test`. It takes half a minute, nearly all of it in dm-clrs."""
    for algorithm in ALGORITHMS:
        for size in range(1, 9):
            yield Case(algorithm, size, seed=size, count=20)
        yield Case(algorithm, 16, seed=1, count=20)
        yield Case(algorithm, 33, seed=2, count=3)
        yield Case(algorithm, 64, seed=3, count=1)
        yield from with_options(algorithm, sizes=(9,), values=slice(0, 1), count=10)
        yield Case(algorithm, 6, seed=3, count=6, next=(4, 6))
        yield Case(algorithm, 5, seed=4, stream=True, next=(3, 4))
        yield from truncated(algorithm, size=7, count=6)
    yield from streams()
    yield from rejected()
    yield from transformed()


def full():
    """Also large sizes, more seeds, and every value of every option at several sizes."""
    yield from small()
    for algorithm in ALGORITHMS:
        for seed in range(5, 15):
            for size in (4, 5, 10, 13, 17):
                yield Case(algorithm, size, seed=seed, count=20)
        yield Case(algorithm, 64, seed=4, count=3)
        yield Case(algorithm, 100, seed=2**32 - 1, count=1)
        yield from with_options(algorithm, sizes=(7, 12, 20), values=slice(None), count=10)
        yield Case(algorithm, 16, seed=5, count=30, next=(30, 1, 17))
        yield Case(algorithm, 16, seed=6, stream=True, next=(1, 8, 2))
        yield from truncated(algorithm, size=16, count=5)
    for algorithm in ALGORITHMS:
        if algorithm not in (*HULLS, "matrix_chain_order", "floyd_warshall", "find_maximum_subarray"):
            yield Case(algorithm, 7, seed=2, stream=True, track_max_steps=True, next=(5, 5))


def with_options(algorithm, sizes, values, count):
    for size in sizes:
        for name, candidates in OPTIONS[algorithm]:
            for value in candidates[values]:
                yield Case(algorithm, size, seed=11, count=count, options=((name, value),))
        if len(OPTIONS[algorithm]) > 1:
            combined = tuple((name, candidates[0]) for name, candidates in OPTIONS[algorithm])
            yield Case(algorithm, size, seed=12, count=count, options=combined)


def truncated(algorithm, size, count):
    for decimals in (5,) if algorithm in SORTED_BY_ARGSORT else (3,) if algorithm in HULLS else (1, 2):
        yield Case(algorithm, size, seed=13, count=count, options=(("truncate_decimals", decimals),))


def streams():
    for algorithm, size in (("bfs", 5), ("mst_kruskal", 6), ("kmp_matcher", 6), ("binary_search", 4), ("dag_shortest_paths", 4)):
        yield Case(algorithm, size, seed=5, stream=True, track_max_steps=True, next=(3, 2))
    algorithm, size, seed = OUTGROWN
    yield Case(algorithm, size, seed=seed, stream=True, track_max_steps=True, next=(40, 40, 40, 1))


def rejected():
    """Cases in which dm-clrs fails. Ours must report a user error."""
    yield Case("bfs", 5, seed=1, count=3, next=(4,))
    yield Case("lcs_length", 8, seed=1, options=(("chars", 9),))
    for algorithm in STRINGS:
        yield Case(algorithm, 8, seed=1, options=(("length_needle", 4),))
        yield Case(algorithm, 8, seed=1, options=(("length_needle", 0),))
    yield Case("strongly_connected_components", 5, seed=1, options=(("k", 6),))
    yield Case("graham_scan", 8, seed=1, options=(("collineararity_eps", 1.0), ("collinearity_resampling_attempts", 3)))
    yield Case("insertion_sort", 5, seed=1, transforms=("pred_as_input",))
    yield Case("quickselect", 5, seed=1, transforms=("pred_as_input",))


def transformed():
    for algorithm in ("bfs", "lcs_length", "kmp_matcher"):
        yield Case(algorithm, 7, seed=1, count=4, transforms=("random_pos",))
        yield Case(algorithm, 7, seed=2, stream=True, next=(3, 2), transforms=("random_pos",))
    for algorithm in PRED_AS_INPUT:
        yield Case(algorithm, 6, seed=3, count=4, transforms=("pred_as_input",))
    yield Case("bfs", 6, seed=3, transforms=("pred_as_input",))
    for algorithm in SORTS:
        for permutations in ("permutations", "plain_permutations"):
            yield Case(algorithm, 6, seed=4, count=4, transforms=(permutations,))
    for algorithm, size, length in (("bfs", 6, 5), ("quicksort", 5, 30), ("lcs_length", 6, 1), ("segments_intersect", 4, 8)):
        yield Case(
            algorithm, size, seed=5, stream=True, next=(3,) * 5, transforms=("chunk",), chunk_length=length
        )
    yield Case("bfs", 6, seed=6, count=5, next=(3,) * 4, transforms=("chunk",))
    all_transforms = ("random_pos", "pred_as_input", "permutations", "chunk")
    yield Case("minimum", 6, seed=7, stream=True, next=(4,) * 3, transforms=all_transforms)
    yield Case("heapsort", 5, seed=8, stream=True, next=(2,) * 3, transforms=("random_pos", "permutations", "chunk"))
