//! Fused kernels inside burn's graph: operations whose forward and backward are those of `clrs-kernels`.
//!
//! An operation per step, over the samples of a part. Weights are no inputs of theirs: an operation reads them as `weights.rs` keeps
//! them for all parts, and adds to their gradients in place. The ordinary operations stay what these are tested against, the way
//! of every other device, and what runs without `fused`.
#![expect(clippy::too_many_arguments, reason = "burn hands tensors over one by one")]

mod affine;
mod attention;
mod embedding_bag;
mod max_pool;
mod memory_attention;
mod messages;
mod narrow;
mod norm;
mod pairs;
mod pointers;
mod rows;
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
pub(crate) use max_pool::max_pool;
pub(crate) use memory_attention::memory_attention;
pub(crate) use messages::{MessageLayers, Senders, messages};
pub(crate) use narrow::narrow;
pub(crate) use norm::layer_norm;
pub(crate) use pairs::pairs;
pub(crate) use pointers::{edge_pointers, pointers};
pub(crate) use rows::{add_loss, log_sinkhorn, probabilities};
pub(crate) use triplets::triplets;

/// Inputs of an operation in burn's graph.
const INPUTS: usize = 7;

/// The most tensors that an operation is given.
pub(crate) const MAX_INPUTS: usize = INPUTS - 1;

/// The inputs of an operation as they lie in memory.
type Slices<'a> = [&'a [f32]; INPUTS];

/// What forward leaves for backward.
type SavedState = Arc<dyn Any + Send + Sync>;

/// Gradients of the inputs that have one.
type InputGradients = [Option<Vec<f32>>; INPUTS];

/// An operation over the samples of a part.
pub(crate) trait FusedOp: Send + Sync {
    /// The shape of its result.
    fn shape(&self) -> Vec<usize>;
    /// Writes the result; keeps what backward needs, if there will be one.
    fn forward(&self, inputs: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> SavedState;
    /// The gradients of the inputs for which there is one to be had, from that of the result.
    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients;
}

/// What backward is given.
pub(crate) struct BackwardInput<'a> {
    inputs: Slices<'a>,
    kept: SavedState,
    /// The gradient of the result.
    d_out: &'a [f32],
    /// The inputs that have a gradient.
    wanted: [bool; INPUTS],
}

impl BackwardInput<'_> {
    /// What forward kept.
    fn kept<T: Any + Send + Sync>(&self) -> Arc<T> {
        Arc::clone(&self.kept).downcast().expect("forward and backward of one operation agree")
    }
}

/// The gradient of the first input alone.
fn only(gradient: Vec<f32>) -> InputGradients {
    let mut gradients = InputGradients::default();
    gradients[0] = Some(gradient);
    gradients
}

/// A tensor of any shape as an input.
type AnyTensor = FloatTensor<Dispatch>;

fn input<const D: usize>(tensor: Tensor<D>) -> AnyTensor {
    tensor.into_dispatch()
}

/// Computes an operation.
fn compute<const D: usize>(ctx: &ForwardContext, operation: impl FusedOp + 'static, mut inputs: Vec<AnyTensor>) -> Tensor<D> {
    assert!(inputs.len() <= MAX_INPUTS, "an operation has {MAX_INPUTS} inputs at most");
    // Those that it does not have are one number each, one at least, which carries gradients if any are wanted.
    inputs.resize_with(INPUTS, || input(ctx.grad_anchor.clone()));
    let Ok([a, b, c, d, e, f, g]) = <[_; INPUTS]>::try_from(inputs) else { unreachable!("as many as there can be") };
    Tensor::from_dispatch(<Dispatch as FusedBackend>::fused(Arc::new(operation), a, b, c, d, e, f, g))
}

/// Operations with kernels of their own.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait FusedBackend: Backend {
    /// Computes an operation.
    fn fused(
        operation: Arc<dyn FusedOp>,
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        c: FloatTensor<Self>,
        d: FloatTensor<Self>,
        e: FloatTensor<Self>,
        f: FloatTensor<Self>,
        g: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

type Flat = FloatTensor<Flex>;

thread_local! {
    /// Working memory of this thread's kernels.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

fn forward(operation: &dyn FusedOp, inputs: &[Flat; INPUTS], keep: bool) -> (Flat, SavedState) {
    let shape = operation.shape();
    let mut out = vec![0.0; shape.iter().product()];
    let kept = SCRATCH.with_borrow_mut(|scratch| operation.forward(&slices(inputs), &mut out, keep, scratch));
    (tensor(out, &shape), kept)
}

fn contiguous(tensor: Flat) -> Flat {
    if tensor.as_slice::<f32>().is_some() { tensor } else { tensor.to_contiguous() }
}

fn slices(inputs: &[Flat; INPUTS]) -> Slices<'_> {
    inputs.each_ref().map(|input| input.as_slice::<f32>().expect("contiguous f32"))
}

fn tensor(values: Vec<f32>, shape: &[usize]) -> Flat {
    Flat::from_data(TensorData::new(values, shape.to_vec()))
}

impl FusedBackend for Flex {
    fn fused(operation: Arc<dyn FusedOp>, a: Flat, b: Flat, c: Flat, d: Flat, e: Flat, f: Flat, g: Flat) -> Flat {
        forward(&*operation, &[a, b, c, d, e, f, g].map(contiguous), false).0
    }
}

/// What backward is given.
#[derive(Clone)]
struct State {
    operation: Arc<dyn FusedOp>,
    inputs: Arc<[Flat; INPUTS]>,
    kept: SavedState,
}

impl Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a fused operation")
    }
}

#[derive(Debug)]
struct FusedBackward;

impl Backward<Flex, INPUTS> for FusedBackward {
    type State = State;

    fn backward(self, ops: Ops<State, INPUTS>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d_out = contiguous(grads.consume::<Flex>(&ops.node));
        let d_out = d_out.as_slice::<f32>().expect("contiguous f32");
        let State { operation, inputs, kept } = ops.state;
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let back = BackwardInput { inputs: slices(&inputs), kept, d_out, wanted };
        let found = SCRATCH.with_borrow_mut(|scratch| operation.backward(back, scratch));
        for ((parent, gradient), input) in ops.parents.into_iter().zip(found).zip(&*inputs) {
            if let (Some(parent), Some(gradient)) = (parent, gradient) {
                grads.register::<Flex>(parent.id, tensor(gradient, &input.shape()));
            }
        }
    }
}

impl<C: CheckpointStrategy> FusedBackend for Autodiff<Flex, C> {
    fn fused(
        operation: Arc<dyn FusedOp>,
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
                let (out, kept) = forward(&*operation, &inputs, true);
                prepared.finish(State { operation, inputs, kept }, out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(forward(&*operation, &inputs, false).0),
        }
    }
}
