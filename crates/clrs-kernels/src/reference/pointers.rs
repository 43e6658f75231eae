//! References of [`crate::pointers`] and [`crate::edge_pointers`].

use super::{ReferenceOp, add, matvec, matvec_backward};

/// Reference of [`crate::pointers`]. Inputs: in the order of [`crate::pointers::Inputs`].
#[derive(Clone, Debug)]
pub struct Pointers {
    /// Number of nodes.
    pub nodes: usize,
    /// Hidden elements.
    pub hidden: usize,
    /// Features per edge.
    pub channels: usize,
    /// Whether edges have a hidden vector, which is the sixth input.
    pub edge_hidden: bool,
}

impl Pointers {
    /// The vector that `p[i]` is compared with for the target `j`.
    fn other(&self, inputs: &[Vec<f64>], i: usize, j: usize) -> Vec<f64> {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        let mut sum = matvec(&inputs[2][(j * n + i) * c..][..c], &inputs[3], h);
        add(&mut sum, &inputs[1][j * h..][..h]);
        if self.edge_hidden {
            add(&mut sum, &inputs[5][(j * n + i) * h..][..h]);
        }
        sum
    }
}

impl ReferenceOp for Pointers {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        let mut all = vec![
            ("source", n * h),
            ("target", n * h),
            ("edge_features", n * n * c),
            ("edge_weight", c * h),
            ("output_weight", h),
        ];
        all.extend(self.edge_hidden.then_some(("edge_hidden", n * n * h)));
        all
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let (n, h) = (self.nodes, self.hidden);
        let (mut logits, mut margin) = (vec![0.0; n * n], f64::INFINITY);
        for i in 0..n {
            for j in 0..n {
                let other = self.other(inputs, i, j);
                for k in 0..h {
                    let own = inputs[0][i * h + k];
                    logits[i * n + j] += inputs[4][k] * own.max(other[k]);
                    margin = margin.min((own - other[k]).abs());
                }
            }
        }
        (logits, margin)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (n, h, c) = (self.nodes, self.hidden, self.channels);
        let mut d: Vec<Vec<f64>> = self.inputs().iter().map(|&(_, len)| vec![0.0; len]).collect();
        for i in 0..n {
            for j in 0..n {
                let (other, d_logit) = (self.other(inputs, i, j), d_output[i * n + j]);
                let mut d_other = vec![0.0; h];
                for k in 0..h {
                    let own = inputs[0][i * h + k];
                    d[4][k] += d_logit * own.max(other[k]);
                    let side = if other[k] > own { &mut d_other[k] } else { &mut d[0][i * h + k] };
                    *side += d_logit * inputs[4][k];
                }
                let pair = j * n + i;
                let d_raw = matvec_backward(&inputs[2][pair * c..][..c], &inputs[3], &d_other, &mut d[3]);
                add(&mut d[2][pair * c..][..c], &d_raw);
                add(&mut d[1][j * h..][..h], &d_other);
                if self.edge_hidden {
                    add(&mut d[5][pair * h..][..h], &d_other);
                }
            }
        }
        d
    }
}

/// Reference of [`crate::edge_pointers`]. Inputs: in the order of [`crate::edge_pointers::Inputs`].
#[derive(Clone, Debug)]
pub struct EdgePointers {
    /// Number of nodes.
    pub nodes: usize,
    /// Hidden elements.
    pub hidden: usize,
}

impl ReferenceOp for EdgePointers {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let (n, h) = (self.nodes, self.hidden);
        vec![("edge_hidden", n * n * h), ("target", n * h), ("output_weight", h)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let (n, h) = (self.nodes, self.hidden);
        let mut logits = vec![0.0; n * n * n];
        for pair in 0..n * n {
            for node in 0..n {
                for c in 0..h {
                    logits[pair * n + node] += inputs[2][c] * inputs[0][pair * h + c].max(inputs[1][node * h + c]);
                }
            }
        }
        // Inputs are compared as they are: no decision depends on rounding.
        (logits, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (n, h) = (self.nodes, self.hidden);
        let mut d: Vec<Vec<f64>> = self.inputs().iter().map(|&(_, len)| vec![0.0; len]).collect();
        for pair in 0..n * n {
            for node in 0..n {
                for c in 0..h {
                    let (from, to) = (inputs[0][pair * h + c], inputs[1][node * h + c]);
                    let d_logit = d_output[pair * n + node];
                    d[2][c] += d_logit * from.max(to);
                    let side = if to > from { &mut d[1][node * h + c] } else { &mut d[0][pair * h + c] };
                    *side += d_logit * inputs[2][c];
                }
            }
        }
        d
    }
}
