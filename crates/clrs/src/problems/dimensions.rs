use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, range, truncate};
use crate::random::RandomState;

/// A chain of matrices to multiply, as their dimensions: matrix `i` has `dimensions[i - 1]` rows and `dimensions[i]` columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixChain {
    /// One more than there are matrices. Any numbers from 0 on, as the benchmark draws them.
    pub dimensions: Vec<f64>,
}

impl Problem for MatrixChain {
    fn nodes(&self) -> usize {
        self.dimensions.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("dimensions", &self.dimensions)?;
        ensure_valid(self.dimensions.iter().all(|&dimension| dimension >= 0.0), || {
            "`dimensions` holds a negative number".into()
        })?;
        measurable("dimensions", &self.dimensions)
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.dimensions, decimals);
    }
}

crate::options! {
    /// Dimensions drawn evenly from a range.
    pub struct UniformDimensions {
        /// smallest dimension
        low: f64 = 0.0,
        /// bound that dimensions stay below
        high: f64 = 1.0,
    }
}

impl Distribution for UniformDimensions {
    type Problem = MatrixChain;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        let &UniformDimensions { low, high } = self;
        range(low, high)?;
        ensure_valid(low >= 0.0, || format!("`low` is {low}: no matrix has a negative dimension"))?;
        // Doubles are multiples of 2^-53, so that what is drawn below such a bound is measurable.
        ensure_valid(high == 0.0 || (1e-80..=1e100).contains(&high), || {
            format!("`high` is {high}: it must be 0 or from 1e-80 to 1e100")
        })?;
        measurable("low", &[low])
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<MatrixChain, InvalidProblem> {
        Ok(MatrixChain { dimensions: random.uniforms(self.low, self.high, size) })
    }
}
