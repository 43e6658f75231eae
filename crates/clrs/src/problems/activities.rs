use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, range, truncate};
use crate::random::RandomState;

/// Activities that want the same room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activities {
    /// When each begins.
    pub start: Vec<f64>,
    /// When each ends: not before it begins.
    pub finish: Vec<f64>,
}

impl Problem for Activities {
    fn nodes(&self) -> usize {
        self.start.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let Activities { start, finish } = self;
        ensure_valid(start.len() == finish.len(), || format!("`start` has {} numbers, `finish` {}", start.len(), finish.len()))?;
        finite("start", start)?;
        finite("finish", finish)?;
        let reversed = start.iter().zip(finish).position(|(start, finish)| start > finish);
        ensure_valid(reversed.is_none(), || format!("activity {} ends before it begins", reversed.unwrap_or_default()))
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.start, decimals);
        truncate(&mut self.finish, decimals);
    }
}

crate::options! {
    /// Activities between two times drawn evenly from a range.
    pub struct UniformActivities {
        /// earliest time
        low: f64 = 0.0,
        /// bound that times stay below
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
