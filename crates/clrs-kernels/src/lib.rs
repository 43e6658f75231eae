//! Fused kernels for the networks of `clrs-nn` on a CPU: what ordinary tensor operations compute in many passes over arrays
//! `[n, n, h]`, in one pass over tiles that stay in cache.
//!
//! Every kernel works on one sample, on one thread, on dense `f32` slices. It is a `forward` and a `backward` written by hand; what
//! backward needs of forward is in a `Tape`, or made anew. Gradients of inputs are written, those of weights are added to. Working
//! memory is a [`Scratch`] that the caller keeps, so that nothing is allocated once it has seen the largest sample.
//!
//! - [`messages`]: messages between nodes, two layers and the maximum over senders. Most of the time of a network goes here.
//! - [`pointers`], [`edge_pointers`]: logits of pointers, from nodes and from edges.
//! - [`triplets`]: the maximum over the first node of triplets. [`attention`]: GAT and `GATv2`. [`words`]: what a memory network
//!   looks up.
//! - [`gemm`]: products of matrices, for all the layers around. [`rows`], [`sinkhorn`], [`adam`]: what is done number by number.
//!
//! # How it is built
//! Read `simd/mod.rs` first: sixteen lanes, on AVX-512, AVX2 or anything. `isa.rs` chooses at run time ([`Isa::best`]; a plain release
//! build has all). `memory.rs` says how rows lie. Each kernel is written once over these, and [`reference`](mod@reference) has its
//! twin in plain loops, which is its definition.
//!
//! # Bits
//! Sums run in the same order on every instruction set. AVX2 and AVX-512 give the same bits; portable code differs in the last ones
//! where the target has no fused multiply-add, but for [`adam`] and [`triplets`], which are the same everywhere. Nothing
//! depends on the number of threads, as there are none.
//!
//! # Ties and NaN
//! The first of equal candidates of a maximum takes all of its gradient, where JAX shares it. What becomes of NaN is said with each
//! kernel: most keep it, but a maximum may pass it over.
//!
//! # Examples
//! ```
//! use clrs_kernels::messages::{Inputs, PackedWeights, Adjacency, Weights, forward};
//! use clrs_kernels::{Isa, Scratch};
//!
//! // Two nodes with one hidden number each: what is heard is the larger sum of both ends.
//! let layers = Weights { edge_weight: &[0.0], hidden_weight: &[1.0], hidden_bias: &[0.0], output_weight: &[1.0] };
//! let inputs = Inputs { receivers: &[1.0, 2.0], senders: &[10.0, 20.0], edge_features: &[0.0; 4], adjacency: Adjacency::Full };
//! let mut heard = [0.0; 2];
//! forward(Isa::best(), &PackedWeights::new(&layers), &inputs, &mut heard, None, &mut Scratch::default());
//! assert_eq!(heard, [21.0, 22.0]);
//! ```
#![allow(unsafe_code, reason = "this crate is where it belongs; each block says why it holds")]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::inline_always, reason = "kernels have to end up in the function that is compiled for the instruction set")]
#![allow(clippy::needless_range_loop, reason = "arrays of registers are walked by index, several in step")]

mod edge_features;
mod isa;
mod memory;
mod simd;
mod sparse;

pub mod adam;
pub mod attention;
pub mod edge_pointers;
pub mod embedding_bag;
pub mod gemm;
pub mod max_pool;
pub mod memory_attention;
pub mod messages;
pub mod narrow;
pub mod peak;
pub mod pointers;
pub mod reference;
pub mod rowwise;
pub mod sinkhorn;
pub mod triplets;

pub use crate::isa::Isa;

/// Working memory of all kernels: one per thread, used again and again, as large as the largest sample so far needed.
#[derive(Debug, Default)]
pub struct Scratch {
    attention: attention::Workspace,
    edge_pointers: edge_pointers::Workspace,
    gemm: memory::Mat,
    messages: messages::Workspace,
    pointers: pointers::Workspace,
    triplets: triplets::Workspace,
}
