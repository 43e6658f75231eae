use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, range, truncate};
use crate::random::RandomState;

/// Unit-time tasks, each with a deadline and a penalty (`weight`) for missing it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// Deadlines, at least 1.
    pub deadline: Vec<u32>,
    /// Penalties for missing the deadlines.
    pub weight: Vec<f64>,
}

impl Problem for Tasks {
    fn nodes(&self) -> usize {
        self.deadline.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let Tasks { deadline, weight } = self;
        ensure_valid(deadline.len() == weight.len(), || {
            format!("`deadline` and `weight` have different lengths: {} and {}", deadline.len(), weight.len())
        })?;
        ensure_valid(!deadline.contains(&0), || "`deadline` has a 0; deadlines must be at least 1".into())?;
        finite("weight", weight)
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.weight, decimals);
    }
}

crate::options! {
    /// Uniformly distributed deadlines and weights.
    pub struct UniformTasks {
        /// largest deadline (auto: the number of tasks)
        max_deadline: Option<u32> = None,
        /// lower bound of weights
        low: f64 = 0.0,
        /// exclusive upper bound of weights
        high: f64 = 1.0,
    }
}

impl Distribution for UniformTasks {
    type Problem = Tasks;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        ensure_valid(self.max_deadline != Some(0), || "`max_deadline` is 0; it must be at least 1".into())?;
        range(self.low, self.high)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Tasks, InvalidProblem> {
        let latest = self.max_deadline.map_or(size, |latest| latest as usize);
        let deadline = |index| u32::try_from(index + 1).expect("at most the largest deadline");
        let deadline = random.choices(latest, size).into_iter().map(deadline).collect();
        Ok(Tasks { deadline, weight: random.uniforms(self.low, self.high, size) })
    }
}
