//! References of [`crate::expand`] and [`crate::pairwise_sum`].

use super::ReferenceOp;

/// Reference of [`crate::expand`]. Input: `x`, `[R, D]`.
#[derive(Clone, Debug)]
pub struct Expand {
    /// `R`
    pub rows: usize,
    /// `D`
    pub dim: usize,
    /// Copies of each row.
    pub copies: usize,
}

impl Expand {
    /// Index into `x` of an element of the output.
    fn source(&self, at: usize) -> usize {
        at / (self.copies * self.dim) * self.dim + at % self.dim
    }
}

impl ReferenceOp for Expand {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.rows * self.dim)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let out = (0..self.rows * self.copies * self.dim).map(|at| inputs[0][self.source(at)]);
        (out.collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![0.0; inputs[0].len()];
        for (at, d_out) in d_output.iter().enumerate() {
            d[self.source(at)] += d_out;
        }
        vec![d]
    }
}

/// Reference of [`crate::pairwise_sum`]. Inputs: `first` and `second`, `[N, D]` each.
#[derive(Clone, Debug)]
pub struct PairwiseSum {
    /// `N`
    pub nodes: usize,
    /// `D`
    pub dim: usize,
}

impl PairwiseSum {
    /// Indices into `first` and `second` of an element of the output.
    fn sources(&self, at: usize) -> [usize; 2] {
        let (pair, k) = (at / self.dim, at % self.dim);
        [pair / self.nodes, pair % self.nodes].map(|node| node * self.dim + k)
    }
}

impl ReferenceOp for PairwiseSum {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("first", self.nodes * self.dim), ("second", self.nodes * self.dim)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let sum = |at: usize| {
            let [first, second] = self.sources(at);
            inputs[0][first] + inputs[1][second]
        };
        ((0..self.nodes * self.nodes * self.dim).map(sum).collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![vec![0.0; inputs[0].len()], vec![0.0; inputs[1].len()]];
        for (at, d_out) in d_output.iter().enumerate() {
            let [first, second] = self.sources(at);
            d[0][first] += d_out;
            d[1][second] += d_out;
        }
        d
    }
}
