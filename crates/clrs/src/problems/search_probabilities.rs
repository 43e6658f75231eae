use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, truncate};
use crate::pairwise::pairwise_sum;
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionInfo, Options};

/// Probabilities of searches in a binary search tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchProbabilities {
    /// Probability that a search is for the key.
    pub key_probabilities: Vec<f64>,
    /// Probability that a search ends before the first key, between two keys, or after the last key: one more than the number of
    /// keys.
    pub gap_probabilities: Vec<f64>,
}

impl Problem for SearchProbabilities {
    fn nodes(&self) -> usize {
        self.gap_probabilities.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let SearchProbabilities { key_probabilities, gap_probabilities } = self;
        ensure_valid(key_probabilities.len() + 1 == gap_probabilities.len(), || {
            format!(
                "`gap_probabilities` must have one value more than `key_probabilities`: found {} and {}",
                gap_probabilities.len(),
                key_probabilities.len()
            )
        })?;
        finite("key_probabilities", key_probabilities)?;
        finite("gap_probabilities", gap_probabilities)?;
        let probabilities = || key_probabilities.iter().chain(gap_probabilities);
        ensure_valid(probabilities().all(|&p| p >= 0.0), || "a probability is negative".into())?;
        // Values stored as f32 may sum to slightly more than 1; truncated values sum to less.
        let sum: f64 = probabilities().sum();
        ensure_valid(sum <= 1.0 + 1e-6, || format!("the probabilities sum to {sum}, more than 1"))
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.key_probabilities, decimals);
        truncate(&mut self.gap_probabilities, decimals);
    }
}

/// Uniform values scaled to sum to 1. The size is the number of keys, one less than the number of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RandomSearchProbabilities;

impl Options for RandomSearchProbabilities {
    fn options(&self) -> Vec<OptionInfo> {
        Vec::new()
    }

    fn try_set(&mut self, _name: &str, _value: &str) -> Option<Result<(), InvalidValue>> {
        None
    }
}

impl Distribution for RandomSearchProbabilities {
    type Problem = SearchProbabilities;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        Ok(())
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<SearchProbabilities, InvalidProblem> {
        let mut key_probabilities = random.uniforms(0.0, 1.0, size + (size + 1));
        let sum = pairwise_sum(&key_probabilities);
        for p in &mut key_probabilities {
            *p /= sum;
        }
        let gap_probabilities = key_probabilities.split_off(size);
        Ok(SearchProbabilities { key_probabilities, gap_probabilities })
    }
}
