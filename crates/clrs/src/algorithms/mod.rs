//! The algorithms, a folder per family and a file each.

pub mod divide_and_conquer;
pub mod dynamic_programming;
pub mod geometry;
pub mod graphs;
pub mod greedy;
pub mod order;
pub mod searching;
pub mod sorting;
pub mod strings;

use crate::algorithm::AnyAlgorithm;

/// One line per algorithm, in the reference's order: the thirty of the paper, then the two it carries beside them.
pub(crate) static BUILTIN: &[&dyn AnyAlgorithm] =
    &[&graphs::bfs::Bfs, &graphs::bridges::Bridges, &sorting::insertion_sort::InsertionSort];
