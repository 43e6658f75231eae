//! Fused kernels for the networks of `clrs-nn` on a CPU: what ordinary tensor operations compute in many passes over large
//! arrays, in one pass over small ones.
#![allow(unsafe_code, reason = "this crate is where it belongs; each block says why it holds")]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(clippy::inline_always, reason = "kernels have to end up in the function that is compiled for the instruction set")]
#![allow(clippy::needless_range_loop, reason = "arrays of registers are walked by index, several in step")]

mod channels;
mod isa;
mod memory;
mod simd;

pub mod adam;
pub mod attention;
pub mod edge_pointers;
pub mod gemm;
pub mod messages;
pub mod peak;
pub mod pointers;
pub mod reference;
pub mod rows;
pub mod sinkhorn;
pub mod triplets;

pub use crate::isa::Isa;

/// Working memory of all kernels: one per thread, used again and again, as large as the largest sample so far needed.
#[derive(Debug, Default)]
pub struct Scratch {
    attention: attention::Work,
    edge_pointers: edge_pointers::Work,
    gemm: memory::Mat,
    messages: messages::Work,
    pointers: pointers::Work,
    triplets: triplets::Work,
}
