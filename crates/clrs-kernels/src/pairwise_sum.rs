//! Sums over ordered pairs of the nodes of one sample: `out[i, j, k] = first[i, k] + second[j, k]`.
//!
//! # Bits
//! Plain code, which takes no instruction set. Backward sums over the other node of a pair, in order.

/// Writes `out`, `[N, N, D]`, from `first` and `second`, `[N, D]` each, where `D` is `dim`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// let mut out = [0.0; 4];
/// clrs_kernels::pairwise_sum::forward(&[1.0, 2.0], &[10.0, 20.0], 1, &mut out);
/// assert_eq!(out, [11.0, 21.0, 12.0, 22.0]);
/// ```
pub fn forward(first: &[f32], second: &[f32], dim: usize, out: &mut [f32]) {
    check(first, second, dim, out.len());
    for (first, rows) in first.chunks_exact(dim).zip(out.chunks_exact_mut(second.len().max(1))) {
        for (second, out) in second.chunks_exact(dim).zip(rows.chunks_exact_mut(dim)) {
            out.iter_mut().zip(first).zip(second).for_each(|((out, first), second)| *out = first + second);
        }
    }
}

/// Writes the gradients of `first` and `second`, `[N, D]` each, from that of `out`, `[N, N, D]`.
///
/// # Panics
/// If lengths do not match.
pub fn backward(d_out: &[f32], dim: usize, d_first: &mut [f32], d_second: &mut [f32]) {
    check(d_first, d_second, dim, d_out.len());
    d_first.fill(0.0);
    d_second.fill(0.0);
    for (d_first, rows) in d_first.chunks_exact_mut(dim).zip(d_out.chunks_exact(d_second.len().max(1))) {
        for (d_second, d) in d_second.chunks_exact_mut(dim).zip(rows.chunks_exact(dim)) {
            d_first.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
            d_second.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
        }
    }
}

fn check(first: &[f32], second: &[f32], dim: usize, pairs: usize) {
    assert!(dim > 0 && first.len().is_multiple_of(dim) && first.len() == second.len(), "first and second must be [N, D]");
    assert_eq!(pairs, first.len() / dim * second.len(), "out must be [N, N, D]");
}
