//! Reference of [`crate::memory_attention`].

use super::{ReferenceOp, add, softmax, softmax_backward};

/// Reference of [`crate::memory_attention`]. Inputs: query, key, value, memory.
#[derive(Clone, Debug)]
pub struct MemoryAttention {
    /// `Q`
    pub queries: usize,
    /// Keys per query, `S`.
    pub keys: usize,
    /// Slots of the memory, `M`.
    pub slots: usize,
    /// `D`
    pub dim: usize,
}

impl MemoryAttention {
    /// The sum of the memory row of a slot and its key, if it has one.
    fn slot(&self, inputs: &[Vec<f64>], q: usize, slot: usize) -> Vec<f64> {
        let mut sum = inputs[3][slot * self.dim..][..self.dim].to_vec();
        if slot < self.keys {
            add(&mut sum, &inputs[1][(q * self.keys + slot) * self.dim..][..self.dim]);
        }
        sum
    }

    fn weights(&self, inputs: &[Vec<f64>], q: usize) -> Vec<f64> {
        let query = &inputs[0][q * self.dim..][..self.dim];
        let score = |slot: usize| self.slot(inputs, q, slot).iter().zip(query).map(|(a, b)| a * b).sum::<f64>();
        softmax(&(0..self.slots).map(score).collect::<Vec<f64>>())
    }
}

impl ReferenceOp for MemoryAttention {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        let rows = self.queries * self.keys * self.dim;
        vec![("query", self.queries * self.dim), ("key", rows), ("value", rows), ("memory", self.slots * self.dim)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let mut out = vec![0.0; self.queries * self.dim];
        for q in 0..self.queries {
            let weights = self.weights(inputs, q);
            for slot in 0..self.keys {
                for e in 0..self.dim {
                    out[q * self.dim + e] += weights[slot] * inputs[2][(q * self.keys + slot) * self.dim + e];
                }
            }
        }
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let mut d: Vec<Vec<f64>> = self.inputs().iter().map(|&(_, len)| vec![0.0; len]).collect();
        for q in 0..self.queries {
            let weights = self.weights(inputs, q);
            let mut d_weights = vec![0.0; self.slots];
            for slot in 0..self.keys {
                for e in 0..self.dim {
                    let at = (q * self.keys + slot) * self.dim + e;
                    d_weights[slot] += inputs[2][at] * d_output[q * self.dim + e];
                    d[2][at] += weights[slot] * d_output[q * self.dim + e];
                }
            }
            for (slot, d_score) in softmax_backward(&weights, &d_weights).into_iter().enumerate() {
                let row = self.slot(inputs, q, slot);
                for e in 0..self.dim {
                    d[0][q * self.dim + e] += d_score * row[e];
                    let d_row = d_score * inputs[0][q * self.dim + e];
                    d[3][slot * self.dim + e] += d_row;
                    if slot < self.keys {
                        d[1][(q * self.keys + slot) * self.dim + e] += d_row;
                    }
                }
            }
        }
        d
    }
}
