//! Rows repeated: `out[i, j, k] = x[i, k]`, for `j` from 0 to a number of copies.
//!
//! # Bits
//! Plain code, which takes no instruction set. Backward sums the copies of a row in order.

/// Writes each row of `x`, `[R, D]`, to as many rows of `out`, `[R, copies, D]`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// let mut out = [0.0; 4];
/// clrs_kernels::expand::forward(&[1.0, 2.0], 1, 2, &mut out);
/// assert_eq!(out, [1.0, 1.0, 2.0, 2.0]);
/// ```
pub fn forward(x: &[f32], dim: usize, copies: usize, out: &mut [f32]) {
    if check(x, dim, copies, out) {
        return;
    }
    for (x, rows) in x.chunks_exact(dim).zip(out.chunks_exact_mut(copies * dim)) {
        rows.chunks_exact_mut(dim).for_each(|row| row.copy_from_slice(x));
    }
}

/// Writes the gradient of `x`, `[R, D]`, from that of `out`, `[R, copies, D]`: the sum over the copies of each row.
///
/// # Panics
/// If lengths do not match.
pub fn backward(d_out: &[f32], dim: usize, copies: usize, d_x: &mut [f32]) {
    d_x.fill(0.0);
    if check(d_x, dim, copies, d_out) {
        return;
    }
    for (d_x, rows) in d_x.chunks_exact_mut(dim).zip(d_out.chunks_exact(copies * dim)) {
        for row in rows.chunks_exact(dim) {
            d_x.iter_mut().zip(row).for_each(|(d_x, d)| *d_x += d);
        }
    }
}

/// Checks lengths and returns whether there is nothing to do.
fn check(x: &[f32], dim: usize, copies: usize, out: &[f32]) -> bool {
    assert!(x.len().is_multiple_of(dim.max(1)), "x must be [R, D]");
    assert_eq!(out.len(), x.len() * copies, "out must be [R, copies, D]");
    out.is_empty()
}
