use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, range, truncate};
use crate::random::RandomState;

/// Tasks that take one unit of time each, and are worth their weight when they are done by their deadline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// By when each should be done: 1, 2, ..
    pub deadline: Vec<u32>,
    /// What each is worth.
    pub weight: Vec<f64>,
}

impl Problem for Tasks {
    fn nodes(&self) -> usize {
        self.deadline.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let Tasks { deadline, weight } = self;
        ensure_valid(deadline.len() == weight.len(), || {
            format!("`deadline` has {} numbers, `weight` {}", deadline.len(), weight.len())
        })?;
        ensure_valid(!deadline.contains(&0), || "`deadline` holds a 0: a task takes one unit of time".into())?;
        finite("weight", weight)
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.weight, decimals);
    }
}

crate::options! {
    /// Deadlines and weights, each drawn evenly.
    pub struct UniformTasks {
        /// latest deadline (auto: the number of tasks)
        max_deadline: Option<u32> = None,
        /// smallest weight
        low: f64 = 0.0,
        /// bound that weights stay below
        high: f64 = 1.0,
    }
}

impl Distribution for UniformTasks {
    type Problem = Tasks;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        ensure_valid(self.max_deadline != Some(0), || "`max_deadline` is 0: a task takes one unit of time".into())?;
        range(self.low, self.high)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Tasks, InvalidProblem> {
        let latest = self.max_deadline.map_or(size, |latest| latest as usize);
        let deadline = |before| u32::try_from(before + 1).expect("at most `latest`");
        let deadline = random.choices(latest, size).into_iter().map(deadline).collect();
        Ok(Tasks { deadline, weight: random.uniforms(self.low, self.high, size) })
    }
}
