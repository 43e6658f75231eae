//! Brute-force oracles for outputs, independent of the algorithms and their checks. One file per family.

mod depth_first;
mod divide_and_conquer;
mod dynamic_programming;
mod geometry;
mod graphs;
mod greedy;
mod searching;
mod sorting;
mod strings;

use clrs::{Cells, Family, Registry};

/// Whether the outputs, in spec order, are correct.
pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> bool {
    let family = Registry::builtin().find(algorithm).expect("a built-in algorithm").family();
    let correct = match family {
        Family::DivideAndConquer => divide_and_conquer::is_correct(algorithm, problem, outputs),
        Family::DynamicProgramming => dynamic_programming::is_correct(algorithm, problem, outputs),
        Family::Geometry => geometry::is_correct(algorithm, problem, outputs),
        Family::Graphs => {
            depth_first::is_correct(algorithm, problem, outputs).or_else(|| graphs::is_correct(algorithm, problem, outputs))
        }
        Family::Greedy => greedy::is_correct(algorithm, problem, outputs),
        Family::Searching => searching::is_correct(algorithm, problem, outputs),
        Family::Sorting => sorting::is_correct(algorithm, problem, outputs),
        Family::Strings => strings::is_correct(algorithm, problem, outputs),
    };
    correct.unwrap_or_else(|| panic!("no oracle for {algorithm}"))
}
