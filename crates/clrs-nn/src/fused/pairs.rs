//! Layers over pairs of nodes and both of their nodes.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::gemm::{Accumulate, Epilogue, matmul_packed};
use clrs_kernels::{Isa, Scratch};

use super::affine::term_backward;
use super::{Back, InputGradients, Kept, Operation, Slices, compute, input};
use crate::features::Pass;
use crate::pass::Learnt;
use crate::weights::{Piece, add};

/// Of every pair what is said of its first and of its second node, `[B, N, outputs]`, and rows of its own times pieces:
/// `[B, N, N, outputs]`.
pub(crate) fn pairs(pass: &Pass, first: Tensor<3>, second: Tensor<3>, of_pairs: Vec<(Tensor<2>, Piece)>) -> Tensor<4> {
    let [samples, nodes, outputs] = first.dims();
    let (rows, learnt): (Vec<_>, Vec<_>) = of_pairs.into_iter().map(|(rows, piece)| (input(rows), pass.learnt(piece))).unzip();
    let operation = Pairs { samples, nodes, outputs, pieces: learnt };
    compute(pass, operation, [input(first), input(second)].into_iter().chain(rows).collect())
}

struct Pairs {
    samples: usize,
    nodes: usize,
    outputs: usize,
    /// What rows of their own are multiplied with.
    pieces: Vec<Learnt>,
}

impl Operation for Pairs {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes, self.outputs]
    }

    fn forward(&self, inputs: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Kept {
        let [first, second, ..] = inputs;
        let width = self.outputs;
        for (number, row) in out.chunks_exact_mut(width).enumerate() {
            let (of_first, of_second) = self.nodes_of(number);
            let (first, second) = (&first[of_first * width..][..width], &second[of_second * width..][..width]);
            row.iter_mut().zip(first).zip(second).for_each(|((out, first), second)| *out = first + second);
        }
        for (Learnt { matrix, .. }, x) in self.pieces.iter().zip(&inputs[2..]) {
            matmul_packed(Isa::best(), x, matrix.packed(), Accumulate::Output, Epilogue::Identity, out);
        }
        Arc::new(())
    }

    fn backward(&self, Back { inputs, d_out, wanted, .. }: Back<'_>, scratch: &mut Scratch) -> InputGradients {
        let width = self.outputs;
        let (mut d_first, mut d_second) = (vec![0.0; inputs[0].len()], vec![0.0; inputs[1].len()]);
        for (number, d) in d_out.chunks_exact(width).enumerate() {
            let (first, second) = self.nodes_of(number);
            for sum in [&mut d_first[first * width..][..width], &mut d_second[second * width..][..width]] {
                add(sum, d);
            }
        }
        let mut gradients = InputGradients::default();
        for (place, learnt) in (2..).zip(&self.pieces) {
            gradients[place] = term_backward(learnt, inputs[place], d_out, wanted[place], scratch);
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
