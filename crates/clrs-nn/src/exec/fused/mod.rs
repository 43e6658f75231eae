//! Fused operations: forward and backward call `clrs-kernels`.
//!
//! An operation computes one step of the samples of a micro-batch. Activations are its inputs on the [tape](super::tape). Weights are
//! not: it reads them through a [`WeightRef`](super::context::WeightRef), in layouts that are shared by all micro-batches, and adds to
//! their gradients in place.
//!
//! This module contains no numeric code beyond biases: it splits tensors into samples and calls kernels. Every operation has an
//! equivalent in operations of burn beside its call, which runs on other devices and with `fused = false`. The parity tests run
//! both.
//!
//! Shapes: `B` active samples, `N` nodes, `H` hidden size, `R` rows of a probe, `K` classes.

mod affine;
mod attention;
mod embedding_bag;
mod layer_norm;
mod loss;
mod mask_logits;
mod max_pool;
mod memory_attention;
mod messages;
mod pairs;
mod pointers;
mod probabilities;
mod sinkhorn;
mod triplets;

use super::context::ForwardContext;
use super::tape::{self, Backward, Inputs, Op, Saved, View};
use super::tensor::Tensor;

pub(crate) use affine::{affine, constant};
pub(crate) use attention::{AttentionInput, attention};
pub(crate) use embedding_bag::embedding_bag;
pub(crate) use layer_norm::layer_norm;
pub(crate) use loss::{add_loss, loss_sum};
pub(crate) use mask_logits::mask_logits;
pub(crate) use max_pool::max_pool;
pub(crate) use memory_attention::memory_attention;
pub(crate) use messages::{MessageLayers, Senders, messages};
pub(crate) use pairs::pairs;
pub(crate) use pointers::{edge_pointers, pointers};
pub(crate) use probabilities::{Normalization, probabilities};
pub(crate) use sinkhorn::log_sinkhorn;
pub(crate) use triplets::triplets;

/// Applies an operation to its inputs.
fn apply<const D: usize>(ctx: &ForwardContext, op: impl Op + 'static, inputs: Vec<View>, shape: [usize; D]) -> Tensor<D> {
    let view = tape::apply(ctx.tape(), op, inputs, shape.iter().product());
    Tensor::host(view, shape, ctx.tape().cloned())
}
