//! Sums of embeddings, weighted by their position in the bag: the sentence encoding of end-to-end memory networks (Sukhbaatar et
//! al., 2015), or `PyTorch`'s `EmbeddingBag` with weights per position and dimension.
//!
//! ```text
//! out[b, d] = sum over l of table[indices[b, l], d] * position_encoding[l, d]
//! ```
//!
//! Tensor operations store the embedding of every index. Here a bag is summed in registers, and backward adds to the rows of the
//! table, one bag after the other.
//!
//! As in dm-clrs, the first index past the table (`V`) contributes nothing, and any larger one makes the bag NaN.
//!
//! # Bits
//! Four partial sums in a fixed order: AVX2 and AVX-512 agree. Portable code without fused multiply-add differs in the last bits.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Inputs of `B` bags of `L` indices each, into a table of `V` embeddings of dimension `D`.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `D`
    pub embedding_dim: usize,
    /// `[V, D]`
    pub table: &'a [f32],
    /// `[L, D]`
    pub position_encoding: &'a [f32],
    /// `[B, L]`
    pub indices: &'a [u16],
}

impl Inputs<'_> {
    /// Returns `(V, L)`.
    fn shape(&self) -> (usize, usize) {
        let dim = self.embedding_dim;
        let (num_embeddings, length) = (self.table.len() / dim, self.position_encoding.len() / dim);
        assert!(self.table.len() == num_embeddings * dim, "table must be [V, D]");
        assert!(length > 0 && self.position_encoding.len() == length * dim, "position_encoding must be [L, D]");
        assert!(self.indices.len().is_multiple_of(length), "indices must be [B, L]");
        (num_embeddings, length)
    }
}

/// Writes `out`, `[B, D]`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::Isa;
/// use clrs_kernels::embedding_bag::{Inputs, forward};
///
/// // One bag: index 1, then index 2, which is past the table and contributes nothing.
/// let inputs = Inputs { embedding_dim: 1, table: &[10.0, 20.0], position_encoding: &[0.5, 1.0], indices: &[1, 2] };
/// let mut out = [0.0];
/// forward(Isa::best(), &inputs, &mut out);
/// assert_eq!(out, [10.0]);
/// ```
pub fn forward(isa: Isa, inputs: &Inputs<'_>, out: &mut [f32]) {
    let (num_embeddings, length) = inputs.shape();
    assert_eq!(out.len(), inputs.indices.len() / length * inputs.embedding_dim, "out must be [B, D]");
    isa.run(Forward { inputs: *inputs, num_embeddings, length, out });
}

struct Forward<'a> {
    inputs: Inputs<'a>,
    num_embeddings: usize,
    length: usize,
    out: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { embedding_dim: dim, table, position_encoding: positions, indices } = self.inputs;
        for (indices, out) in indices.chunks_exact(self.length).zip(self.out.chunks_exact_mut(dim)) {
            for at in (0..dim).step_by(LANES) {
                // Four independent sums.
                let mut sums = [s.splat(0.0); 4];
                for (indices, positions) in indices.chunks(4).zip(positions.chunks(4 * dim)) {
                    for (sum, (&index, position)) in sums.iter_mut().zip(indices.iter().zip(positions.chunks_exact(dim))) {
                        let index = usize::from(index);
                        if index < self.num_embeddings {
                            *sum = s.fma(s.load_at(&table[index * dim..][..dim], at), s.load_at(position, at), *sum);
                        } else if index > self.num_embeddings {
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

/// Adds to `d_table`, `[V, D]`, from the gradient of `out`, `[B, D]`. Indices past the table have no gradient.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_out: &[f32], d_table: &mut [f32]) {
    let (num_embeddings, length) = inputs.shape();
    assert_eq!(d_out.len(), inputs.indices.len() / length * inputs.embedding_dim, "d_out must be [B, D]");
    assert_eq!(d_table.len(), inputs.table.len(), "d_table must be [V, D]");
    isa.run(Backward { inputs: *inputs, num_embeddings, length, d_out, d_table });
}

struct Backward<'a> {
    inputs: Inputs<'a>,
    num_embeddings: usize,
    length: usize,
    d_out: &'a [f32],
    d_table: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { embedding_dim: dim, position_encoding: positions, indices, .. } = self.inputs;
        for (indices, d_out) in indices.chunks_exact(self.length).zip(self.d_out.chunks_exact(dim)) {
            for at in (0..dim).step_by(LANES) {
                let d = s.load_at(d_out, at);
                for (&index, position) in indices.iter().zip(positions.chunks_exact(dim)) {
                    let index = usize::from(index);
                    if index < self.num_embeddings {
                        let row = &mut self.d_table[index * dim..][..dim];
                        s.store_at(row, at, s.fma(d, s.load_at(position, at), s.load_at(row, at)));
                    }
                }
            }
        }
    }
}
