//! The Sinkhorn operator in log space.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::sinkhorn::{self as kernel, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input, only_first};
use crate::exec::context::ForwardContext;

/// Log-probabilities of a doubly stochastic matrix per sample, `[B, N, N]`, from logits of the same shape. One iteration normalizes
/// rows, then columns.
pub(crate) fn log_sinkhorn(ctx: &ForwardContext, logits: Tensor<3>, iterations: usize) -> Tensor<3> {
    let [samples, nodes, _] = logits.dims();
    apply(ctx, Sinkhorn { samples, nodes, iterations }, vec![input(logits)])
}

struct Sinkhorn {
    samples: usize,
    nodes: usize,
    iterations: usize,
}

impl FusedOp for Sinkhorn {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes]
    }

    /// Saves the tape of every sample.
    fn forward(&self, &[logits, ..]: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, _: &mut Scratch) -> SavedState {
        out.copy_from_slice(logits);
        let mut tapes = Vec::new();
        for out in out.chunks_exact_mut(self.nodes * self.nodes) {
            let mut tape = save_for_backward.then(Tape::default);
            kernel::forward(Isa::best(), self.nodes, out, self.iterations, tape.as_mut());
            tapes.extend(tape);
        }
        Arc::new(tapes)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let tapes = back.saved::<Vec<Tape>>();
        let mut d_logits = back.d_out.to_vec();
        for (d_logits, tape) in d_logits.chunks_exact_mut(self.nodes * self.nodes).zip(&*tapes) {
            kernel::backward(Isa::best(), tape, d_logits);
        }
        only_first(d_logits)
    }
}
