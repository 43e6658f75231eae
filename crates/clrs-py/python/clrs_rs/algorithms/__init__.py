"""The algorithms, one by one: each takes the arguments of dm-clrs and returns a result and a dictionary of probes.

They run in Rust, and do not change their arguments.

>>> import numpy as np
>>> from clrs_rs import algorithms
>>> pi, probes = algorithms.bfs(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0)
>>> pi
array([0, 0, 1])
>>> probes["hint"]["node"]["pi_h"]["data"]
array([[0, 1, 2],
       [0, 0, 2],
       [0, 0, 1]])
"""

from clrs_rs.algorithms._run import native_name as native_name
from clrs_rs.algorithms.divide_and_conquer import find_maximum_subarray, find_maximum_subarray_kadane
from clrs_rs.algorithms.dynamic_programming import lcs_length, matrix_chain_order, optimal_bst
from clrs_rs.algorithms.geometry import graham_scan, jarvis_march, segments_intersect
from clrs_rs.algorithms.graphs import (
    articulation_points,
    bellman_ford,
    bfs,
    bipartite_matching,
    bridges,
    dag_shortest_paths,
    dfs,
    dijkstra,
    floyd_warshall,
    mst_kruskal,
    mst_prim,
    strongly_connected_components,
    topological_sort,
)
from clrs_rs.algorithms.greedy import activity_selector, task_scheduling
from clrs_rs.algorithms.searching import binary_search, minimum, quickselect
from clrs_rs.algorithms.sorting import bubble_sort, heapsort, insertion_sort, quicksort
from clrs_rs.algorithms.strings import kmp_matcher, naive_string_matcher

__all__ = [
    "activity_selector",
    "articulation_points",
    "bellman_ford",
    "bfs",
    "binary_search",
    "bipartite_matching",
    "bridges",
    "bubble_sort",
    "dag_shortest_paths",
    "dfs",
    "dijkstra",
    "find_maximum_subarray",
    "find_maximum_subarray_kadane",
    "floyd_warshall",
    "graham_scan",
    "heapsort",
    "insertion_sort",
    "jarvis_march",
    "kmp_matcher",
    "lcs_length",
    "matrix_chain_order",
    "minimum",
    "mst_kruskal",
    "mst_prim",
    "naive_string_matcher",
    "optimal_bst",
    "quickselect",
    "quicksort",
    "segments_intersect",
    "strongly_connected_components",
    "task_scheduling",
    "topological_sort",
]
