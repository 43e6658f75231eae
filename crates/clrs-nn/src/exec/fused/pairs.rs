//! Layers over ordered pairs of nodes.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::gemm::{Accumulate, Epilogue, matmul_packed};
use clrs_kernels::{Isa, Scratch, pairwise_sum};

use super::affine::term_backward;
use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::weights::FoldedWeight;

/// `first[i] + second[j] + sum(x[i, j] W)` for every pair of nodes `i`, `j`: `[B, N, N, outputs]`, from `first` and `second`,
/// `[B, N, outputs]`, and terms `(x, W)` with a row per pair, `[B * N * N, inputs]`.
pub(crate) fn pairs(
    ctx: &ForwardContext,
    first: Tensor<3>,
    second: Tensor<3>,
    pair_terms: Vec<(Tensor<2>, FoldedWeight)>,
) -> Tensor<4> {
    let [samples, nodes, outputs] = first.dims();
    let (rows, weights): (Vec<_>, Vec<_>) =
        pair_terms.into_iter().map(|(rows, weight)| (input(rows), ctx.weight_ref(weight))).unzip();
    let op = Pairs { samples, nodes, outputs, weights };
    apply(ctx, op, [input(first), input(second)].into_iter().chain(rows).collect())
}

struct Pairs {
    samples: usize,
    nodes: usize,
    outputs: usize,
    /// Weights of the terms with a row per pair.
    weights: Vec<WeightRef>,
}

/// Inputs before those of the terms: `first` and `second`.
const NODE_INPUTS: usize = 2;

impl FusedOp for Pairs {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes, self.outputs]
    }

    fn forward(&self, inputs: &InputSlices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let rows = self.nodes * self.outputs;
        let nodes = inputs[0].chunks_exact(rows).zip(inputs[1].chunks_exact(rows));
        for ((first, second), out) in nodes.zip(out.chunks_exact_mut(self.nodes * rows)) {
            pairwise_sum::forward(first, second, self.outputs, out);
        }
        for (WeightRef { matrix, .. }, x) in self.weights.iter().zip(&inputs[NODE_INPUTS..]) {
            matmul_packed(Isa::best(), x, matrix.packed(), Accumulate::Output, Epilogue::Identity, out);
        }
        Arc::new(())
    }

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let BackwardInput { inputs, d_out, needs_input_grad, .. } = back;
        let rows = self.nodes * self.outputs;
        let (mut d_first, mut d_second) = (vec![0.0; inputs[0].len()], vec![0.0; inputs[1].len()]);
        let nodes = d_first.chunks_exact_mut(rows).zip(d_second.chunks_exact_mut(rows));
        for ((d_first, d_second), d_out) in nodes.zip(d_out.chunks_exact(self.nodes * rows)) {
            pairwise_sum::backward(d_out, self.outputs, d_first, d_second);
        }
        let mut gradients = InputGradients::default();
        for (index, weight) in (NODE_INPUTS..).zip(&self.weights) {
            gradients[index] = term_backward(weight, inputs[index], d_out, needs_input_grad[index], scratch);
        }
        [gradients[0], gradients[1]] = [Some(d_first), Some(d_second)];
        gradients
    }
}
