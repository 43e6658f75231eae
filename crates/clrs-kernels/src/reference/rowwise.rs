//! References of [`crate::rowwise`] and [`crate::sinkhorn`].

use super::{ReferenceOp, softmax, softmax_backward};

/// Reference of [`crate::rowwise::layer_norm`]. Inputs: rows, scale and offset.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    /// Number of rows.
    pub rows: usize,
    /// Length of a row.
    pub len: usize,
}

/// The row scaled to mean 0 and variance 1, and the scale factor.
fn normalize(row: &[f64]) -> (Vec<f64>, f64) {
    let len = row.len() as f64;
    let mean = row.iter().sum::<f64>() / len;
    let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / len;
    let factor = 1.0 / (variance + 1e-5).sqrt();
    (row.iter().map(|x| (x - mean) * factor).collect(), factor)
}

impl ReferenceOp for LayerNorm {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("rows", self.rows * self.len), ("scale", self.len), ("offset", self.len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let rows = inputs[0].chunks_exact(self.len).map(|row| normalize(row).0);
        let out =
            rows.flat_map(|row| row.into_iter().enumerate().map(|(k, x)| x * inputs[1][k] + inputs[2][k]).collect::<Vec<_>>());
        (out.collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d = vec![Vec::new(), vec![0.0; self.len], vec![0.0; self.len]];
        for (row, d_y) in inputs[0].chunks_exact(self.len).zip(d_output.chunks_exact(self.len)) {
            let (normalized, factor) = normalize(row);
            let d_normal: Vec<f64> = d_y.iter().zip(&inputs[1]).map(|(d, scale)| d * scale).collect();
            let mean = d_normal.iter().sum::<f64>() / self.len as f64;
            let projection = d_normal.iter().zip(&normalized).map(|(d, x)| d * x).sum::<f64>() / self.len as f64;
            d[0].extend(d_normal.iter().zip(&normalized).map(|(d, x)| factor * (d - mean - projection * x)));
            for k in 0..self.len {
                d[1][k] += d_y[k] * normalized[k];
                d[2][k] += d_y[k];
            }
        }
        d
    }
}

/// Reference of [`crate::rowwise::softmax`] and [`crate::rowwise::log_softmax`]. Input: rows.
#[derive(Clone, Debug)]
pub struct Softmax {
    /// Number of rows.
    pub rows: usize,
    /// Length of a row.
    pub len: usize,
    /// Whether the result is the logarithm of the softmax.
    pub log: bool,
}

fn log_softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = row.iter().map(|x| (x - max).exp()).sum::<f64>();
    row.iter().map(|x| x - max - total.ln()).collect()
}

fn log_softmax_backward(y: &[f64], d_y: &[f64]) -> Vec<f64> {
    let total = d_y.iter().sum::<f64>();
    y.iter().zip(d_y).map(|(y, d)| d - y.exp() * total).collect()
}

impl ReferenceOp for Softmax {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("rows", self.rows * self.len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let rows = inputs[0].chunks_exact(self.len);
        (rows.flat_map(|row| if self.log { log_softmax(row) } else { softmax(row) }).collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let rows = inputs[0].chunks_exact(self.len).zip(d_output.chunks_exact(self.len));
        let back = |(row, d): (&[f64], &[f64])| {
            if self.log { log_softmax_backward(&log_softmax(row), d) } else { softmax_backward(&softmax(row), d) }
        };
        vec![rows.flat_map(back).collect()]
    }
}

/// Reference of [`crate::sinkhorn`]. Input: logits. The diagonal of the output, about -1e6, is replaced by 0, and has no gradient.
#[derive(Clone, Debug)]
pub struct Sinkhorn {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of normalizations of rows and columns.
    pub iterations: usize,
}

fn transpose(n: usize, x: &[f64]) -> Vec<f64> {
    (0..n * n).map(|at| x[at % n * n + at / n]).collect()
}

impl Sinkhorn {
    /// The result of each normalization; those of columns are transposed.
    fn iterates(&self, logits: &[f64]) -> Vec<Vec<f64>> {
        let n = self.nodes;
        let diagonal = |at: usize| if at.is_multiple_of(n + 1) { -1e6 } else { 0.0 };
        let mut all: Vec<Vec<f64>> = Vec::new();
        let mut now: Vec<f64> = logits.iter().enumerate().map(|(at, x)| x / 0.1 + diagonal(at)).collect();
        for _ in 0..2 * self.iterations {
            all.push(now.chunks_exact(n).flat_map(log_softmax).collect());
            now = transpose(n, &all[all.len() - 1]);
        }
        all
    }
}

impl ReferenceOp for Sinkhorn {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("logits", self.nodes * self.nodes)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let last = self.iterates(&inputs[0]).pop().expect("at least one iteration");
        let mut out = transpose(self.nodes, &last);
        out.iter_mut().step_by(self.nodes + 1).for_each(|x| *x = 0.0);
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let n = self.nodes;
        let mut d = d_output.to_vec();
        d.iter_mut().step_by(n + 1).for_each(|d| *d = 0.0);
        for iterate in self.iterates(&inputs[0]).iter().rev() {
            // Columns first: they were normalized last.
            d = transpose(n, &d);
            d = iterate.chunks_exact(n).zip(d.chunks_exact(n)).flat_map(|(y, d)| log_softmax_backward(y, d)).collect();
        }
        vec![d.iter().map(|d| d / 0.1).collect()]
    }
}
