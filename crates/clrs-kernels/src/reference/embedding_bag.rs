//! Reference of [`crate::embedding_bag`].

use super::ReferenceOp;

/// Reference of [`crate::embedding_bag`]. Input: the table.
#[derive(Clone, Debug)]
pub struct EmbeddingBag {
    /// `D`
    pub embedding_dim: usize,
    /// Rows of the table, `V`.
    pub num_embeddings: usize,
    /// `[L, D]`
    pub position_encoding: Vec<f32>,
    /// `[B, L]`
    pub indices: Vec<u16>,
}

impl EmbeddingBag {
    /// The bag, the index and its position, of each index inside the table.
    fn each(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let length = self.position_encoding.len() / self.embedding_dim;
        let all = self.indices.iter().enumerate().map(move |(at, &index)| (at / length, usize::from(index), at % length));
        all.filter(|&(_, index, _)| index < self.num_embeddings)
    }
}

impl ReferenceOp for EmbeddingBag {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("table", self.num_embeddings * self.embedding_dim)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let dim = self.embedding_dim;
        let mut out = vec![0.0; self.indices.len() * dim * dim / self.position_encoding.len()];
        for (row, index, position) in self.each() {
            for e in 0..dim {
                out[row * dim + e] += inputs[0][index * dim + e] * f64::from(self.position_encoding[position * dim + e]);
            }
        }
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let dim = self.embedding_dim;
        let mut d = vec![0.0; inputs[0].len()];
        for (row, index, position) in self.each() {
            for e in 0..dim {
                d[index * dim + e] += d_output[row * dim + e] * f64::from(self.position_encoding[position * dim + e]);
            }
        }
        vec![d]
    }
}
