//! The twin of [`crate::embedding_bag`].

use super::ReferenceOp;

/// Input: the table. The indices are fixed.
#[derive(Clone, Debug)]
pub struct EmbeddingBag {
    /// Size of an embedding.
    pub embedding_dim: usize,
    /// Number of rows of the table.
    pub num_embeddings: usize,
    /// `[length, size]`
    pub position_encoding: Vec<f32>,
    /// `[rows, length]`
    pub indices: Vec<u16>,
}

impl EmbeddingBag {
    /// The row of the result, the word and its position, for each word in the table.
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
        let size = self.embedding_dim;
        let mut out = vec![0.0; self.indices.len() * size * size / self.position_encoding.len()];
        for (row, index, position) in self.each() {
            for e in 0..size {
                out[row * size + e] += inputs[0][index * size + e] * f64::from(self.position_encoding[position * size + e]);
            }
        }
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let size = self.embedding_dim;
        let mut d = vec![0.0; inputs[0].len()];
        for (row, index, position) in self.each() {
            for e in 0..size {
                d[index * size + e] += d_output[row * size + e] * f64::from(self.position_encoding[position * size + e]);
            }
        }
        vec![d]
    }
}
