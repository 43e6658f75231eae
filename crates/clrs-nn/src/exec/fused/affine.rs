//! Sums of linear layers, evaluated in one pass over the result.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::gemm::{Accumulate, Epilogue, add_matmul_tn, matmul_packed, relu_backward};
use clrs_kernels::{Isa, Scratch, expand};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::weights::{FoldedWeight, add};

/// A tensor and the weight that it is multiplied with.
type Term = (Tensor<2>, FoldedWeight);

/// `sum(x W) + sum(y V) + sum(b)`, `[B * N, outputs]`, reshaped to `shape(outputs)`.
///
/// Node terms `(x, W)` have a row per node, `[B * N, inputs]`. Sample terms `(y, V)` have a row per sample, `[B, inputs]`, which is
/// added to all of its `nodes` rows. Biases `b` are `[1, outputs]`. With `relu`, a `ReLU` follows.
pub(crate) fn affine<const D: usize>(
    ctx: &ForwardContext,
    nodes: usize,
    node_terms: Vec<Term>,
    sample_terms: Vec<Term>,
    biases: Vec<FoldedWeight>,
    relu: bool,
    shape: impl Fn(usize) -> [usize; D],
) -> Tensor<D> {
    let [rows, _] = node_terms[0].0.dims();
    let weights = |terms: &[Term]| terms.iter().map(|(_, weight)| ctx.weight_ref(*weight)).collect::<Vec<_>>();
    let node_weights = weights(&node_terms);
    let [_, outputs] = node_weights[0].matrix.dims();
    let op = Affine {
        shape: shape(outputs).to_vec(),
        rows,
        outputs,
        nodes,
        node_weights,
        sample_weights: weights(&sample_terms),
        biases: biases.into_iter().map(|weight| ctx.weight_ref(weight)).collect(),
        relu,
    };
    apply(ctx, op, node_terms.into_iter().chain(sample_terms).map(|(rows, _)| input(rows)).collect())
}

struct Affine {
    shape: Vec<usize>,
    /// `B * N`
    rows: usize,
    outputs: usize,
    /// Rows per sample, `N`.
    nodes: usize,
    node_weights: Vec<WeightRef>,
    sample_weights: Vec<WeightRef>,
    biases: Vec<WeightRef>,
    relu: bool,
}

impl FusedOp for Affine {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// Saves the result if a `ReLU` follows.
    fn forward(&self, inputs: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, _: &mut Scratch) -> SavedState {
        let (isa, outputs) = (Isa::best(), self.outputs);
        let (node_inputs, sample_inputs) = inputs.split_at(self.node_weights.len());
        let mut bias = vec![0.0; outputs];
        for WeightRef { matrix, .. } in &self.biases {
            add(&mut bias, matrix.values());
        }
        let mut accumulate = Accumulate::Bias(&bias);
        if !self.sample_weights.is_empty() {
            let mut sums = vec![0.0; self.rows / self.nodes * outputs];
            let mut initial = Accumulate::Bias(&bias);
            for (WeightRef { matrix, .. }, x) in self.sample_weights.iter().zip(sample_inputs) {
                matmul_packed(isa, x, matrix.packed(), initial, Epilogue::Identity, &mut sums);
                initial = Accumulate::Output;
            }
            expand::forward(&sums, outputs, self.nodes, out);
            accumulate = Accumulate::Output;
        }
        for (index, (WeightRef { matrix, .. }, x)) in self.node_weights.iter().zip(node_inputs).enumerate() {
            let is_last = index + 1 == self.node_weights.len();
            let epilogue = if is_last && self.relu { Epilogue::Relu } else { Epilogue::Identity };
            matmul_packed(isa, x, matrix.packed(), accumulate, epilogue, out);
            accumulate = Accumulate::Output;
        }
        Arc::new(if save_for_backward && self.relu { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let out = back.saved::<Vec<f32>>();
        let BackwardInput { inputs, d_out, needs_input_grad, .. } = back;
        let outputs = self.outputs;
        let mut d_sum = Vec::new();
        let d_out = if self.relu {
            d_sum.resize(d_out.len(), 0.0);
            relu_backward(&out, d_out, &mut d_sum);
            &d_sum
        } else {
            d_out
        };
        let mut d_samples = Vec::new();
        if !(self.sample_weights.is_empty() && self.biases.is_empty()) {
            d_samples.resize(d_out.len() / self.nodes, 0.0);
            expand::backward(d_out, outputs, self.nodes, &mut d_samples);
        }
        let mut gradients = InputGradients::default();
        for (index, weight) in self.node_weights.iter().chain(&self.sample_weights).enumerate() {
            let d_out = if index < self.node_weights.len() { d_out } else { &d_samples };
            gradients[index] = term_backward(weight, inputs[index], d_out, needs_input_grad[index], scratch);
        }
        if !self.biases.is_empty() {
            let mut d_bias = vec![0.0; outputs];
            expand::backward(&d_samples, outputs, self.rows / self.nodes, &mut d_bias);
            for WeightRef { grad, .. } in &self.biases {
                grad.add(outputs, |sum| add(sum, &d_bias));
            }
        }
        gradients
    }
}

/// Backward of the product `x W`: adds to the gradient of the weight, and returns that of `x` if it is needed.
pub(super) fn term_backward(
    weight: &WeightRef,
    x: &[f32],
    d_out: &[f32],
    needs_input_grad: bool,
    scratch: &mut Scratch,
) -> Option<Vec<f32>> {
    let (isa, [inputs, outputs]) = (Isa::best(), weight.matrix.dims());
    let rows = d_out.len() / outputs;
    weight.grad.add(inputs * outputs, |sum| add_matmul_tn(isa, [rows, inputs, outputs], x, d_out, sum, scratch));
    needs_input_grad.then(|| {
        let mut d_x = vec![0.0; rows * inputs];
        matmul_packed(isa, d_out, weight.matrix.transposed(), Accumulate::Zero, Epilogue::Identity, &mut d_x);
        d_x
    })
}
