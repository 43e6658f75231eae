//! What a prediction costs.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use clrs::{Kind, Probe};

/// The sum over cells of what logits cost, and how many cells there were.
pub(crate) struct Cost {
    /// `[1]`
    pub(crate) sum: Tensor<1>,
    pub(crate) cells: f64,
}

/// The cost of logits `[B, R, K]`, given what is true.
pub(crate) fn cost(probe: &Probe, logits: Tensor<3>, truth: Vec<f32>, device: &Device) -> Cost {
    let shape = logits.dims();
    let [samples, rows, numbers] = shape;
    let mut cells = (samples * rows) as f64;
    let tensor = |values: Vec<f32>| Tensor::<3>::from_data(TensorData::new(values, shape), device);
    let sum = match probe.kind {
        Kind::Scalar => (logits - tensor(truth)).square().sum(),
        Kind::Mask => {
            let asked: Vec<f32> = truth.iter().map(|&truth| f32::from(truth != NOT_ASKED)).collect();
            let of_each = logits.clone().clamp_min(0.0) - logits.clone() * tensor(truth) + logits.abs().neg().exp().log1p();
            if probe.masked {
                cells = asked.iter().map(|&asked| f64::from(asked)).sum();
                (of_each * tensor(asked)).sum()
            } else {
                of_each.sum()
            }
        }
        Kind::Categorical { .. } => {
            // A row without a 1 is not asked; what it holds instead does not count.
            let mut truth = truth;
            cells = 0.0;
            for row in truth.chunks_exact_mut(numbers) {
                if row.contains(&1.0) {
                    cells += 1.0;
                } else {
                    row.fill(0.0);
                }
            }
            (log_softmax(logits, 2) * tensor(truth)).sum().neg()
        }
        Kind::MaskOne | Kind::Pointer => (log_softmax(logits, 2) * tensor(truth)).sum().neg(),
        // These are logarithms of chances already.
        Kind::Permutation | Kind::CyclicPermutation => (logits * tensor(truth)).sum().neg(),
    };
    Cost { sum, cells }
}

/// What stands in a mask where the question is not asked.
const NOT_ASKED: f32 = -1.0;
