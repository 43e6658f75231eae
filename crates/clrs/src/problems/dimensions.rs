use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, range, truncate};
use crate::random::RandomState;

/// A chain of matrices to multiply, given by their dimensions: matrix `i` has `dimensions[i - 1]` rows and `dimensions[i]` columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixChain {
    /// The dimensions, one more than the number of matrices. Non-negative; as in the benchmark, not necessarily integers.
    pub dimensions: Vec<f64>,
}

impl Problem for MatrixChain {
    fn nodes(&self) -> usize {
        self.dimensions.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("dimensions", &self.dimensions)?;
        ensure_valid(self.dimensions.iter().all(|&dimension| dimension >= 0.0), || "`dimensions` has a negative value".into())?;
        measurable("dimensions", &self.dimensions)
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(&mut self.dimensions, decimals);
    }
}

crate::options! {
    /// Uniformly distributed dimensions.
    pub struct UniformDimensions {
        /// lower bound of dimensions
        low: f64 = 0.0,
        /// exclusive upper bound of dimensions
        high: f64 = 1.0,
    }
}

impl Distribution for UniformDimensions {
    type Problem = MatrixChain;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        let &UniformDimensions { low, high } = self;
        range(low, high)?;
        ensure_valid(low >= 0.0, || format!("`low` is {low}; dimensions must not be negative"))?;
        // Random doubles are multiples of 2^-53, so all dimensions below such a bound are measurable.
        ensure_valid(high == 0.0 || (1e-80..=1e100).contains(&high), || {
            format!("`high` is {high:e}; it must be 0 or between 1e-80 and 1e100")
        })?;
        measurable("low", &[low])
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<MatrixChain, InvalidProblem> {
        Ok(MatrixChain { dimensions: random.uniforms(self.low, self.high, size) })
    }
}
