//! What a prediction costs.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use clrs::{Kind, Probe};

use crate::data::batch::MASKED_OUT;
use crate::exec::features::ForwardContext;
use crate::exec::fused;

/// What logits `[B, R, K]` cost, given what is true: the mean over so many cells, added to what others cost, `[1]`.
pub(crate) fn add_loss(
    others: Option<Tensor<1>>,
    pass: &ForwardContext,
    probe: &Probe,
    logits: Tensor<3>,
    truth: Vec<f32>,
    cells: f64,
) -> Tensor<1> {
    #[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
    let weight = (1.0 / cells.max(1.0)) as f32;
    if pass.fused {
        return fused::add_loss(others, pass, probe, logits, truth, weight);
    }
    let cost = sum(probe, logits, truth) * weight;
    others.map_or(cost.clone(), |others| others + cost)
}

/// The sum over cells.
fn sum(probe: &Probe, logits: Tensor<3>, mut truth: Vec<f32>) -> Tensor<1> {
    let (shape, device) = (logits.dims(), logits.device());
    let tensor = |values: Vec<f32>| Tensor::<3>::from_data(TensorData::new(values, shape), &device);
    match probe.kind {
        Kind::Scalar => (logits - tensor(truth)).square().sum(),
        Kind::Mask => {
            let key: Vec<f32> = truth.iter().map(|&truth| f32::from(truth != MASKED_OUT)).collect();
            let of_each = logits.clone().clamp_min(0.0) - logits.clone() * tensor(truth) + logits.abs().neg().exp().log1p();
            if probe.masked { (of_each * tensor(key)).sum() } else { of_each.sum() }
        }
        Kind::Categorical { classes } => {
            // A row without a 1 is not asked; what it holds instead does not count.
            let not_asked = truth.chunks_exact_mut(classes).filter(|row| !row.contains(&1.0));
            not_asked.for_each(|row| row.fill(0.0));
            (log_softmax(logits, 2) * tensor(truth)).sum().neg()
        }
        Kind::MaskOne | Kind::Pointer => (log_softmax(logits, 2) * tensor(truth)).sum().neg(),
        // These are logarithms of chances already.
        Kind::Permutation | Kind::CyclicPermutation => (logits * tensor(truth)).sum().neg(),
    }
}
