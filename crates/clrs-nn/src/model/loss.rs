//! The loss of one probe.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor as BurnTensor, TensorData};
use clrs::{Kind, Probe};

use crate::data::batch::MASKED_OUT;
use crate::exec::context::ForwardContext;
use crate::exec::fused;
use crate::exec::tensor::Tensor;

/// Adds the loss of logits `[B, R, K]` to a running total, `[1]`. The loss is a mean over `cells` supervised cells, which include
/// those of other micro-batches and steps.
pub(super) fn add_loss(
    total: Option<Tensor<1>>,
    ctx: &ForwardContext,
    probe: &Probe,
    logits: Tensor<3>,
    truth: Vec<f32>,
    cells: f64,
) -> Tensor<1> {
    #[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
    let weight = (1.0 / cells.max(1.0)) as f32;
    if ctx.fused {
        return fused::add_loss(total, ctx, probe, logits, truth, weight);
    }
    let loss = Tensor::from(sum(probe, logits.burn(), truth) * weight);
    match total {
        None => loss,
        Some(total) => total + loss,
    }
}

/// Sum over cells.
fn sum(probe: &Probe, logits: BurnTensor<3>, mut truth: Vec<f32>) -> BurnTensor<1> {
    let (shape, device) = (logits.dims(), logits.device());
    let tensor = |values: Vec<f32>| BurnTensor::<3>::from_data(TensorData::new(values, shape), &device);
    match probe.kind {
        Kind::Scalar => (logits - tensor(truth)).square().sum(),
        Kind::Mask => {
            let supervised: Vec<f32> = truth.iter().map(|&truth| f32::from(truth != MASKED_OUT)).collect();
            // Binary cross-entropy with logits, in the form that does not overflow.
            let losses = logits.clone().clamp_min(0.0) - logits.clone() * tensor(truth) + logits.abs().neg().exp().log1p();
            if probe.masked { (losses * tensor(supervised)).sum() } else { losses.sum() }
        }
        Kind::Categorical { classes } => {
            // A row without a 1 is masked out; its other values do not count.
            let masked_out = truth.chunks_exact_mut(classes).filter(|row| !row.contains(&1.0));
            masked_out.for_each(|row| row.fill(0.0));
            (log_softmax(logits, 2) * tensor(truth)).sum().neg()
        }
        Kind::MaskOne | Kind::Pointer => (log_softmax(logits, 2) * tensor(truth)).sum().neg(),
        // Decoders return log-probabilities of permutations.
        Kind::Permutation | Kind::CyclicPermutation => (logits * tensor(truth)).sum().neg(),
    }
}
