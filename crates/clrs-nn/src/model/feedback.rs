//! What is read of logits: chances or decisions.

use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{Tensor, TensorData};
use clrs::Kind;
use clrs_kernels::{Isa, sinkhorn};

use crate::model::decoders::log_sinkhorn;
use crate::exec::features::ForwardContext;
use crate::exec::fused;

/// Rounds of Sinkhorn's method: inside the decoder, on what is fed back, and on what is scored.
pub(crate) const DECODED: usize = 10;
pub(crate) const FED_BACK: usize = 25;
pub(crate) const SCORED: usize = 50;

/// Logits as chances, `[B, R, K]`, with their gradients.
pub(crate) fn soft(pass: &ForwardContext, kind: Kind, logits: Tensor<3>) -> Tensor<3> {
    match kind {
        Kind::Scalar => logits,
        Kind::Permutation | Kind::CyclicPermutation => log_sinkhorn(pass, logits, FED_BACK).exp(),
        _ if pass.fused => fused::probabilities(pass, logits, kind != Kind::Mask),
        Kind::Mask => sigmoid(logits),
        Kind::MaskOne | Kind::Categorical { .. } | Kind::Pointer => softmax(logits, 2),
    }
}

/// Logits as decisions, `[B, R, K]`: 0, or 1 for what is chosen. Scalars stay as they are. No gradient passes.
pub(crate) fn hard(kind: Kind, logits: Tensor<3>, rounds: usize) -> Tensor<3> {
    let (device, shape) = (logits.device(), logits.dims());
    if kind == Kind::Scalar {
        return logits.detach();
    }
    let mut values: Vec<f32> = logits.try_into_vec_as().expect("f32");
    if matches!(kind, Kind::Permutation | Kind::CyclicPermutation) {
        let [_, nodes, _] = shape;
        values.chunks_exact_mut(nodes * nodes).for_each(|logits| sinkhorn::forward(Isa::best(), nodes, logits, rounds, None));
    }
    if kind == Kind::Mask {
        for value in &mut values {
            *value = f32::from(*value > 0.0);
        }
    } else {
        for row in values.chunks_exact_mut(shape[2]) {
            let chosen = argmax(row);
            row.fill(0.0);
            row[chosen] = 1.0;
        }
    }
    Tensor::from_data(TensorData::new(values, shape), &device)
}

/// The place of the largest; the first, where there are several.
pub(crate) fn argmax(row: &[f32]) -> usize {
    row.iter().enumerate().fold(0, |best, (place, value)| if *value > row[best] { place } else { best })
}
