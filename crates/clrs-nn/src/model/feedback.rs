//! Decoding of logits into probabilities (soft) or decisions (hard).

use burn::tensor::activation::softmax;
use clrs::Kind;
use clrs_kernels::{Isa, sinkhorn};

use super::decoders::log_sinkhorn;
use crate::exec::context::ForwardContext;
use crate::exec::fused::{self, Normalization};
use crate::exec::tensor::Tensor;

/// Sinkhorn iterations on logits that are fed back as hints, as in dm-clrs.
pub(crate) const SINKHORN_FEEDBACK: usize = 25;
/// Sinkhorn iterations on logits that are scored, as in dm-clrs.
pub(crate) const SINKHORN_SCORED: usize = 50;

/// Probabilities, `[B, R, K]`, differentiable. Scalars stay as they are.
pub(crate) fn soft(ctx: &ForwardContext, kind: Kind, logits: Tensor<3>) -> Tensor<3> {
    match kind {
        Kind::Scalar => logits,
        Kind::Permutation | Kind::CyclicPermutation => log_sinkhorn(ctx, logits, SINKHORN_FEEDBACK).exp(),
        Kind::Mask if ctx.fused => fused::probabilities(ctx, logits, Normalization::Sigmoid),
        Kind::Mask => logits.sigmoid(),
        _ if ctx.fused => fused::probabilities(ctx, logits, Normalization::Softmax),
        Kind::MaskOne | Kind::Categorical { .. } | Kind::Pointer => softmax(logits.burn(), 2).into(),
    }
}

/// Decisions as 0 and 1, `[B, R, K]`, without gradient. Scalars stay as they are.
pub(crate) fn hard(ctx: &ForwardContext, kind: Kind, logits: Tensor<3>, sinkhorn_iterations: usize) -> Tensor<3> {
    let shape = logits.dims();
    if kind == Kind::Scalar {
        return logits.detach();
    }
    let mut values = logits.into_vec();
    decide(kind, &mut values, shape, sinkhorn_iterations);
    ctx.tensor(values, shape)
}

/// Replaces logits `[B, R, K]` by decisions.
pub(crate) fn decide(kind: Kind, values: &mut [f32], [_, _, classes]: [usize; 3], sinkhorn_iterations: usize) {
    match kind {
        Kind::Scalar => return,
        Kind::Mask => {
            for value in values {
                *value = f32::from(*value > 0.0);
            }
            return;
        }
        Kind::Permutation | Kind::CyclicPermutation => {
            for logits in values.chunks_exact_mut(classes * classes) {
                sinkhorn::forward(Isa::best(), classes, logits, sinkhorn_iterations, None);
            }
        }
        Kind::MaskOne | Kind::Categorical { .. } | Kind::Pointer => {}
    }
    for row in values.chunks_exact_mut(classes) {
        let chosen = argmax(row);
        row.fill(0.0);
        row[chosen] = 1.0;
    }
}

/// Index of the largest value; the first of equal ones. NaN is never larger, so a row of NaN gives 0.
pub(crate) fn argmax(row: &[f32]) -> usize {
    row.iter().enumerate().fold(0, |best, (index, value)| if *value > row[best] { index } else { best })
}
