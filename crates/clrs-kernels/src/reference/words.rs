//! The twin of [`crate::words`].

use super::Twin;

/// Input: the table. Words are given.
#[derive(Clone, Debug)]
pub struct Words {
    /// Size of an embedding.
    pub size: usize,
    /// Words in the table.
    pub count: usize,
    /// `[length, size]`
    pub positions: Vec<f32>,
    /// `[rows, length]`
    pub words: Vec<u16>,
}

impl Words {
    /// The row of the result, the word and its position, for each word in the table.
    fn each(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let length = self.positions.len() / self.size;
        let all = self.words.iter().enumerate().map(move |(at, &word)| (at / length, usize::from(word), at % length));
        all.filter(|&(_, word, _)| word < self.count)
    }
}

impl Twin for Words {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("table", self.count * self.size)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let size = self.size;
        let mut out = vec![0.0; self.words.len() * size * size / self.positions.len()];
        for (row, word, position) in self.each() {
            for e in 0..size {
                out[row * size + e] += inputs[0][word * size + e] * f64::from(self.positions[position * size + e]);
            }
        }
        (out, f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let size = self.size;
        let mut d = vec![0.0; inputs[0].len()];
        for (row, word, position) in self.each() {
            for e in 0..size {
                d[word * size + e] += d_output[row * size + e] * f64::from(self.positions[position * size + e]);
            }
        }
        vec![d]
    }
}
