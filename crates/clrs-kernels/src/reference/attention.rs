//! Reference of [`crate::attention`].

use super::{ReferenceOp, add, matvec, matvec_backward, min_abs, softmax, softmax_backward};

const SLOPE: f64 = 0.01;

/// Reference of [`crate::attention`]. Inputs: query, key, edge features, edge weight, value, and with `has_score_weight` the score
/// weight.
#[derive(Clone, Debug)]
pub struct Attention {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of heads.
    pub heads: usize,
    /// Width of queries and keys.
    pub width: usize,
    /// Features per edge.
    pub channels: usize,
    /// Width of values.
    pub hidden: usize,
    /// Whether scores have a weight (`GATv2`), which is the sixth input.
    pub has_score_weight: bool,
    /// Which keys a query attends to, `[N, N]`, query first; `None` for all.
    pub adjacency: Option<Vec<bool>>,
}

impl Attention {
    /// The vector of a pair before the leaky `ReLU`.
    fn sum(&self, inputs: &[Vec<f64>], x: usize, y: usize) -> Vec<f64> {
        let (n, w, c) = (self.nodes, self.width, self.channels);
        let mut sum = matvec(&inputs[2][(x * n + y) * c..][..c], &inputs[3], w);
        add(&mut sum, &inputs[0][x * w..][..w]);
        add(&mut sum, &inputs[1][y * w..][..w]);
        sum
    }

    fn factor(&self, inputs: &[Vec<f64>], k: usize) -> f64 {
        if self.has_score_weight { inputs[5][k] } else { 1.0 }
    }

    /// The attention weights of a query in a head.
    fn weights(&self, inputs: &[Vec<f64>], x: usize, head: usize) -> Vec<f64> {
        let head_width = self.width / self.heads;
        let score = |y: usize| {
            let sum = self.sum(inputs, x, y);
            let leaky = |k: usize| if sum[k] > 0.0 { sum[k] } else { SLOPE * sum[k] };
            let score = (head * head_width..(head + 1) * head_width).map(|k| self.factor(inputs, k) * leaky(k)).sum::<f64>();
            match &self.adjacency {
                // dm-clrs adds in `f32`, where the score is lost: this makes the weights of a row without neighbors equal.
                #[expect(clippy::cast_possible_truncation, reason = "rounding as `f32` does is intended")]
                Some(adjacency) if !adjacency[x * self.nodes + y] => f64::from(score as f32 + -1e9),
                _ => score,
            }
        };
        softmax(&(0..self.nodes).map(score).collect::<Vec<f64>>())
    }
}

impl ReferenceOp for Attention {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let (n, w, c) = (self.nodes, self.width, self.channels);
        let mut all = vec![("query", n * w), ("key", n * w), ("edge_features", n * n * c), ("edge_weight", c * w)];
        all.push(("value", n * self.hidden));
        all.extend(self.has_score_weight.then_some(("score_weight", w)));
        all
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let (n, h) = (self.nodes, self.hidden);
        let head_dim = h / self.heads;
        let mut out = vec![0.0; n * h];
        for x in 0..n {
            for head in 0..self.heads {
                for (y, weight) in self.weights(inputs, x, head).into_iter().enumerate() {
                    for k in head * head_dim..(head + 1) * head_dim {
                        out[x * h + k] += weight * inputs[4][y * h + k];
                    }
                }
            }
        }
        let pairs = (0..n * n).map(|pair| min_abs(&self.sum(inputs, pair / n, pair % n)));
        (out, pairs.fold(f64::INFINITY, f64::min))
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (n, w, c, h) = (self.nodes, self.width, self.channels, self.hidden);
        let (head_width, head_dim) = (w / self.heads, h / self.heads);
        let mut d: Vec<Vec<f64>> = self.inputs().iter().map(|&(_, len)| vec![0.0; len]).collect();
        for x in 0..n {
            let mut d_sums = vec![vec![0.0; w]; n];
            for head in 0..self.heads {
                let weights = self.weights(inputs, x, head);
                let mut d_weights = vec![0.0; n];
                for y in 0..n {
                    for k in head * head_dim..(head + 1) * head_dim {
                        d_weights[y] += d_output[x * h + k] * inputs[4][y * h + k];
                        d[4][y * h + k] += weights[y] * d_output[x * h + k];
                    }
                }
                for (y, d_score) in softmax_backward(&weights, &d_weights).into_iter().enumerate() {
                    let sum = self.sum(inputs, x, y);
                    for k in head * head_width..(head + 1) * head_width {
                        let slope = if sum[k] > 0.0 { 1.0 } else { SLOPE };
                        d_sums[y][k] = d_score * self.factor(inputs, k) * slope;
                        if self.has_score_weight {
                            d[5][k] += d_score * slope * sum[k];
                        }
                    }
                }
            }
            for (y, d_sum) in d_sums.iter().enumerate() {
                let pair = x * n + y;
                let d_raw = matvec_backward(&inputs[2][pair * c..][..c], &inputs[3], d_sum, &mut d[3]);
                add(&mut d[2][pair * c..][..c], &d_raw);
                add(&mut d[0][x * w..][..w], d_sum);
                add(&mut d[1][y * w..][..w], d_sum);
            }
        }
        d
    }

    /// In a row without neighbors, scores are lost in rounding, and finite differences do not see the gradient.
    fn is_differentiable(&self) -> bool {
        self.adjacency.as_ref().is_none_or(|adjacency| adjacency.chunks_exact(self.nodes).all(|row| row.contains(&true)))
    }
}
