use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, range, truncate};
use crate::random::RandomState;

/// Activities that compete for one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activities {
    /// Start times.
    pub start: Vec<f64>,
    /// Finish times, not before the start times.
    pub finish: Vec<f64>,
}

impl Problem for Activities {
    fn nodes(&self) -> usize {
        self.start.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let Activities { start, finish } = self;
        ensure_valid(start.len() == finish.len(), || {
            format!("`start` and `finish` have different lengths: {} and {}", start.len(), finish.len())
        })?;
        finite("start", start)?;
        finite("finish", finish)?;
        let reversed = start.iter().zip(finish).position(|(start, finish)| start > finish);
        ensure_valid(reversed.is_none(), || format!("activity {} finishes before it starts", reversed.unwrap_or_default()))
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.start, decimals);
        truncate(&mut self.finish, decimals);
    }
}

crate::options! {
    /// Activities whose start and finish are two uniformly distributed times.
    pub struct UniformActivities {
        /// lower bound of times
        low: f64 = 0.0,
        /// exclusive upper bound of times
        high: f64 = 1.0,
    }
}

impl Distribution for UniformActivities {
    type Problem = Activities;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        range(self.low, self.high)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Activities, InvalidProblem> {
        let one = random.uniforms(self.low, self.high, size);
        let other = random.uniforms(self.low, self.high, size);
        let (start, finish) = one.into_iter().zip(other).map(|(one, other)| (one.min(other), one.max(other))).unzip();
        Ok(Activities { start, finish })
    }
}
