//! The algorithms, a folder per family and a file each.

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

/// One line per algorithm, in the reference's order: the thirty of the paper, the two it carries beside them, then those
/// that only we have.
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
