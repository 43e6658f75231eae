//! The Sinkhorn operator in log space.

use clrs_kernels::sinkhorn::{self as kernel, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// Log-probabilities of a doubly stochastic matrix per sample, `[B, N, N]`, from logits of the same shape. One iteration normalizes
/// rows, then columns.
pub(crate) fn log_sinkhorn(ctx: &ForwardContext, logits: Tensor<3>, iterations: usize) -> Tensor<3> {
    let [samples, nodes, _] = logits.dims();
    apply(ctx, Sinkhorn { nodes, iterations }, vec![logits.view()], [samples, nodes, nodes])
}

struct Sinkhorn {
    nodes: usize,
    iterations: usize,
}

impl Op for Sinkhorn {
    /// Saves the tape of every sample.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(inputs.get(0));
        let mut tapes = Vec::new();
        for out in out.chunks_exact_mut(self.nodes * self.nodes) {
            let mut tape = save.then(Tape::default);
            kernel::forward(Isa::best(), self.nodes, out, self.iterations, tape.as_mut());
            tapes.extend(tape);
        }
        Box::new(tapes)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let (tapes, mut d_logits) = (back.saved::<Vec<Tape>>(), std::mem::take(&mut back.d_out));
        for (d_logits, tape) in d_logits.chunks_exact_mut(self.nodes * self.nodes).zip(&tapes) {
            kernel::backward(Isa::best(), tape, d_logits);
        }
        back.add(0, d_logits);
    }
}
