//! Fused operations: nodes of burn's autodiff graph whose forward and backward call `clrs-kernels`.
//!
//! An operation computes one step of the samples of a micro-batch. Activations are its inputs in the graph. Weights are not: it
//! reads them through a [`WeightRef`](super::context::WeightRef), in layouts that are shared by all micro-batches, and adds to their
//! gradients in place. Where an operation has no other input with a gradient,
//! [`grad_anchor`](ForwardContext::grad_anchor) makes backward reach it.
//!
//! This module contains no numeric code beyond biases: it splits tensors into samples and calls kernels. Every operation has an
//! equivalent in tensor operations beside its call, which runs on other devices and with `fused = false`. The parity tests run
//! both.
//!
//! Shapes: `B` active samples, `N` nodes, `H` hidden size, `R` rows of a probe, `K` classes.
#![expect(clippy::too_many_arguments, reason = "burn passes tensors one by one")]

mod affine;
mod attention;
mod embedding_bag;
mod layer_norm;
mod loss;
mod max_pool;
mod memory_attention;
mod messages;
mod narrow;
mod pairs;
mod pointers;
mod probabilities;
mod sinkhorn;
mod triplets;

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{Tensor, TensorData};
use clrs_kernels::Scratch;

use crate::exec::context::ForwardContext;

pub(crate) use affine::affine;
pub(crate) use attention::{AttentionInput, attention};
pub(crate) use embedding_bag::embedding_bag;
pub(crate) use layer_norm::layer_norm;
pub(crate) use loss::add_loss;
pub(crate) use max_pool::max_pool;
pub(crate) use memory_attention::memory_attention;
pub(crate) use messages::{MessageLayers, Senders, messages};
pub(crate) use narrow::narrow;
pub(crate) use pairs::pairs;
pub(crate) use pointers::{edge_pointers, pointers};
pub(crate) use probabilities::{Normalization, probabilities};
pub(crate) use sinkhorn::log_sinkhorn;
pub(crate) use triplets::triplets;

/// Inputs of an operation in burn's graph. The number is part of the type of a node, so all operations have the same.
const INPUTS: usize = 7;

/// Maximum number of tensors that an operation takes. The last input is always the gradient anchor.
pub(crate) const MAX_INPUTS: usize = INPUTS - 1;

/// Elements of all inputs, contiguous and row-major.
type InputSlices<'a> = [&'a [f32]; INPUTS];

/// Values that forward saves for backward.
type SavedState = Arc<dyn Any + Send + Sync>;

/// Gradients of all inputs; `None` where an input has none, or where it is not needed.
type InputGradients = [Option<Vec<f32>>; INPUTS];

/// An operation over the samples of a micro-batch.
pub(crate) trait FusedOp: Send + Sync {
    /// Shape of the result.
    fn shape(&self) -> Vec<usize>;
    /// Writes the result to `out`, which is all zeros, and returns what backward needs if `save_for_backward` is set.
    fn forward(&self, inputs: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, scratch: &mut Scratch) -> SavedState;
    /// Returns the gradients of the inputs and adds to those of the weights.
    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients;
}

/// Arguments of [`FusedOp::backward`].
pub(crate) struct BackwardInput<'a> {
    inputs: InputSlices<'a>,
    saved: SavedState,
    /// Gradient of the result.
    d_out: &'a [f32],
    /// Inputs whose gradients are needed.
    needs_input_grad: [bool; INPUTS],
}

impl BackwardInput<'_> {
    /// The values that forward saved.
    fn saved<T: Any + Send + Sync>(&self) -> Arc<T> {
        Arc::clone(&self.saved).downcast().expect("forward saves the type that backward reads")
    }
}

/// The gradient of an operation's only input.
fn only_first(gradient: Vec<f32>) -> InputGradients {
    let mut gradients = InputGradients::default();
    gradients[0] = Some(gradient);
    gradients
}

/// A tensor of any number of axes.
type AnyTensor = FloatTensor<Dispatch>;

/// A tensor as an input of an operation.
fn input<const D: usize>(tensor: Tensor<D>) -> AnyTensor {
    tensor.into_dispatch()
}

/// Applies an operation to its inputs.
fn apply<const D: usize>(ctx: &ForwardContext, op: impl FusedOp + 'static, mut inputs: Vec<AnyTensor>) -> Tensor<D> {
    assert!(inputs.len() <= MAX_INPUTS, "an operation takes at most {MAX_INPUTS} inputs");
    // At least one input is the anchor, so that backward reaches the operation if gradients are tracked at all.
    inputs.resize_with(INPUTS, || input(ctx.grad_anchor.clone()));
    let Ok([a, b, c, d, e, f, g]) = <[_; INPUTS]>::try_from(inputs) else { unreachable!("resized above") };
    Tensor::from_dispatch(<Dispatch as FusedBackend>::fused(Arc::new(op), a, b, c, d, e, f, g))
}

/// Backends that run fused operations: the CPU backend, with and without autodiff.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait FusedBackend: Backend {
    /// Applies an operation.
    fn fused(
        op: Arc<dyn FusedOp>,
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        f: FloatTensor<Self>,
        g: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

/// A tensor of the CPU backend.
type FlexTensor = FloatTensor<Flex>;

thread_local! {
    /// Temporary memory of this thread's kernels.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

fn forward(op: &dyn FusedOp, inputs: &[FlexTensor; INPUTS], save_for_backward: bool) -> (FlexTensor, SavedState) {
    let shape = op.shape();
    let mut out = vec![0.0; shape.iter().product()];
    let saved = SCRATCH.with_borrow_mut(|scratch| op.forward(&slices(inputs), &mut out, save_for_backward, scratch));
    (tensor(out, &shape), saved)
}

fn contiguous(tensor: FlexTensor) -> FlexTensor {
    if tensor.as_slice::<f32>().is_some() { tensor } else { tensor.to_contiguous() }
}

fn slices(inputs: &[FlexTensor; INPUTS]) -> InputSlices<'_> {
    inputs.each_ref().map(|input| input.as_slice::<f32>().expect("contiguous f32"))
}

fn tensor(values: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}

impl FusedBackend for Flex {
    fn fused(
        op: Arc<dyn FusedOp>,
        a: FlexTensor,
        b: FlexTensor,
        c: FlexTensor,
        d: FlexTensor,
        e: FlexTensor,
        f: FlexTensor,
        g: FlexTensor,
    ) -> FlexTensor {
        forward(&*op, &[a, b, c, d, e, f, g].map(contiguous), false).0
    }
}

/// State of a node of the graph between forward and backward.
#[derive(Clone)]
struct State {
    op: Arc<dyn FusedOp>,
    inputs: Arc<[FlexTensor; INPUTS]>,
    saved: SavedState,
}

impl Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FusedOp")
    }
}

#[derive(Debug)]
struct FusedBackward;

impl Backward<Flex, INPUTS> for FusedBackward {
    type State = State;

    fn backward(self, ops: Ops<State, INPUTS>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d_out = contiguous(grads.consume::<Flex>(&ops.node));
        let d_out = d_out.as_slice::<f32>().expect("contiguous f32");
        let State { op, inputs, saved } = ops.state;
        let needs_input_grad = ops.parents.each_ref().map(Option::is_some);
        let back = BackwardInput { inputs: slices(&inputs), saved, d_out, needs_input_grad };
        let gradients = SCRATCH.with_borrow_mut(|scratch| op.backward(back, scratch));
        for ((parent, gradient), input) in ops.parents.into_iter().zip(gradients).zip(&*inputs) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<Flex>(parent.id, tensor(gradient, &input.shape()));
            }
        }
    }
}

impl<C: CheckpointStrategy> FusedBackend for Autodiff<Flex, C> {
    fn fused(
        op: Arc<dyn FusedOp>,
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        f: FloatTensor<Self>,
        g: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let inputs = [a, b, c, d, e, f, g];
        let nodes = inputs.each_ref().map(FloatTensor::<Self>::node);
        let inputs = Arc::new(inputs.map(|input| contiguous(input.into_primitive())));
        match FusedBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (out, saved) = forward(&*op, &inputs, true);
                prepared.finish(State { op, inputs, saved }, out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(forward(&*op, &inputs, false).0),
        }
    }
}
