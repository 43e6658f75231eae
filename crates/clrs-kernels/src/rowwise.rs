//! Layer norm, softmax and log-softmax: functions of each row of a dense matrix.
//!
//! Rows may have any length. A NaN in a row makes the complete row NaN.
//!
//! # Bits
//! Sums run in sixteen lanes, which are then reduced in the same order on every instruction set: AVX2 and AVX-512 agree. Portable
//! code differs in the fused multiply-adds of layer norm and of the exponential, which is accurate to two units in the last place.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Added to the variance of a layer norm, as in dm-clrs.
pub const LAYER_NORM_EPSILON: f32 = 1e-5;

/// Writes `(x - mean) / sqrt(variance + 1e-5) * scale + offset` to `y`, for `x` and `y` `[R, D]` and `scale` and `offset` `[D]`,
/// and the mean and `1 / sqrt(variance + 1e-5)` of each row to `moments`, `[R, 2]`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::{Isa, rowwise};
///
/// let (mut y, mut moments) = ([0.0; 2], [0.0; 2]);
/// rowwise::layer_norm(Isa::best(), &[1.0, 3.0], &[1.0, 1.0], &[0.0, 5.0], &mut y, &mut moments);
/// assert!((y[0] + 1.0).abs() < 1e-4 && (y[1] - 6.0).abs() < 1e-4);
/// assert_eq!(moments[0], 2.0);
/// ```
pub fn layer_norm(isa: Isa, x: &[f32], scale: &[f32], offset: &[f32], y: &mut [f32], moments: &mut [f32]) {
    assert_eq!(scale.len(), offset.len(), "scale and offset must be [D]");
    assert_eq!(x.len(), y.len(), "x and y must be [R, D]");
    assert!(x.len().is_multiple_of(scale.len()) && moments.len() == x.len() / scale.len() * 2, "moments must be [R, 2]");
    isa.run(LayerNorm { x, scale, offset, y, moments });
}

struct LayerNorm<'a> {
    x: &'a [f32],
    scale: &'a [f32],
    offset: &'a [f32],
    y: &'a mut [f32],
    moments: &'a mut [f32],
}

impl Kernel for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let len = self.scale.len();
        let rows = self.x.chunks_exact(len).zip(self.y.chunks_exact_mut(len)).zip(self.moments.chunks_exact_mut(2));
        for ((x, y), moments) in rows {
            let mean = sum(s, len, |at| s.load_at(x, at)) / len as f32;
            for at in (0..len).step_by(LANES) {
                s.store_at(y, at, s.sub(s.load_at(x, at), s.splat(mean)));
            }
            let squares = sum(s, len, |at| s.mul(s.load_at(y, at), s.load_at(y, at)));
            let reciprocal = 1.0 / (squares / len as f32 + LAYER_NORM_EPSILON).sqrt();
            for at in (0..len).step_by(LANES) {
                let normalized = s.mul(s.load_at(y, at), s.splat(reciprocal));
                s.store_at(y, at, s.fma(normalized, s.load_at(self.scale, at), s.load_at(self.offset, at)));
            }
            moments.copy_from_slice(&[mean, reciprocal]);
        }
    }
}

/// Sum of the lanes of all terms. Terms past the end of the row must be 0.
#[inline(always)]
fn sum<S: Simd>(s: S, len: usize, term: impl Fn(usize) -> S::V) -> f32 {
    let mut sum = s.splat(0.0);
    for at in (0..len).step_by(LANES) {
        sum = s.add(sum, term(at));
    }
    s.reduce_sum(sum)
}

/// Gradients of [`layer_norm`]: overwrites `d_x`, and adds to `d_scale` and `d_offset`.
///
/// # Panics
/// If lengths do not match.
pub fn layer_norm_backward(
    isa: Isa,
    (x, moments): (&[f32], &[f32]),
    scale: &[f32],
    d_y: &[f32],
    d_x: &mut [f32],
    d_scale: &mut [f32],
    d_offset: &mut [f32],
) {
    assert!(x.len() == d_y.len() && x.len() == d_x.len(), "x, d_y and d_x must be [R, D]");
    assert!(x.len().is_multiple_of(scale.len()) && moments.len() == x.len() / scale.len() * 2, "moments must be [R, 2]");
    assert!(d_scale.len() == scale.len() && d_offset.len() == scale.len(), "d_scale and d_offset must be [D]");
    isa.run(LayerNormBackward { x, moments, scale, d_y, d_x, d_scale, d_offset });
}

struct LayerNormBackward<'a> {
    x: &'a [f32],
    moments: &'a [f32],
    scale: &'a [f32],
    d_y: &'a [f32],
    d_x: &'a mut [f32],
    d_scale: &'a mut [f32],
    d_offset: &'a mut [f32],
}

impl Kernel for LayerNormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let len = self.scale.len();
        let rows = self.x.chunks_exact(len).zip(self.d_y.chunks_exact(len)).zip(self.d_x.chunks_exact_mut(len));
        for (((x, d_y), d_x), moments) in rows.zip(self.moments.chunks_exact(2)) {
            let (mean, reciprocal) = (s.splat(moments[0]), s.splat(moments[1]));
            let normalized = |at: usize| s.mul(s.sub(s.load_at(x, at), mean), reciprocal);
            let scaled = |at: usize| s.mul(s.load_at(d_y, at), s.load_at(self.scale, at));
            // Past the end of the row, `scaled` is 0, whatever `normalized` is.
            let mean_d = s.splat(sum(s, len, scaled) / len as f32);
            let projection = s.splat(sum(s, len, |at| s.mul(scaled(at), normalized(at))) / len as f32);
            for at in (0..len).step_by(LANES) {
                let (normalized, d) = (normalized(at), s.load_at(d_y, at));
                s.store_at(self.d_scale, at, s.fma(d, normalized, s.load_at(self.d_scale, at)));
                s.store_at(self.d_offset, at, s.add(s.load_at(self.d_offset, at), d));
                let rest = s.sub(s.sub(scaled(at), mean_d), s.mul(normalized, projection));
                s.store_at(d_x, at, s.mul(rest, reciprocal));
            }
        }
    }
}

/// Replaces each row of `len` elements by its softmax.
///
/// # Panics
/// If the last row is incomplete.
///
/// # Examples
/// ```
/// use clrs_kernels::{Isa, rowwise};
///
/// let mut rows = [0.0, 0.0, 2.0, 2.0];
/// rowwise::softmax(Isa::best(), &mut rows, 2);
/// assert_eq!(rows, [0.5; 4]);
/// ```
pub fn softmax(isa: Isa, rows: &mut [f32], len: usize) {
    assert!(rows.len().is_multiple_of(len.max(1)), "rows must be [R, len]");
    isa.run(Softmax { rows, len, stride: len, log: false });
}

/// Replaces each row of `len` elements by the logarithm of its softmax.
///
/// # Panics
/// If the last row is incomplete.
pub fn log_softmax(isa: Isa, rows: &mut [f32], len: usize) {
    assert!(rows.len().is_multiple_of(len.max(1)), "rows must be [R, len]");
    isa.run(Softmax { rows, len, stride: len, log: true });
}

/// Softmax or log-softmax of the first `len` elements of rows at the given stride.
pub(crate) struct Softmax<'a> {
    pub(crate) rows: &'a mut [f32],
    pub(crate) len: usize,
    pub(crate) stride: usize,
    pub(crate) log: bool,
}

impl Kernel for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for row in self.rows.chunks_mut(self.stride.max(1)) {
            let row = &mut row[..self.len];
            if self.log { log_softmax_row(s, row) } else { softmax_row(s, row) }
        }
    }
}

#[inline(always)]
pub(crate) fn softmax_row<S: Simd>(s: S, row: &mut [f32]) {
    let max = s.splat(row_max(s, row));
    let mut total = s.splat(0.0);
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.exp(s.sub(s.load_at(row, at), max)));
        // Loaded again, so that lanes past the end are 0.
        total = s.add(total, s.load_at(row, at));
    }
    let factor = s.splat(1.0 / s.reduce_sum(total));
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.mul(s.load_at(row, at), factor));
    }
}

#[inline(always)]
fn log_softmax_row<S: Simd>(s: S, row: &mut [f32]) {
    let max = s.splat(row_max(s, row));
    let mut total = s.splat(0.0);
    let (full, tail) = row.as_chunks();
    for chunk in full {
        total = s.add(total, s.exp(s.sub(s.load(chunk), max)));
    }
    let mut rest = [0.0; LANES];
    s.store_at(&mut rest[..tail.len()], 0, s.exp(s.sub(s.load_at(tail, 0), max)));
    total = s.add(total, s.load(&rest));
    let shift = s.add(max, s.splat(s.reduce_sum(total).ln()));
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.sub(s.load_at(row, at), shift));
    }
}

/// Maximum of a row. NaN is ignored.
#[inline(always)]
fn row_max<S: Simd>(s: S, row: &[f32]) -> f32 {
    let (full, tail) = row.as_chunks();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut max = s.load(&lanes);
    for chunk in full {
        max = s.max(s.load(chunk), max);
    }
    s.store(&mut lanes, max);
    tail.iter().chain(&lanes).fold(f32::NEG_INFINITY, |max, &x| if x > max { x } else { max })
}

/// Gradient of [`softmax`]: replaces `d`, the gradient of the result `y`, by that of the input.
///
/// # Panics
/// If lengths do not match.
pub fn softmax_backward(isa: Isa, y: &[f32], d: &mut [f32], len: usize) {
    assert!(y.len() == d.len() && d.len().is_multiple_of(len.max(1)), "y and d must be [R, len]");
    isa.run(SoftmaxBackward { y, d, len, stride: len, log: false });
}

/// Gradient of [`log_softmax`]: replaces `d`, the gradient of the result `y`, by that of the input.
///
/// # Panics
/// If lengths do not match.
pub fn log_softmax_backward(isa: Isa, y: &[f32], d: &mut [f32], len: usize) {
    assert!(y.len() == d.len() && d.len().is_multiple_of(len.max(1)), "y and d must be [R, len]");
    isa.run(SoftmaxBackward { y, d, len, stride: len, log: true });
}

pub(crate) struct SoftmaxBackward<'a> {
    pub(crate) y: &'a [f32],
    pub(crate) d: &'a mut [f32],
    pub(crate) len: usize,
    pub(crate) stride: usize,
    pub(crate) log: bool,
}

impl Kernel for SoftmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let stride = self.stride.max(1);
        for (y, d) in self.y.chunks(stride).zip(self.d.chunks_mut(stride)) {
            let (y, d) = (&y[..self.len], &mut d[..self.len]);
            if self.log { log_softmax_backward_row(s, y, d) } else { softmax_backward_row(s, y, d) }
        }
    }
}

#[inline(always)]
pub(crate) fn softmax_backward_row<S: Simd>(s: S, y: &[f32], d: &mut [f32]) {
    let mean = s.splat(sum(s, d.len(), |at| s.mul(s.load_at(y, at), s.load_at(d, at))));
    for at in (0..d.len()).step_by(LANES) {
        s.store_at(d, at, s.mul(s.load_at(y, at), s.sub(s.load_at(d, at), mean)));
    }
}

#[inline(always)]
fn log_softmax_backward_row<S: Simd>(s: S, y: &[f32], d: &mut [f32]) {
    let total = s.splat(sum(s, d.len(), |at| s.load_at(d, at)));
    for at in (0..d.len()).step_by(LANES) {
        s.store_at(d, at, s.sub(s.load_at(d, at), s.mul(s.exp(s.load_at(y, at)), total)));
    }
}
