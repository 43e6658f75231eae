//! References of [`crate::max_pool`] and [`crate::narrow`].

use std::ops::Range;

use super::{ReferenceOp, max_with_gap};

/// Reference of [`crate::max_pool`]. Input: `x`, `[N, D]`.
#[derive(Clone, Debug)]
pub struct MaxPool {
    /// `N`
    pub nodes: usize,
    /// `D`
    pub dim: usize,
}

impl ReferenceOp for MaxPool {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.nodes * self.dim)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let out = (0..self.dim).map(|k| max_with_gap(inputs[0][k..].iter().step_by(self.dim).copied()).1).collect();
        // Inputs are compared as they are: no decision depends on rounding.
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![0.0; inputs[0].len()];
        for (k, d_out) in d_output.iter().enumerate() {
            let row = max_with_gap(inputs[0][k..].iter().step_by(self.dim).copied()).0;
            d[row * self.dim + k] = *d_out;
        }
        vec![d]
    }
}

/// Reference of [`crate::narrow`]. Input: `x`, `[R, W]`.
#[derive(Clone, Debug)]
pub struct Narrow {
    /// `R`
    pub rows: usize,
    /// `W`
    pub width: usize,
    /// The columns taken.
    pub range: Range<usize>,
}

impl ReferenceOp for Narrow {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.rows * self.width)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let columns = |row: usize| self.range.clone().map(move |column| inputs[0][row * self.width + column]);
        ((0..self.rows).flat_map(columns).collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![0.0; inputs[0].len()];
        let len = self.range.len();
        for row in 0..self.rows {
            for k in 0..len {
                d[row * self.width + self.range.start + k] = d_output[row * len + k];
            }
        }
        vec![d]
    }
}
