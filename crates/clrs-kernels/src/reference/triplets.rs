//! Reference of [`crate::triplets`].

use super::{ReferenceOp, max_with_gap};

/// Reference of [`crate::triplets`]. Inputs: `a` and `b`.
#[derive(Clone, Debug)]
pub struct Triplets {
    /// Number of nodes.
    pub nodes: usize,
    /// Features per pair.
    pub features: usize,
}

impl Triplets {
    /// The `i` of the maximum, its value and its margin.
    fn argmax(&self, inputs: &[Vec<f64>], j: usize, k: usize, f: usize) -> (usize, f64, f64) {
        let at = |i: usize, second: usize| (i * self.nodes + second) * self.features + f;
        max_with_gap((0..self.nodes).map(|i| inputs[0][at(i, j)] + inputs[1][at(i, k)]))
    }

    /// All indices `(j, k, f)` of the output.
    fn each(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let (n, features) = (self.nodes, self.features);
        (0..n * n * features).map(move |at| (at / features / n, at / features % n, at % features))
    }
}

impl ReferenceOp for Triplets {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let len = self.nodes * self.nodes * self.features;
        vec![("a", len), ("b", len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let all = self.each().map(|(j, k, f)| self.argmax(inputs, j, k, f));
        let (values, gaps): (Vec<f64>, Vec<f64>) = all.map(|(_, value, gap)| (value, gap)).unzip();
        (values, gaps.into_iter().fold(f64::INFINITY, f64::min))
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![vec![0.0; inputs[0].len()]; 2];
        for ((j, k, f), d_out) in self.each().zip(d_output) {
            let i = self.argmax(inputs, j, k, f).0;
            d[0][(i * self.nodes + j) * self.features + f] += d_out;
            d[1][(i * self.nodes + k) * self.features + f] += d_out;
        }
        d
    }
}
