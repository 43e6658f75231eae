//! Probabilities of logits: sigmoid or softmax.

use clrs_kernels::rowwise::{softmax, softmax_backward};
use clrs_kernels::{Isa, Scratch, sigmoid};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// Function from logits to probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Normalization {
    /// Every element by itself.
    Sigmoid,
    /// Over the last axis.
    Softmax,
}

/// Probabilities of logits, `[B, R, K]`.
pub(crate) fn probabilities(ctx: &ForwardContext, logits: Tensor<3>, normalization: Normalization) -> Tensor<3> {
    let shape = logits.dims();
    apply(ctx, Probabilities { classes: shape[2], normalization }, vec![logits.view()], shape)
}

struct Probabilities {
    classes: usize,
    normalization: Normalization,
}

impl Op for Probabilities {
    /// Saves the probabilities.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(inputs.get(0));
        match self.normalization {
            Normalization::Sigmoid => sigmoid::forward(out),
            Normalization::Softmax => softmax(Isa::best(), out, self.classes),
        }
        Box::new(if save { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let (probabilities, mut d_logits) = (back.saved::<Vec<f32>>(), std::mem::take(&mut back.d_out));
        match self.normalization {
            Normalization::Sigmoid => sigmoid::backward(&probabilities, &mut d_logits),
            Normalization::Softmax => softmax_backward(Isa::best(), &probabilities, &mut d_logits, self.classes),
        }
        back.add(0, d_logits);
    }
}
