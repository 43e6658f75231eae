//! The algorithms: a folder per family, a file per algorithm.
//!
//! | family | algorithms |
//! |---|---|
//! | [`sorting`] | insertion sort, bubble sort, heapsort, quicksort |
//! | [`searching`] | minimum, binary search, quickselect |
//! | [`divide_and_conquer`] | maximum subarray: divide and conquer, Kadane's algorithm |
//! | [`greedy`] | activity selection, task scheduling |
//! | [`dynamic_programming`] | matrix chain order, longest common subsequence, optimal binary search tree |
//! | [`graphs`] | depth-first and breadth-first search, topological sort, articulation points, bridges, strongly connected components, minimum spanning trees (Kruskal, Prim), shortest paths (Bellman-Ford, Dijkstra, in DAGs, Floyd-Warshall), bipartite matching |
//! | [`strings`] | naive string matching, Knuth-Morris-Pratt |
//! | [`geometry`] | segment intersection, convex hulls (Graham scan, Jarvis march) |
//!
//! The other modules have code that several algorithms share.

pub mod acyclic;
pub mod array;
pub mod depth_first;
pub mod divide_and_conquer;
pub mod dynamic_programming;
pub mod geometry;
pub mod graphs;
pub mod greedy;
pub mod order;
pub mod plane;
pub mod searching;
pub mod sorting;
pub mod strings;
pub mod subarray;
pub mod trees;
pub mod two_strings;

use crate::algorithm::AnyAlgorithm;

/// All algorithms: the thirty of the paper in the order of dm-clrs, the two that dm-clrs has beyond them, then others.
pub(crate) static BUILTIN: &[&dyn AnyAlgorithm] = &[
    &graphs::articulation_points::ArticulationPoints,
    &greedy::activity_selector::ActivitySelector,
    &graphs::bellman_ford::BellmanFord,
    &graphs::bfs::Bfs,
    &searching::binary_search::BinarySearch,
    &graphs::bridges::Bridges,
    &sorting::bubble_sort::BubbleSort,
    &graphs::dag_shortest_paths::DagShortestPaths,
    &graphs::dfs::Dfs,
    &graphs::dijkstra::Dijkstra,
    &divide_and_conquer::find_maximum_subarray_kadane::FindMaximumSubarrayKadane,
    &graphs::floyd_warshall::FloydWarshall,
    &geometry::graham_scan::GrahamScan,
    &sorting::heapsort::Heapsort,
    &sorting::insertion_sort::InsertionSort,
    &geometry::jarvis_march::JarvisMarch,
    &strings::kmp_matcher::KmpMatcher,
    &dynamic_programming::lcs_length::LcsLength,
    &dynamic_programming::matrix_chain_order::MatrixChainOrder,
    &searching::minimum::Minimum,
    &graphs::mst_kruskal::MstKruskal,
    &graphs::mst_prim::MstPrim,
    &strings::naive_string_matcher::NaiveStringMatcher,
    &dynamic_programming::optimal_bst::OptimalBst,
    &searching::quickselect::Quickselect,
    &sorting::quicksort::Quicksort,
    &geometry::segments_intersect::SegmentsIntersect,
    &graphs::strongly_connected_components::StronglyConnectedComponents,
    &greedy::task_scheduling::TaskScheduling,
    &graphs::topological_sort::TopologicalSort,
    &divide_and_conquer::find_maximum_subarray::FindMaximumSubarray,
    &graphs::bipartite_matching::BipartiteMatching,
];
