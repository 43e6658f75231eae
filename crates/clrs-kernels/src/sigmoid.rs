//! The logistic function, `sigmoid(x) = 1 / (1 + e^-x)`, elementwise.
//!
//! # Bits
//! Plain code, which takes no instruction set. The exponential is that of the platform.

/// `sigmoid(x)`, and 0 below -60: next to a probability of 1, anything smaller is lost in rounding, and products with it would be
/// denormal, which is a hundred times slower. NaN stays NaN.
pub(crate) fn sigmoid(x: f32) -> f32 {
    if x < -60.0 { 0.0 } else { 1.0 / (1.0 + (-x).exp()) }
}

/// Replaces every element by its sigmoid; 0 for elements below -60.
///
/// # Examples
/// ```
/// let mut x = [0.0, -100.0];
/// clrs_kernels::sigmoid::forward(&mut x);
/// assert_eq!(x, [0.5, 0.0]);
/// ```
pub fn forward(x: &mut [f32]) {
    for x in x {
        *x = sigmoid(*x);
    }
}

/// Gradient of [`forward`]: replaces `d`, the gradient of the result `y`, by that of the input.
///
/// # Panics
/// If lengths do not match.
pub fn backward(y: &[f32], d: &mut [f32]) {
    assert_eq!(y.len(), d.len(), "y and d must have the same length");
    d.iter_mut().zip(y).for_each(|(d, y)| *d *= y * (1.0 - y));
}
