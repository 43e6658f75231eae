//! Attention of queries over the slots of a memory, as in end-to-end memory networks (Sukhbaatar et al., 2015).
//!
//! Every query has its own `S` keys and values, which occupy the first slots. All `M >= S` slots share a learned memory, whose
//! rows are added to the keys. Slots without a key have their memory row alone, and no value:
//!
//! ```text
//! score[q, m] = memory[m] . query[q] + key[q, m] . query[q]        (the second term for m < S only)
//! out[q]      = sum over m < S of softmax(score[q])[m] * value[q, m]
//! ```
//!
//! # Bits
//! Products are rounded before they are added, and dot products are summed in order: the result differs between instruction sets
//! only in the exponentials of the softmax.
//!
//! # NaN
//! A NaN in a query, a key or the memory makes the complete output row NaN.

use crate::isa::{Isa, Kernel};
use crate::memory::elements;
use crate::rowwise::{softmax_backward_row, softmax_row};
use crate::simd::{LANES, Simd};

/// Inputs of `Q` queries with `S` keys each, over `M` slots of dimension `D`.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `D`
    pub dim: usize,
    /// `[Q, D]`
    pub query: &'a [f32],
    /// `[Q, S, D]`
    pub key: &'a [f32],
    /// `[Q, S, D]`
    pub value: &'a [f32],
    /// Learned contents of the slots, `[M, D]`.
    pub memory: &'a [f32],
}

/// Gradients that [`backward`] computes, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Overwritten.
    pub query: &'a mut [f32],
    /// Overwritten.
    pub key: &'a mut [f32],
    /// Overwritten.
    pub value: &'a mut [f32],
    /// Added to.
    pub memory: &'a mut [f32],
}

#[derive(Clone, Copy)]
struct Shape {
    queries: usize,
    keys: usize,
    slots: usize,
}

impl Inputs<'_> {
    /// Number of attention weights: one per query and slot, `Q * M`.
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn weights_len(&self) -> usize {
        let Shape { queries, slots, .. } = self.shape();
        elements([queries, slots])
    }

    fn shape(&self) -> Shape {
        let dim = self.dim;
        assert!(dim > 0, "dim must be at least 1");
        let (queries, slots) = (self.query.len() / dim, self.memory.len() / dim);
        let keys = (self.key.len() / dim).checked_div(queries).unwrap_or(0);
        assert!(self.query.len() == queries * dim, "query must be [Q, D]");
        assert!(self.memory.len() == slots * dim, "memory must be [M, D]");
        assert!(self.key.len() == elements([queries, keys, dim]), "key must be [Q, S, D]");
        assert!(self.value.len() == self.key.len(), "value must be [Q, S, D]");
        assert!(keys <= slots, "a query must not have more keys than the memory has slots");
        Shape { queries, keys, slots }
    }
}

/// Writes `out`, `[Q, D]`, and the attention weights, `[Q, M]`, which [`backward`] reads.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::Isa;
/// use clrs_kernels::memory_attention::{Inputs, forward};
///
/// // One query, one key, two slots: the scores are 2 * (0 + 1) and 2 * 1, so both slots weigh one half.
/// let inputs = Inputs { dim: 1, query: &[2.0], key: &[1.0], value: &[10.0], memory: &[0.0, 1.0] };
/// let (mut out, mut weights) = ([0.0], [0.0; 2]);
/// forward(Isa::best(), &inputs, &mut out, &mut weights);
/// assert_eq!((out, weights), ([5.0], [0.5, 0.5]));
/// ```
pub fn forward(isa: Isa, inputs: &Inputs<'_>, out: &mut [f32], weights: &mut [f32]) {
    let shape = inputs.shape();
    assert_eq!(out.len(), inputs.query.len(), "out must be [Q, D]");
    assert_eq!(weights.len(), elements([shape.queries, shape.slots]), "weights must be [Q, M]");
    isa.run(Forward { inputs: *inputs, shape, out, weights });
}

struct Forward<'a> {
    inputs: Inputs<'a>,
    shape: Shape,
    out: &'a mut [f32],
    weights: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { dim, query, key, value, memory } = self.inputs;
        let Shape { keys, slots, .. } = self.shape;
        self.out.fill(0.0);
        for (q, (query, out)) in query.chunks_exact(dim).zip(self.out.chunks_exact_mut(dim)).enumerate() {
            let weights = &mut self.weights[q * slots..][..slots];
            let own = q * keys * dim..(q + 1) * keys * dim;
            for (score, row) in weights.iter_mut().zip(memory.chunks_exact(dim)) {
                *score = dot(row, query);
            }
            for (score, key) in weights.iter_mut().zip(key[own.clone()].chunks_exact(dim)) {
                *score += dot(key, query);
            }
            softmax_row(s, weights);
            for (&weight, value) in weights.iter().zip(value[own].chunks_exact(dim)) {
                add_scaled(s, out, value, weight);
            }
        }
    }
}

/// Computes all gradients from that of `out`, `[Q, D]`. `weights` are those that [`forward`] wrote for the same inputs.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, weights: &[f32], d_out: &[f32], gradients: Gradients<'_>) {
    let shape = inputs.shape();
    assert_eq!(d_out.len(), inputs.query.len(), "d_out must be [Q, D]");
    assert_eq!(weights.len(), elements([shape.queries, shape.slots]), "weights must be [Q, M]");
    assert_eq!(gradients.query.len(), inputs.query.len(), "the gradient of query must be [Q, D]");
    assert_eq!(gradients.key.len(), inputs.key.len(), "the gradient of key must be [Q, S, D]");
    assert_eq!(gradients.value.len(), inputs.value.len(), "the gradient of value must be [Q, S, D]");
    assert_eq!(gradients.memory.len(), inputs.memory.len(), "the gradient of memory must be [M, D]");
    isa.run(Backward { inputs: *inputs, shape, weights, d_out, gradients });
}

struct Backward<'a> {
    inputs: Inputs<'a>,
    shape: Shape,
    weights: &'a [f32],
    d_out: &'a [f32],
    gradients: Gradients<'a>,
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Inputs { dim, query, key, value, memory } = self.inputs;
        let Shape { keys, slots, .. } = self.shape;
        let Gradients { query: d_query, key: d_key, value: d_value, memory: d_memory } = self.gradients;
        d_query.fill(0.0);
        d_key.fill(0.0);
        d_value.fill(0.0);
        let mut d_scores = vec![0.0; slots];
        for (q, (query, d_out)) in query.chunks_exact(dim).zip(self.d_out.chunks_exact(dim)).enumerate() {
            let weights = &self.weights[q * slots..][..slots];
            d_scores.fill(0.0);
            for slot in 0..keys {
                let at = (q * keys + slot) * dim;
                d_scores[slot] = dot(&value[at..][..dim], d_out);
                add_scaled(s, &mut d_value[at..][..dim], d_out, weights[slot]);
            }
            softmax_backward_row(s, weights, &mut d_scores);
            let d_query = &mut d_query[q * dim..][..dim];
            for (slot, &d) in d_scores.iter().enumerate() {
                add_scaled(s, d_query, &memory[slot * dim..][..dim], d);
                add_scaled(s, &mut d_memory[slot * dim..][..dim], query, d);
            }
            for (slot, &d) in d_scores[..keys].iter().enumerate() {
                let at = (q * keys + slot) * dim;
                add_scaled(s, d_query, &key[at..][..dim], d);
                add_scaled(s, &mut d_key[at..][..dim], query, d);
            }
        }
    }
}

/// The dot product of two rows, summed in order.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sum += scale * row`, each product rounded before it is added.
#[inline(always)]
fn add_scaled<S: Simd>(s: S, sum: &mut [f32], row: &[f32], scale: f32) {
    for at in (0..row.len()).step_by(LANES) {
        let product = s.mul(s.splat(scale), s.load_at(row, at));
        s.store_at(sum, at, s.add(s.load_at(sum, at), product));
    }
}
