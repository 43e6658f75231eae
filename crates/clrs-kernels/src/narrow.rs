//! A range of the columns of a matrix, as a dense matrix: `out[i, k] = x[i, start + k]`.
//!
//! Rows are copied, so the kernel takes no instruction set and preserves every bit.

use std::ops::Range;

/// Writes `out`, `[R, L]`, the columns `range` of `x`, `[R, W]`, where `L` is the length of the range and `W` is `width`.
///
/// # Panics
/// If lengths do not match, or the range does not lie inside the width.
///
/// # Examples
/// ```
/// let mut out = [0.0; 2];
/// clrs_kernels::narrow::forward(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 1..2, &mut out);
/// assert_eq!(out, [2.0, 5.0]);
/// ```
pub fn forward(x: &[f32], width: usize, range: Range<usize>, out: &mut [f32]) {
    check(x, width, &range, out);
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(range.len().max(1))) {
        out.copy_from_slice(&x[range.clone()]);
    }
}

/// Writes the gradient of `x`, `[R, W]`, from that of `out`, `[R, L]`: 0 outside the range.
///
/// # Panics
/// If lengths do not match, or the range does not lie inside the width.
pub fn backward(d_out: &[f32], width: usize, range: Range<usize>, d_x: &mut [f32]) {
    d_x.fill(0.0);
    write(d_out, width, range, d_x);
}

/// Writes the columns `range` of `out`, `[R, W]`, from `x`, `[R, L]`, and leaves the others: one part of a concatenation.
///
/// # Panics
/// If lengths do not match, or the range does not lie inside the width.
pub fn write(x: &[f32], width: usize, range: Range<usize>, out: &mut [f32]) {
    check(out, width, &range, x);
    for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(range.len().max(1))) {
        out[range.clone()].copy_from_slice(x);
    }
}

fn check(x: &[f32], width: usize, range: &Range<usize>, out: &[f32]) {
    assert!(range.start <= range.end && range.end <= width, "the range must lie inside the width");
    assert!(width > 0 && x.len().is_multiple_of(width), "x must be [R, W]");
    assert_eq!(out.len(), x.len() / width * range.len(), "out must be [R, L]");
}
