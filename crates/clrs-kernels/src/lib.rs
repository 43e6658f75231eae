//! Fused CPU kernels for the networks of `clrs-nn`: operations that would take many passes over arrays of shape `[N, N, H]` as
//! tensor operations run in one pass over tiles that stay in cache.
//!
//! Every kernel runs on one thread, over dense `f32` slices, and most process one sample. A kernel is a hand-written `forward` and
//! `backward`. Values that backward needs are saved in a `Tape` or recomputed. Gradients of inputs are overwritten; gradients of
//! weights are added to. Temporary memory is a [`Scratch`] owned by the caller, so that nothing is allocated once it has grown to
//! the largest sample.
//!
//! In shapes, `N` is the number of nodes, `H` the number of hidden elements, and `C` the number of features per edge. Other letters
//! are defined where they are used.
//!
//! # Kernels
//!
//! | module | computes | reference | used by |
//! |---|---|---|---|
//! | [`messages`] | two-layer messages, max over senders | [`Messages`](reference::Messages) | MPNN, PGN and their variants |
//! | [`triplets`] | max over the first node of triplets | [`Triplets`](reference::Triplets) | triplet GMPNN |
//! | [`attention`] | GAT and `GATv2` | [`Attention`](reference::Attention) | graph attention networks |
//! | [`memory_attention`] | attention over the slots of a memory | [`MemoryAttention`](reference::MemoryAttention) | memory networks |
//! | [`embedding_bag`] | position-weighted sums of embeddings | [`EmbeddingBag`](reference::EmbeddingBag) | memory networks |
//! | [`pointers`] | logits from nodes to nodes | [`Pointers`](reference::Pointers) | node pointer decoders |
//! | [`edge_pointers`] | logits from edges to nodes | [`EdgePointers`](reference::EdgePointers) | edge pointer decoders |
//! | [`sinkhorn`] | Sinkhorn operator in log space | [`Sinkhorn`](reference::Sinkhorn) | permutation decoders and losses |
//! | [`max_pool`] | max over nodes | [`MaxPool`](reference::MaxPool) | graph decoders |
//! | [`narrow`] | range of columns | [`Narrow`](reference::Narrow) | decoders that share a product |
//! | [`expand`] | rows repeated | [`Expand`](reference::Expand) | layers over samples |
//! | [`pairwise_sum`] | sums over pairs of nodes | [`PairwiseSum`](reference::PairwiseSum) | edge decoders |
//! | [`loss`] | squared error, binary cross-entropy, log-likelihood | [`SquaredError`](reference::SquaredError), [`BceWithLogits`](reference::BceWithLogits), [`Nll`](reference::Nll) | losses |
//! | [`mask_logits`] | logits of choices that are not allowed | [`MaskLogits`](reference::MaskLogits) | decoders restricted to neighbors |
//! | [`elementwise`] | sums, products, activation functions | [`Elementwise`](reference::Elementwise) | gates, LSTM |
//! | [`sigmoid`] | logistic function | [`Sigmoid`](reference::Sigmoid) | hint decoding |
//! | [`rowwise`] | layer norm, softmax, log-softmax | [`LayerNorm`](reference::LayerNorm), [`Softmax`](reference::Softmax) | processors, losses, hint decoding |
//! | [`gemm`] | matrix products with bias and `ReLU` | loops in `tests/gemm.rs` | all linear layers |
//! | [`adam`] | Adam step, squared norm | loops in `tests/rowwise.rs` | optimizer |
//!
//! [`peak`] measures the multiply-add rate that the benchmarks compare with.
//!
//! # Structure
//! Start with `simd/mod.rs`: vectors of sixteen lanes, on AVX-512, AVX2 or portable code. `isa.rs` selects the instruction set at
//! run time ([`Isa::best`]; an ordinary release build contains all). `memory.rs` defines the layout of matrices. Each kernel is
//! written once on top of these, and [`reference`](mod@reference) defines its result in plain loops.
//!
//! # Bits
//! Sums run in the same order on every instruction set, and nothing depends on the number of threads. AVX2 and AVX-512 give the same
//! bits. Portable code on targets without fused multiply-add rounds products before adding them:
//!
//! | kernels | portable code against AVX2 and AVX-512 |
//! |---|---|
//! | [`adam`], [`triplets`], [`max_pool`], [`narrow`], [`expand`], [`pairwise_sum`], [`loss`], [`sigmoid`], [`elementwise`], [`mask_logits`] | the same bits |
//! | all others | outputs and gradients within 1e-5 of the largest element of the `f64` reference, on every instruction set |
//!
//! The tests enforce both rows, except where a decision (a `ReLU`, an argmax) is closer than rounding errors.
//!
//! # Ties and NaN
//! The first of equal candidates of a maximum takes all of the gradient, where JAX splits it. Each kernel documents how it treats
//! NaN: most propagate it, but a maximum may drop it.
//!
//! # Examples
//! ```
//! use clrs_kernels::messages::{Adjacency, Inputs, PackedWeights, Weights, forward};
//! use clrs_kernels::{Isa, Scratch};
//!
//! // Two nodes with one hidden element each: every node receives the larger sum of both ends.
//! let weights = Weights { edge_weight: &[0.0], hidden_weight: &[1.0], hidden_bias: &[0.0], output_weight: &[1.0] };
//! let inputs = Inputs {
//!     receivers: &[1.0, 2.0],
//!     senders: &[10.0, 20.0],
//!     edge_features: &[0.0; 4],
//!     adjacency: Adjacency::Full,
//! };
//! let mut out = [0.0; 2];
//! forward(Isa::best(), &PackedWeights::new(&weights), &inputs, &mut out, None, &mut Scratch::default());
//! assert_eq!(out, [21.0, 22.0]);
//! ```
#![allow(unsafe_code, reason = "the only crate with unsafe code; each block states its safety argument")]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::inline_always, reason = "kernels must be inlined into the function compiled for the instruction set")]
#![allow(clippy::needless_range_loop, reason = "several arrays of registers are indexed in step")]

mod edge_features;
mod isa;
mod memory;
mod simd;
mod sparse;

pub mod adam;
pub mod attention;
pub mod edge_pointers;
pub mod elementwise;
pub mod embedding_bag;
pub mod expand;
pub mod gemm;
pub mod loss;
pub mod mask_logits;
pub mod max_pool;
pub mod memory_attention;
pub mod messages;
pub mod narrow;
pub mod pairwise_sum;
pub mod peak;
pub mod pointers;
pub mod reference;
pub mod rowwise;
pub mod sigmoid;
pub mod sinkhorn;
pub mod triplets;

pub use crate::isa::{Isa, UnknownIsa};

/// Temporary memory of all kernels: one per thread, reused, and as large as the largest sample so far required.
#[derive(Debug, Default)]
pub struct Scratch {
    attention: attention::Workspace,
    edge_pointers: edge_pointers::Workspace,
    gemm: memory::Mat,
    messages: messages::Workspace,
    pointers: pointers::Workspace,
    triplets: triplets::Workspace,
}
