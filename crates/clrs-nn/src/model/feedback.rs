//! From logits to what is read of them: probabilities (soft) or decisions (hard).

use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{Tensor, TensorData};
use clrs::Kind;
use clrs_kernels::{Isa, sinkhorn};

use super::decoders::log_sinkhorn;
use crate::exec::context::ForwardContext;
use crate::exec::fused::{self, Normalization};

/// Sinkhorn iterations on logits that are fed back as hints. As dm-clrs has it.
pub(crate) const SINKHORN_FEEDBACK: usize = 25;
/// Sinkhorn iterations on logits that are scored. As dm-clrs has it.
pub(crate) const SINKHORN_SCORED: usize = 50;

/// Probabilities, `[B, R, K]`, differentiable. Scalars stay as they are.
pub(crate) fn soft(ctx: &ForwardContext, kind: Kind, logits: Tensor<3>) -> Tensor<3> {
    match kind {
        Kind::Scalar => logits,
        Kind::Permutation | Kind::CyclicPermutation => log_sinkhorn(ctx, logits, SINKHORN_FEEDBACK).exp(),
        Kind::Mask if ctx.fused => fused::probabilities(ctx, logits, Normalization::Sigmoid),
        Kind::Mask => sigmoid(logits),
        _ if ctx.fused => fused::probabilities(ctx, logits, Normalization::Softmax),
        Kind::MaskOne | Kind::Categorical { .. } | Kind::Pointer => softmax(logits, 2),
    }
}

/// Decisions as 0 and 1, `[B, R, K]`, without gradient. Scalars stay as they are.
pub(crate) fn hard(kind: Kind, logits: Tensor<3>, sinkhorn_iterations: usize) -> Tensor<3> {
    let (device, shape) = (logits.device(), logits.dims());
    if kind == Kind::Scalar {
        return logits.detach();
    }
    let mut values: Vec<f32> = logits.try_into_vec_as().expect("f32");
    decide(kind, &mut values, shape, sinkhorn_iterations);
    Tensor::from_data(TensorData::new(values, shape), &device)
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
