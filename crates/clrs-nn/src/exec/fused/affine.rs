//! Sums of linear layers, evaluated in one pass over the result.

use clrs_kernels::elementwise::Unary;
use clrs_kernels::gemm::{Accumulate, Epilogue, add_matmul_tn, matmul_packed};
use clrs_kernels::{Isa, Scratch, expand};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
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
        rows,
        outputs,
        nodes,
        node_weights,
        sample_weights: weights(&sample_terms),
        biases: biases.into_iter().map(|weight| ctx.weight_ref(weight)).collect(),
        relu,
    };
    apply(ctx, op, node_terms.into_iter().chain(sample_terms).map(|(rows, _)| rows.view()).collect(), shape(outputs))
}

struct Affine {
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

impl Op for Affine {
    /// Saves the result if a `ReLU` follows.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, _: &mut Scratch) -> Saved {
        let (isa, outputs) = (Isa::best(), self.outputs);
        let mut bias = vec![0.0; outputs];
        for WeightRef { matrix, .. } in &self.biases {
            add(&mut bias, matrix.values());
        }
        let mut accumulate = Accumulate::Bias(&bias);
        if !self.sample_weights.is_empty() {
            let mut sums = vec![0.0; self.rows / self.nodes * outputs];
            let mut initial = Accumulate::Bias(&bias);
            for (index, WeightRef { matrix, .. }) in (self.node_weights.len()..).zip(&self.sample_weights) {
                matmul_packed(isa, inputs.get(index), matrix.packed(), initial, Epilogue::Identity, &mut sums);
                initial = Accumulate::Output;
            }
            expand::forward(&sums, outputs, self.nodes, out);
            accumulate = Accumulate::Output;
        }
        for (index, WeightRef { matrix, .. }) in self.node_weights.iter().enumerate() {
            let is_last = index + 1 == self.node_weights.len();
            let epilogue = if is_last && self.relu { Epilogue::Relu } else { Epilogue::Identity };
            matmul_packed(isa, inputs.get(index), matrix.packed(), accumulate, epilogue, out);
            accumulate = Accumulate::Output;
        }
        Box::new(if save && self.relu { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let (out, mut d_out) = (back.saved::<Vec<f32>>(), std::mem::take(&mut back.d_out));
        let outputs = self.outputs;
        if self.relu {
            Unary::Relu.backward(&out, &mut d_out);
        }
        let mut d_samples = Vec::new();
        if !(self.sample_weights.is_empty() && self.biases.is_empty()) {
            d_samples.resize(d_out.len() / self.nodes, 0.0);
            expand::backward(&d_out, outputs, self.nodes, &mut d_samples);
        }
        for (index, weight) in self.node_weights.iter().chain(&self.sample_weights).enumerate() {
            let d_out = if index < self.node_weights.len() { &d_out } else { &d_samples };
            term_backward(weight, &mut back, index, d_out, scratch);
        }
        if !self.biases.is_empty() {
            let mut d_bias = vec![0.0; outputs];
            expand::backward(&d_samples, outputs, self.rows / self.nodes, &mut d_bias);
            for WeightRef { grad, .. } in &self.biases {
                grad.add(outputs, |sum| add(sum, &d_bias));
            }
        }
    }
}

/// Backward of the product `x W`: adds to the gradients of the weight and of the input `x`, given by its index.
pub(super) fn term_backward(weight: &WeightRef, back: &mut Backward<'_>, index: usize, d_out: &[f32], scratch: &mut Scratch) {
    let (isa, [inputs, outputs]) = (Isa::best(), weight.matrix.dims());
    let (rows, x) = (d_out.len() / outputs, back.inputs.get(index));
    weight.grad.add(inputs * outputs, |sum| add_matmul_tn(isa, [rows, inputs, outputs], x, d_out, sum, scratch));
    if back.needs_grad(index) {
        let mut d_x = vec![0.0; rows * inputs];
        matmul_packed(isa, d_out, weight.matrix.transposed(), Accumulate::Zero, Epilogue::Identity, &mut d_x);
        back.add(index, d_x);
    }
}

/// A folded weight as a tensor.
pub(crate) fn constant(ctx: &ForwardContext, weight: FoldedWeight) -> Tensor<2> {
    let weight = ctx.weight_ref(weight);
    let shape = weight.matrix.dims();
    apply(ctx, Constant(weight), Vec::new(), shape)
}

struct Constant(WeightRef);

impl Op for Constant {
    fn forward(&self, _: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(self.0.matrix.values());
        Box::new(())
    }

    fn backward(&self, back: Backward<'_>, _: &mut Scratch) {
        self.0.grad.add(back.d_out.len(), |sum| add(sum, &back.d_out));
    }
}
