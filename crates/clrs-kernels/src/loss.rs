//! Losses, summed over the cells of a probe. Cells have a prediction `x` and a target `t`:
//!
//! | function | cell |
//! |---|---|
//! | [`squared_error`] | `(x - t)^2` |
//! | [`bce_with_logits`] | `max(x, 0) - x t + ln(1 + e^-abs(x))`, which is binary cross-entropy without overflow |
//! | [`nll`] | `-x t`, where `x` is a log-probability |
//!
//! The cross-entropy of logits is [`log_softmax`](crate::rowwise::log_softmax) followed by [`nll`].
//!
//! A cell is computed in `f32`, and cells are summed in `f64`, in order. Gradients take `d_loss`, the gradient of the sum.
//!
//! # Bits
//! Plain code, which takes no instruction set. Exponential and logarithm are those of the platform.

use crate::sigmoid::sigmoid;

/// Returns the sum of squared errors.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// assert_eq!(clrs_kernels::loss::squared_error(&[1.0, 5.0], &[0.0, 3.0]), 5.0);
/// ```
pub fn squared_error(x: &[f32], target: &[f32]) -> f64 {
    cells(x, target).map(|(x, target)| f64::from((x - target).powi(2))).sum()
}

/// Writes the gradient of [`squared_error`] to `d_x`: `2 (x - t)`, times `d_loss`.
///
/// # Panics
/// If lengths do not match.
pub fn squared_error_backward(x: &[f32], target: &[f32], d_loss: f32, d_x: &mut [f32]) {
    assert_eq!(d_x.len(), x.len(), "d_x and x must have the same length");
    d_x.iter_mut().zip(cells(x, target)).for_each(|(d_x, (x, target))| *d_x = 2.0 * (x - target) * d_loss);
}

/// Returns the sum of binary cross-entropies of logits. Cells whose target equals `ignored` do not count.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::loss::bce_with_logits;
///
/// assert!((bce_with_logits(&[0.0, 7.0], &[1.0, -1.0], Some(-1.0)) - std::f64::consts::LN_2).abs() < 1e-7);
/// ```
pub fn bce_with_logits(logits: &[f32], target: &[f32], ignored: Option<f32>) -> f64 {
    let counted = cells(logits, target).filter(|(_, target)| Some(*target) != ignored);
    counted.map(|(x, target)| f64::from(x.max(0.0) - x * target + (-x.abs()).exp().ln_1p())).sum()
}

/// Writes the gradient of [`bce_with_logits`] to `d_logits`: `sigmoid(x) - t`, times `d_loss`, and 0 for ignored cells.
///
/// # Panics
/// If lengths do not match.
pub fn bce_with_logits_backward(logits: &[f32], target: &[f32], ignored: Option<f32>, d_loss: f32, d_logits: &mut [f32]) {
    assert_eq!(d_logits.len(), logits.len(), "d_logits and logits must have the same length");
    for (d_x, (x, target)) in d_logits.iter_mut().zip(cells(logits, target)) {
        *d_x = if Some(target) == ignored { 0.0 } else { (sigmoid(x) - target) * d_loss };
    }
}

/// Returns the negative log-likelihood of targets. Cells with target 0 do not count, even where the log-probability is infinite.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// assert_eq!(clrs_kernels::loss::nll(&[-0.5, f32::NEG_INFINITY], &[1.0, 0.0]), 0.5);
/// ```
pub fn nll(log_probabilities: &[f32], target: &[f32]) -> f64 {
    let counted = cells(log_probabilities, target).filter(|(_, target)| *target != 0.0);
    counted.map(|(x, target)| f64::from(-x * target)).sum()
}

/// Writes the gradient of [`nll`] to `d_log_probabilities`: `-t`, times `d_loss`.
///
/// # Panics
/// If lengths do not match.
pub fn nll_backward(target: &[f32], d_loss: f32, d_log_probabilities: &mut [f32]) {
    assert_eq!(d_log_probabilities.len(), target.len(), "d_log_probabilities and target must have the same length");
    d_log_probabilities.iter_mut().zip(target).for_each(|(d_x, target)| *d_x = -target * d_loss);
}

/// Predictions and targets of all cells.
fn cells<'a>(x: &'a [f32], target: &'a [f32]) -> impl Iterator<Item = (f32, f32)> + 'a {
    assert_eq!(x.len(), target.len(), "predictions and targets must have the same length");
    x.iter().copied().zip(target.iter().copied())
}
