//! Answers judged by brute force, by other ways than the algorithms and their checks take. A file per family.

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

/// Whether the outputs, in the order of the spec, answer the problem.
pub(crate) fn is_right(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> bool {
    let family = Registry::builtin().find(algorithm).expect("listed").family();
    let verdict = match family {
        Family::DivideAndConquer => divide_and_conquer::is_right(algorithm, problem, outputs),
        Family::DynamicProgramming => dynamic_programming::is_right(algorithm, problem, outputs),
        Family::Geometry => geometry::is_right(algorithm, problem, outputs),
        Family::Graphs => {
            depth_first::is_right(algorithm, problem, outputs).or_else(|| graphs::is_right(algorithm, problem, outputs))
        }
        Family::Greedy => greedy::is_right(algorithm, problem, outputs),
        Family::Searching => searching::is_right(algorithm, problem, outputs),
        Family::Sorting => sorting::is_right(algorithm, problem, outputs),
        Family::Strings => strings::is_right(algorithm, problem, outputs),
    };
    verdict.unwrap_or_else(|| panic!("no oracle knows {algorithm}"))
}
