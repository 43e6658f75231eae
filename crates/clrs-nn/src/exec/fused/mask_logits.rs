//! Logits of pairs of nodes of which some may not be chosen.

use std::rc::Rc;

use clrs_kernels::{Scratch, mask_logits as kernel};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// Lowers the logits of pairs that may not be chosen below all others of their sample, `[B, N, N]`.
pub(crate) fn mask_logits(ctx: &ForwardContext, logits: Tensor<3>, allowed: Rc<Vec<bool>>) -> Tensor<3> {
    let shape = logits.dims();
    apply(ctx, MaskLogits { pairs: shape[1] * shape[2], allowed }, vec![logits.view()], shape)
}

struct MaskLogits {
    /// Pairs of a sample.
    pairs: usize,
    allowed: Rc<Vec<bool>>,
}

impl Op for MaskLogits {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(inputs.get(0));
        for (out, allowed) in out.chunks_exact_mut(self.pairs).zip(self.allowed.chunks_exact(self.pairs)) {
            kernel::forward(out, allowed);
        }
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut d_logits = std::mem::take(&mut back.d_out);
        let samples = back.inputs.get(0).chunks_exact(self.pairs).zip(self.allowed.chunks_exact(self.pairs));
        for ((logits, allowed), d_logits) in samples.zip(d_logits.chunks_exact_mut(self.pairs)) {
            kernel::backward(logits, allowed, d_logits);
        }
        back.add(0, d_logits);
    }
}
