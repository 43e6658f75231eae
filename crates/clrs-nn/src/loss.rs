//! What a prediction costs.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use clrs::{Kind, Probe};

use crate::batch::NOT_ASKED;

/// What logits `[B, R, K]` cost, given what is true: the sum over cells, `[1]`.
pub(crate) fn cost(probe: &Probe, logits: Tensor<3>, mut truth: Vec<f32>, device: &Device) -> Tensor<1> {
    let shape = logits.dims();
    let tensor = |values: Vec<f32>| Tensor::<3>::from_data(TensorData::new(values, shape), device);
    match probe.kind {
        Kind::Scalar => (logits - tensor(truth)).square().sum(),
        Kind::Mask => {
            let asked: Vec<f32> = truth.iter().map(|&truth| f32::from(truth != NOT_ASKED)).collect();
            let of_each = logits.clone().clamp_min(0.0) - logits.clone() * tensor(truth) + logits.abs().neg().exp().log1p();
            if probe.masked { (of_each * tensor(asked)).sum() } else { of_each.sum() }
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
