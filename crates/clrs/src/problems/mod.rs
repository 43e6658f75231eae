//! Problems and their distributions. A problem is sampled, parsed from JSON, or recovered from stored inputs, and is always
//! validated before an algorithm runs on it. Each file contains a problem type and its distribution.

mod activities;
mod bipartite;
mod dimensions;
mod graph;
mod graph_family;
mod keys;
mod letters;
mod lookup;
mod matrix;
mod points;
mod random_graph;
mod search_probabilities;
mod segments;
mod string_pair;
mod string_search;
mod tasks;

pub use activities::{Activities, UniformActivities};
pub use bipartite::{BipartiteGraph, BipartiteOptions, RandomBipartiteGraphs};
pub use dimensions::{MatrixChain, UniformDimensions};
pub use graph::{Graph, SourcedGraph};
pub use graph_family::{FamilyOptions, GraphFamily};
pub use keys::{Keys, UniformKeys};
pub use letters::Letters;
pub use lookup::{Lookup, UniformLookups};
pub use matrix::Matrix;
pub use points::{DiskPoints, Points};
pub use random_graph::{CommunityOptions, ErdosRenyiOptions, RandomGraphs, RandomSourcedGraphs, Structure, WeightOptions};
pub use search_probabilities::{RandomSearchProbabilities, SearchProbabilities};
pub use segments::{RandomSegments, Segments};
pub use string_pair::{RandomStringPairs, StringPair};
pub use string_search::{EmbeddedPatterns, StringSearch};
pub use tasks::{Tasks, UniformTasks};

use crate::column::ColumnError;
use crate::random::RandomState;
use crate::sampling::Options;

/// A problem that an algorithm cannot run on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum InvalidProblem {
    #[error("not a problem of this algorithm: {0}")]
    Json(#[source] serde_json::Error),
    #[error(transparent)]
    Column(#[from] ColumnError),
    #[error("{0}")]
    Rule(String),
    #[error("{0}")]
    NotSampled(String),
}

/// The problem type of an algorithm.
pub trait Problem: Sized + Send + Sync + serde::Serialize + serde::de::DeserializeOwned + 'static {
    /// Number of nodes.
    fn nodes(&self) -> usize;
    /// Checks what the type does not guarantee, such as indices in range and finite values.
    fn validate(&self) -> Result<(), InvalidProblem>;

    /// Truncates every real number to `decimals` decimals, for the option `truncate_decimals`. Integers stay the same.
    fn truncate(&mut self, decimals: u32);

    /// Parses JSON. The result is not validated.
    fn from_json(text: &str) -> Result<Self, InvalidProblem> {
        serde_json::from_str(text).map_err(InvalidProblem::Json)
    }

    /// Formats as JSON, which [`from_json`](Problem::from_json) parses.
    ///
    /// # Panics
    /// Never: every problem consists of lists of numbers with fixed names.
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("lists of numbers with fixed names")
    }
}

/// A distribution of problems, with its options.
pub trait Distribution: Options + Clone + Send + Sync + 'static {
    /// The problem type.
    type Problem: Problem;

    /// Checks the options for a size, such as probabilities between 0 and 1, or a pattern shorter than the text.
    fn validate(&self, size: usize) -> Result<(), InvalidProblem>;

    /// Samples a problem. The size is the number of nodes unless the distribution documents otherwise; the options are valid.
    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Self::Problem, InvalidProblem>;

    /// Samples a problem with values truncated to `decimals` decimals.
    fn draw_truncated(&self, size: usize, decimals: u32, random: &mut RandomState) -> Result<Self::Problem, InvalidProblem> {
        let mut problem = self.draw(size, random)?;
        problem.truncate(decimals);
        Ok(problem)
    }
}

/// Returns `Ok` if the condition holds. For use in `validate`, `preconditions` and `problem`.
pub fn ensure_valid(condition: bool, message: impl FnOnce() -> String) -> Result<(), InvalidProblem> {
    if condition { Ok(()) } else { Err(InvalidProblem::Rule(message())) }
}

/// Checks that all values are finite. On NaN dm-clrs does not terminate.
pub fn finite(name: &str, values: &[f64]) -> Result<(), InvalidProblem> {
    ensure_valid(values.iter().all(|x| x.is_finite()), || format!("`{name}` has a value that is not finite"))
}

/// Checks that products of three values neither overflow nor underflow, so that comparisons of products are meaningful.
pub fn measurable(name: &str, values: &[f64]) -> Result<(), InvalidProblem> {
    let measurable = |value: &f64| *value == 0.0 || (1e-100..=1e100).contains(&value.abs());
    ensure_valid(values.iter().all(measurable), || {
        format!("`{name}` has a value that is neither 0 nor between 1e-100 and 1e100 in magnitude")
    })
}

/// Checks an option that is a list of probabilities.
pub fn probabilities(name: &str, values: &[f64]) -> Result<(), InvalidProblem> {
    ensure_valid(values.iter().all(|p| (0.0..=1.0).contains(p)), || {
        format!("`{name}` has a probability that is not between 0 and 1")
    })
}

/// Checks the options `low` and `high`.
pub fn range(low: f64, high: f64) -> Result<(), InvalidProblem> {
    ensure_valid(low <= high, || format!("`low` ({low}) is greater than `high` ({high})"))?;
    ensure_valid((high - low).is_finite(), || "`low` and `high` are too far apart".into())
}

/// Truncates values to `decimals` decimals. Not idempotent: the product rounds, as in dm-clrs.
#[expect(clippy::cast_possible_wrap, reason = "at most 15 decimals")]
pub fn truncate(values: &mut [f64], decimals: u32) {
    let scale = 10f64.powi(decimals as i32);
    for value in values {
        *value = (*value * scale).trunc() / scale;
    }
}

/// The position input of most algorithms: `i / n`.
pub fn positions(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / n as f64).collect()
}
