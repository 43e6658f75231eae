//! Layers over pairs of nodes and both of their nodes.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::gemm::{Accumulate, Epilogue, matmul_packed};
use clrs_kernels::{Isa, Scratch};

use super::affine::term_backward;
use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::weights::{FoldedWeight, add};

/// Of every pair what is said of its first and of its second node, `[B, N, outputs]`, and rows of its own times pieces:
/// `[B, N, N, outputs]`.
pub(crate) fn pairs(
    ctx: &ForwardContext,
    first: Tensor<3>,
    second: Tensor<3>,
    of_pairs: Vec<(Tensor<2>, FoldedWeight)>,
) -> Tensor<4> {
    let [samples, nodes, outputs] = first.dims();
    let (rows, weight_ref): (Vec<_>, Vec<_>) =
        of_pairs.into_iter().map(|(rows, piece)| (input(rows), ctx.weight_ref(piece))).unzip();
    let operation = Pairs { samples, nodes, outputs, pieces: weight_ref };
    compute(ctx, operation, [input(first), input(second)].into_iter().chain(rows).collect())
}

struct Pairs {
    samples: usize,
    nodes: usize,
    outputs: usize,
    /// What rows of their own are multiplied with.
    pieces: Vec<WeightRef>,
}

impl FusedOp for Pairs {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes, self.outputs]
    }

    fn forward(&self, inputs: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let [first, second, ..] = inputs;
        let width = self.outputs;
        for (number, row) in out.chunks_exact_mut(width).enumerate() {
            let (of_first, of_second) = self.nodes_of(number);
            let (first, second) = (&first[of_first * width..][..width], &second[of_second * width..][..width]);
            row.iter_mut().zip(first).zip(second).for_each(|((out, first), second)| *out = first + second);
        }
        for (WeightRef { matrix, .. }, x) in self.pieces.iter().zip(&inputs[2..]) {
            matmul_packed(Isa::best(), x, matrix.packed(), Accumulate::Output, Epilogue::Identity, out);
        }
        Arc::new(())
    }

    fn backward(&self, BackwardInput { inputs, d_out, wanted, .. }: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let width = self.outputs;
        let (mut d_first, mut d_second) = (vec![0.0; inputs[0].len()], vec![0.0; inputs[1].len()]);
        for (number, d) in d_out.chunks_exact(width).enumerate() {
            let (first, second) = self.nodes_of(number);
            for sum in [&mut d_first[first * width..][..width], &mut d_second[second * width..][..width]] {
                add(sum, d);
            }
        }
        let mut gradients = InputGradients::default();
        for (place, weight_ref) in (2..).zip(&self.pieces) {
            gradients[place] = term_backward(weight_ref, inputs[place], d_out, wanted[place], scratch);
        }
        [gradients[0], gradients[1]] = [Some(d_first), Some(d_second)];
        gradients
    }
}

impl Pairs {
    /// The rows of both nodes of a pair.
    fn nodes_of(&self, pair: usize) -> (usize, usize) {
        let first = pair / self.nodes;
        (first, first / self.nodes * self.nodes + pair % self.nodes)
    }
}
