//! An algorithm, a distribution and a processor in a crate of their own.
//!
//! Nothing in the other crates knows them: [`registries`] adds them to the built-in ones, and recipes name them like any other.

pub mod mean;
pub mod nearly_sorted;
pub mod selection_sort;

use clrs_nn::Registries;

pub use mean::MEAN;
pub use nearly_sorted::NearlySortedKeys;
pub use selection_sort::SelectionSort;

/// The built-in algorithms and processors, and those of this crate.
pub fn registries() -> Registries {
    let Registries { algorithms, processors } = Registries::builtin();
    Registries { algorithms: algorithms.with(&SelectionSort), processors: processors.with(MEAN) }
}
