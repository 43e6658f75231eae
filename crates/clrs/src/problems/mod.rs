//! What algorithms are given. A problem is drawn from a distribution, read from the user's JSON or recovered from stored
//! inputs; either way it is valid before an algorithm sees it. A problem and its distribution share a file.

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

/// Why a problem cannot be run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum InvalidProblem {
    #[error("not a problem of this algorithm: {0}")]
    Json(serde_json::Error),
    #[error(transparent)]
    Column(#[from] ColumnError),
    #[error("{0}")]
    Rule(String),
}

/// What an algorithm is given.
pub trait Problem: Sized + Send + Sync + serde::Serialize + serde::de::DeserializeOwned + 'static {
    /// Number of nodes.
    fn nodes(&self) -> usize;
    /// What serde cannot say: indices in range, finite numbers.
    fn validate(&self) -> Result<(), InvalidProblem>;

    /// Cuts every real number to so many decimals, as `truncate_decimals` asks. Whole numbers stay as they are.
    fn truncate(&mut self, decimals: u32);

    /// Reads the user's text. Recording validates it.
    fn from_json(text: &str) -> Result<Self, InvalidProblem> {
        serde_json::from_str(text).map_err(InvalidProblem::Json)
    }

    /// The text that `from_json` reads.
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers in lists under fixed names")
    }
}

/// A distribution of problems, with its options.
pub trait Distribution: Options + Clone + Send + Sync + 'static {
    /// What is drawn.
    type Problem: Problem;

    /// What the options, together and for this size, cannot be: a chance above 1, a needle longer than the text.
    fn validate(&self, size: usize) -> Result<(), InvalidProblem>;

    /// Draws a problem of a size: the number of nodes, unless the distribution says otherwise. Options are valid.
    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Self::Problem, InvalidProblem>;

    /// Draws a problem whose numbers have so many decimals.
    fn draw_truncated(&self, size: usize, decimals: u32, random: &mut RandomState) -> Result<Self::Problem, InvalidProblem> {
        let mut problem = self.draw(size, random)?;
        problem.truncate(decimals);
        Ok(problem)
    }
}

/// `Ok` if it holds; for `validate`, `admits` and `problem`.
pub fn ensure_valid(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), InvalidProblem> {
    if holds { Ok(()) } else { Err(InvalidProblem::Rule(otherwise())) }
}

/// The rule that numbers are numbers: on NaN the reference never ends.
pub fn finite(name: &str, numbers: &[f64]) -> Result<(), InvalidProblem> {
    ensure_valid(numbers.iter().all(|x| x.is_finite()), || format!("`{name}` holds a number that is not finite"))
}

/// The rule that products of three numbers neither overflow nor vanish: then what is compared is what was meant.
pub fn measurable(name: &str, numbers: &[f64]) -> Result<(), InvalidProblem> {
    let measurable = |number: &f64| *number == 0.0 || (1e-100..=1e100).contains(&number.abs());
    ensure_valid(numbers.iter().all(measurable), || {
        format!("`{name}` holds a number that is neither 0 nor of a size from 1e-100 to 1e100")
    })
}

/// Checks an option that is a list of probabilities.
pub fn probabilities(name: &str, values: &[f64]) -> Result<(), InvalidProblem> {
    ensure_valid(values.iter().all(|p| (0.0..=1.0).contains(p)), || {
        format!("`{name}` has a probability that is not between 0 and 1")
    })
}

/// The rule of every pair of options that bound a range.
pub fn range(low: f64, high: f64) -> Result<(), InvalidProblem> {
    ensure_valid(low <= high, || format!("`low` is {low}, above `high`, which is {high}"))?;
    ensure_valid((high - low).is_finite(), || "`low` and `high` are too far apart".into())
}

/// Cuts numbers to so many decimals. Not idempotent: the product rounds, as the reference's does.
#[expect(clippy::cast_possible_wrap, reason = "options allow a few decimals")]
pub fn truncate(numbers: &mut [f64], decimals: u32) {
    let scale = 10f64.powi(decimals as i32);
    for number in numbers {
        *number = (*number * scale).trunc() / scale;
    }
}

/// The position input of most algorithms: `i / n`.
pub fn positions(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / n as f64).collect()
}
