"""Specs of the algorithms: the stage, location and type of every probe.

>>> from clrs_rs import specs
>>> specs.SPECS["bfs"]["pi"]
('output', 'node', 'pointer')
"""

import types
from collections.abc import Mapping
from typing import Final, TypeAlias

from clrs_rs import _core

__all__ = [
    "ALGO_IDX_INPUT_NAME",
    "CLRS_30_ALGS",
    "CLRS_30_ALGS_SETTINGS",
    "Location",
    "OutputClass",
    "SPECS",
    "Spec",
    "Stage",
    "Type",
]

#: Stage, location and type of each probe, by name.
Spec: TypeAlias = dict[str, tuple[str, str, str]]


class Stage:
    """When a probe is observed."""

    INPUT: Final = "input"
    OUTPUT: Final = "output"
    HINT: Final = "hint"


class Location:
    """What a probe is attached to."""

    NODE: Final = "node"
    EDGE: Final = "edge"
    GRAPH: Final = "graph"


class Type:
    """How a probe is encoded, decoded and scored."""

    SCALAR: Final = "scalar"
    CATEGORICAL: Final = "categorical"
    MASK: Final = "mask"
    MASK_ONE: Final = "mask_one"
    POINTER: Final = "pointer"
    SHOULD_BE_PERMUTATION: Final = "should_be_permutation"
    PERMUTATION_POINTER: Final = "permutation_pointer"
    SOFT_POINTER: Final = "soft_pointer"


class OutputClass:
    """Values of masks and classes."""

    POSITIVE: Final = 1
    NEGATIVE: Final = 0
    MASKED: Final = -1


_ALGORITHMS = _core.algorithms()

# In the order of dm-clrs.
_SPECS: dict[str, Spec] = {
    name: _ALGORITHMS[name]["spec"]
    for name in (
        *("insertion_sort", "bubble_sort", "heapsort", "quicksort", "quickselect", "minimum", "binary_search"),
        *("find_maximum_subarray", "find_maximum_subarray_kadane", "matrix_chain_order", "lcs_length", "optimal_bst"),
        *("activity_selector", "task_scheduling", "dfs", "topological_sort", "strongly_connected_components"),
        *("articulation_points", "bridges", "bfs", "mst_kruskal", "mst_prim", "bellman_ford", "dag_shortest_paths"),
        *("dijkstra", "floyd_warshall", "bipartite_matching", "naive_string_matcher", "kmp_matcher"),
        *("segments_intersect", "graham_scan", "jarvis_march"),
    )
}

#: The spec of every algorithm.
SPECS: Mapping[str, Spec] = types.MappingProxyType(_SPECS)

#: The thirty algorithms of the paper.
CLRS_30_ALGS: list[str] = list(_ALGORITHMS)[:30]

#: ``num_samples_multiplier``: factor on the number of evaluation samples.
CLRS_30_ALGS_SETTINGS: dict[str, dict[str, int]] = {
    name: {"num_samples_multiplier": _ALGORITHMS[name]["eval_multiplier"]} for name in CLRS_30_ALGS
}

#: Name of the input that has the index of the algorithm in models of several algorithms.
ALGO_IDX_INPUT_NAME = "algo_idx"
