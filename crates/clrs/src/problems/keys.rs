use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, finite, range, truncate};
use crate::random::RandomState;

/// Numbers to sort, select from or add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// One per node.
    pub key: Vec<f64>,
}

impl Problem for Keys {
    fn nodes(&self) -> usize {
        self.key.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("key", &self.key)
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.key, decimals);
    }
}

crate::options! {
    /// Keys drawn evenly from a range.
    pub struct UniformKeys {
        /// smallest key
        low: f64 = 0.0,
        /// bound that keys stay below
        high: f64 = 1.0,
    }
}

impl Distribution for UniformKeys {
    type Problem = Keys;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        range(self.low, self.high)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: random.uniforms(self.low, self.high, size) })
    }
}
