//! Probabilities of logits: sigmoid or softmax.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::rowwise::{softmax, softmax_backward};
use clrs_kernels::{Isa, Scratch, sigmoid};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input, only_first};
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
    apply(ctx, Probabilities { shape, normalization }, vec![input(logits)])
}

struct Probabilities {
    shape: [usize; 3],
    normalization: Normalization,
}

impl FusedOp for Probabilities {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    /// Saves the probabilities.
    fn forward(&self, &[logits, ..]: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, _: &mut Scratch) -> SavedState {
        out.copy_from_slice(logits);
        match self.normalization {
            Normalization::Sigmoid => sigmoid::forward(out),
            Normalization::Softmax => softmax(Isa::best(), out, self.shape[2]),
        }
        Arc::new(if save_for_backward { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let probabilities = back.saved::<Vec<f32>>();
        let mut d_logits = back.d_out.to_vec();
        match self.normalization {
            Normalization::Sigmoid => sigmoid::backward(&probabilities, &mut d_logits),
            Normalization::Softmax => softmax_backward(Isa::best(), &probabilities, &mut d_logits, self.shape[2]),
        }
        only_first(d_logits)
    }
}
