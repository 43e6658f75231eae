//! Sums of layers.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::gemm::{Accumulate, Epilogue, add_matmul_tn, matmul_packed};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::weights::{FoldedWeight, add};

/// Rows times pieces, added up with constants, `[rows, outputs]` in the shape that is asked for. Those of samples are for all of
/// their `count` rows.
pub(crate) fn affine<const D: usize>(
    ctx: &ForwardContext,
    count: usize,
    of_nodes: Vec<(Tensor<2>, FoldedWeight)>,
    of_samples: Vec<(Tensor<2>, FoldedWeight)>,
    constants: Vec<FoldedWeight>,
    rectify: bool,
    shape: impl Fn(usize) -> [usize; D],
) -> Tensor<D> {
    let [rows, _] = of_nodes[0].0.dims();
    let weight_ref =
        |terms: &[(Tensor<2>, FoldedWeight)]| terms.iter().map(|(_, piece)| ctx.weight_ref(*piece)).collect::<Vec<_>>();
    let pieces = weight_ref(&of_nodes);
    let [_, outputs] = pieces[0].matrix.dims();
    let operation = Affine {
        shape: shape(outputs).to_vec(),
        rows,
        outputs,
        count,
        of_nodes: pieces,
        of_samples: weight_ref(&of_samples),
        constants: constants.into_iter().map(|piece| ctx.weight_ref(piece)).collect(),
        rectify,
    };
    compute(ctx, operation, of_nodes.into_iter().chain(of_samples).map(|(rows, _)| input(rows)).collect())
}

struct Affine {
    shape: Vec<usize>,
    rows: usize,
    outputs: usize,
    /// Rows of a sample.
    count: usize,
    of_nodes: Vec<WeightRef>,
    of_samples: Vec<WeightRef>,
    constants: Vec<WeightRef>,
    rectify: bool,
}

impl FusedOp for Affine {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn forward(&self, inputs: &Slices<'_>, out: &mut [f32], keep: bool, _: &mut Scratch) -> SavedState {
        let (isa, outputs) = (Isa::best(), self.outputs);
        let (of_nodes, of_samples) = inputs.split_at(self.of_nodes.len());
        let mut constant = vec![0.0; outputs];
        for WeightRef { matrix, .. } in &self.constants {
            add(&mut constant, matrix.values());
        }
        let mut start = Accumulate::Bias(&constant);
        if !self.of_samples.is_empty() {
            let mut sums = vec![0.0; self.rows / self.count * outputs];
            let mut from = Accumulate::Bias(&constant);
            for (WeightRef { matrix, .. }, x) in self.of_samples.iter().zip(of_samples) {
                matmul_packed(isa, x, matrix.packed(), from, Epilogue::Identity, &mut sums);
                from = Accumulate::Output;
            }
            for (rows, sum) in out.chunks_exact_mut(self.count * outputs).zip(sums.chunks_exact(outputs)) {
                rows.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(sum));
            }
            start = Accumulate::Output;
        }
        for (number, (WeightRef { matrix, .. }, x)) in self.of_nodes.iter().zip(of_nodes).enumerate() {
            let is_last = number + 1 == self.of_nodes.len();
            let end = if is_last && self.rectify { Epilogue::Relu } else { Epilogue::Identity };
            matmul_packed(isa, x, matrix.packed(), start, end, out);
            start = Accumulate::Output;
        }
        Arc::new(if keep && self.rectify { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let kept = back.kept::<Vec<f32>>();
        let BackwardInput { inputs, d_out, wanted, .. } = back;
        let outputs = self.outputs;
        let rectified: Vec<f32>;
        let d_out = if self.rectify {
            rectified = kept.iter().zip(d_out).map(|(out, d)| if *out > 0.0 { *d } else { 0.0 }).collect();
            &rectified
        } else {
            d_out
        };
        let is_needed = !(self.of_samples.is_empty() && self.constants.is_empty());
        let d_samples = if is_needed { sums(d_out, outputs, self.count) } else { Vec::new() };
        let mut gradients = InputGradients::default();
        for (place, weight_ref) in self.of_nodes.iter().chain(&self.of_samples).enumerate() {
            let d_out = if place < self.of_nodes.len() { d_out } else { &d_samples };
            gradients[place] = term_backward(weight_ref, inputs[place], d_out, wanted[place], scratch);
        }
        if !self.constants.is_empty() {
            let d_constant = sums(&d_samples, outputs, self.rows / self.count);
            for WeightRef { grad, .. } in &self.constants {
                grad.add(outputs, |sum| add(sum, &d_constant));
            }
        }
        gradients
    }
}

/// Adds to the gradient of a piece, and returns that of the rows, if it is wanted.
pub(super) fn term_backward(
    weight_ref: &WeightRef,
    x: &[f32],
    d_out: &[f32],
    wanted: bool,
    scratch: &mut Scratch,
) -> Option<Vec<f32>> {
    let (isa, [inputs, outputs]) = (Isa::best(), weight_ref.matrix.dims());
    let rows = d_out.len() / outputs;
    weight_ref.grad.add(inputs * outputs, |sum| {
        add_matmul_tn(isa, [rows, inputs, outputs], x, d_out, sum, scratch);
    });
    wanted.then(|| {
        let mut d_x = vec![0.0; rows * inputs];
        matmul_packed(isa, d_out, weight_ref.matrix.transposed(), Accumulate::Zero, Epilogue::Identity, &mut d_x);
        d_x
    })
}

/// Of every so many rows, their sum.
fn sums(rows: &[f32], width: usize, count: usize) -> Vec<f32> {
    let mut sums = vec![0.0; rows.len() / count.max(1)];
    for (sum, rows) in sums.chunks_exact_mut(width).zip(rows.chunks_exact(width * count)) {
        for row in rows.chunks_exact(width) {
            add(sum, row);
        }
    }
    sums
}
