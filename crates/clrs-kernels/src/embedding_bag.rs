//! Sentences as sums of their words, each looked up in a table and weighted by its position: what a memory network reads.
//!
//! ```text
//! out[row, e] = sum over w of table[words[row, w], e] * positions[w, e]
//! ```
//!
//! Ordinary operations store the embedding of every word of every sentence. Here a sentence is added up in a register, and backward
//! adds to the rows of the table, one sentence after the other.
//!
//! As in the reference, the word behind the last one of the table means nothing, and all others behind it are NaN.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// What sentences are made of.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Size of an embedding.
    pub embedding_dim: usize,
    /// `[words, size]`
    pub table: &'a [f32],
    /// `[length, size]`
    pub position_encoding: &'a [f32],
    /// `[rows, length]`
    pub indices: &'a [u16],
}

impl Inputs<'_> {
    /// Words in the table, and the length of a sentence.
    fn shape(&self) -> (usize, usize) {
        let (count, length) = (self.table.len() / self.embedding_dim, self.position_encoding.len() / self.embedding_dim);
        assert!(
            self.table.len() == count * self.embedding_dim && self.position_encoding.len() == length * self.embedding_dim,
            "whole rows"
        );
        assert!(length > 0 && self.indices.len().is_multiple_of(length), "whole sentences");
        (count, length)
    }
}

/// Writes `out`, `[rows, size]`.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, inputs: &Inputs<'_>, out: &mut [f32]) {
    let (count, length) = inputs.shape();
    assert_eq!(out.len(), inputs.indices.len() / length * inputs.embedding_dim, "the result is [rows, size]");
    isa.run(Forward { inputs: *inputs, count, length, out });
}

struct Forward<'a> {
    inputs: Inputs<'a>,
    count: usize,
    length: usize,
    out: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { embedding_dim: size, table, position_encoding: positions, indices } = self.inputs;
        for (indices, out) in indices.chunks_exact(self.length).zip(self.out.chunks_exact_mut(size)) {
            for at in (0..size).step_by(LANES) {
                // Four sums, so that one need not wait for the other.
                let mut sums = [s.splat(0.0); 4];
                for (indices, positions) in indices.chunks(4).zip(positions.chunks(4 * size)) {
                    for (sum, (&index, position)) in sums.iter_mut().zip(indices.iter().zip(positions.chunks_exact(size))) {
                        let index = usize::from(index);
                        if index < self.count {
                            *sum = s.fma(s.load_at(&table[index * size..][..size], at), s.load_at(position, at), *sum);
                        } else if index > self.count {
                            *sum = s.splat(f32::NAN);
                        }
                    }
                }
                let [a, b, c, d] = sums;
                s.store_at(out, at, s.add(s.add(a, b), s.add(c, d)));
            }
        }
    }
}

/// Adds to `d_table`, `[words, size]`, from the gradient of the result. Words behind the table have none.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_out: &[f32], d_table: &mut [f32]) {
    let (count, length) = inputs.shape();
    assert_eq!(d_out.len(), inputs.indices.len() / length * inputs.embedding_dim, "the result is [rows, size]");
    assert_eq!(d_table.len(), inputs.table.len(), "the gradient is shaped as the table");
    isa.run(Backward { inputs: *inputs, count, length, d_out, d_table });
}

struct Backward<'a> {
    inputs: Inputs<'a>,
    count: usize,
    length: usize,
    d_out: &'a [f32],
    d_table: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { embedding_dim: size, position_encoding: positions, indices, .. } = self.inputs;
        for (indices, d_out) in indices.chunks_exact(self.length).zip(self.d_out.chunks_exact(size)) {
            for at in (0..size).step_by(LANES) {
                let d = s.load_at(d_out, at);
                for (&index, position) in indices.iter().zip(positions.chunks_exact(size)) {
                    let index = usize::from(index);
                    if index < self.count {
                        let row = &mut self.d_table[index * size..][..size];
                        s.store_at(row, at, s.fma(d, s.load_at(position, at), s.load_at(row, at)));
                    }
                }
            }
        }
    }
}
