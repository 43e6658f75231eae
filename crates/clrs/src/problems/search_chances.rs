use serde::{Deserialize, Serialize};

use super::{Distribution, Invalid, Problem, finite, rule, truncate};
use crate::pairwise::pairwise_sum;
use crate::random::RandomState;
use crate::sampling::{BadValue, OptionInfo, Options};

/// How often each key of a search tree is looked for, and how often something that is not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchChances {
    /// Chance that a search is for the key.
    pub key_chances: Vec<f64>,
    /// Chance that a search ends before the first key, between two, or after the last: one more than keys.
    pub gap_chances: Vec<f64>,
}

impl Problem for SearchChances {
    fn nodes(&self) -> usize {
        self.gap_chances.len()
    }

    fn validate(&self) -> Result<(), Invalid> {
        let SearchChances { key_chances, gap_chances } = self;
        rule(key_chances.len() + 1 == gap_chances.len(), || {
            format!("{} keys have {} gaps around them, not {}", key_chances.len(), key_chances.len() + 1, gap_chances.len())
        })?;
        finite("key_chances", key_chances)?;
        finite("gap_chances", gap_chances)?;
        let chances = || key_chances.iter().chain(gap_chances);
        rule(chances().all(|&chance| chance >= 0.0), || "there is a chance below 0".into())?;
        // Numbers that were kept as f32 may sum to a little more than they did; truncated ones sum to less.
        let sum: f64 = chances().sum();
        rule(sum <= 1.0 + 1e-6, || format!("the chances sum to {sum}, more than 1"))
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.key_chances, decimals);
        truncate(&mut self.gap_chances, decimals);
    }
}

/// Chances drawn evenly and scaled to sum to 1. The size is the number of keys; there is a node more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RandomSearchChances;

impl Options for RandomSearchChances {
    fn options(&self) -> Vec<OptionInfo> {
        Vec::new()
    }

    fn try_set(&mut self, _name: &str, _value: &str) -> Option<Result<(), BadValue>> {
        None
    }
}

impl Distribution for RandomSearchChances {
    type Problem = SearchChances;

    fn validate(&self, _size: usize) -> Result<(), Invalid> {
        Ok(())
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<SearchChances, Invalid> {
        let mut key_chances = random.uniforms(0.0, 1.0, size + (size + 1));
        let sum = pairwise_sum(&key_chances);
        for chance in &mut key_chances {
            *chance /= sum;
        }
        let gap_chances = key_chances.split_off(size);
        Ok(SearchChances { key_chances, gap_chances })
    }
}
