use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, finite, range, truncate};
use crate::random::RandomState;

/// Keys and a target to search for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// One key per node.
    pub key: Vec<f64>,
    /// The value to search for.
    pub target: f64,
    /// Whether the keys may be in any order; otherwise they must be sorted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsorted: bool,
}

impl Problem for Lookup {
    fn nodes(&self) -> usize {
        self.key.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("key", &self.key)?;
        finite("target", &[self.target])
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.key, decimals);
        truncate(std::slice::from_mut(&mut self.target), decimals);
    }
}

crate::options! {
    /// Uniformly distributed keys, and a target from the same range.
    pub struct UniformLookups {
        /// lower bound of keys and target
        low: f64 = 0.0,
        /// exclusive upper bound of keys and target
        high: f64 = 1.0,
        /// whether the keys are sorted
        sorted: bool = true,
    }
}

impl Distribution for UniformLookups {
    type Problem = Lookup;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        range(self.low, self.high)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Lookup, InvalidProblem> {
        let mut key = random.uniforms(self.low, self.high, size);
        if self.sorted {
            key.sort_by(f64::total_cmp);
        }
        Ok(Lookup { key, target: random.uniform(self.low, self.high), unsorted: !self.sorted })
    }
}
