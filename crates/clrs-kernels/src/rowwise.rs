//! What is done to each row of a matrix by itself: layer norm, softmax and its log.
//!
//! Rows are dense and of any length. Sums run over sixteen lanes and then over the lanes, in the same order on every instruction
//! set. A NaN in a row makes the whole row NaN.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Added to the variance under the root, as in the reference.
const EPSILON: f32 = 1e-5;

/// Writes `(x - mean) / sqrt(variance + 1e-5) * scale + offset` of each row to `y`, and the mean and the reciprocal of the root to
/// `moments`, `[rows, 2]`. A row is as long as `scale`.
///
/// # Panics
/// If lengths do not match.
pub fn layer_norm(isa: Isa, x: &[f32], scale: &[f32], offset: &[f32], y: &mut [f32], moments: &mut [f32]) {
    assert_eq!(scale.len(), offset.len(), "a scale and an offset for each column");
    assert_eq!(x.len(), y.len(), "as many rows out as in");
    assert!(x.len().is_multiple_of(scale.len()) && moments.len() == x.len() / scale.len() * 2, "two moments for each row");
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
            let reciprocal = 1.0 / (squares / len as f32 + EPSILON).sqrt();
            for at in (0..len).step_by(LANES) {
                let normal = s.mul(s.load_at(y, at), s.splat(reciprocal));
                s.store_at(y, at, s.fma(normal, s.load_at(self.scale, at), s.load_at(self.offset, at)));
            }
            moments.copy_from_slice(&[mean, reciprocal]);
        }
    }
}

/// Lanes from `term` added up. Terms behind the end have to be 0.
#[inline(always)]
fn sum<S: Simd>(s: S, len: usize, term: impl Fn(usize) -> S::V) -> f32 {
    let mut sum = s.splat(0.0);
    for at in (0..len).step_by(LANES) {
        sum = s.add(sum, term(at));
    }
    s.reduce_sum(sum)
}

/// Gradients of [`layer_norm`]: writes that of `x`, and adds to those of scale and offset.
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
    assert!(x.len() == d_y.len() && x.len() == d_x.len(), "as many rows out as in");
    assert!(x.len().is_multiple_of(scale.len()) && moments.len() == x.len() / scale.len() * 2, "two moments for each row");
    assert!(d_scale.len() == scale.len() && d_offset.len() == scale.len(), "a scale and an offset for each column");
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
            let normal = |at: usize| s.mul(s.sub(s.load_at(x, at), mean), reciprocal);
            let scaled = |at: usize| s.mul(s.load_at(d_y, at), s.load_at(self.scale, at));
            // Behind the end `scaled` is 0, whatever `normal` is.
            let share = s.splat(sum(s, len, scaled) / len as f32);
            let along = s.splat(sum(s, len, |at| s.mul(scaled(at), normal(at))) / len as f32);
            for at in (0..len).step_by(LANES) {
                let (normal, d) = (normal(at), s.load_at(d_y, at));
                s.store_at(self.d_scale, at, s.fma(d, normal, s.load_at(self.d_scale, at)));
                s.store_at(self.d_offset, at, s.add(s.load_at(self.d_offset, at), d));
                let rest = s.sub(s.sub(scaled(at), share), s.mul(normal, along));
                s.store_at(d_x, at, s.mul(rest, reciprocal));
            }
        }
    }
}

/// Replaces each row of so many numbers by its softmax.
///
/// # Panics
/// If lengths do not match.
pub fn softmax(isa: Isa, rows: &mut [f32], len: usize) {
    assert!(rows.len().is_multiple_of(len.max(1)), "whole rows");
    isa.run(Softmax { rows, len, stride: len, log: false });
}

/// Replaces each row of so many numbers by the log of its softmax.
///
/// # Panics
/// If lengths do not match.
pub fn log_softmax(isa: Isa, rows: &mut [f32], len: usize) {
    assert!(rows.len().is_multiple_of(len.max(1)), "whole rows");
    isa.run(Softmax { rows, len, stride: len, log: true });
}

/// The first `len` numbers of rows that lie `stride` apart.
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
    let top = s.splat(row_max(s, row));
    let mut total = s.splat(0.0);
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.exp(s.sub(s.load_at(row, at), top)));
        // Read again, so that there is nothing behind the end.
        total = s.add(total, s.load_at(row, at));
    }
    let part = s.splat(1.0 / s.reduce_sum(total));
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.mul(s.load_at(row, at), part));
    }
}

#[inline(always)]
fn log_softmax_row<S: Simd>(s: S, row: &mut [f32]) {
    let top = s.splat(row_max(s, row));
    let mut total = s.splat(0.0);
    let (full, part) = row.as_chunks();
    for chunk in full {
        total = s.add(total, s.exp(s.sub(s.load(chunk), top)));
    }
    let mut rest = [0.0; LANES];
    s.store_at(&mut rest[..part.len()], 0, s.exp(s.sub(s.load_at(part, 0), top)));
    total = s.add(total, s.load(&rest));
    let shift = s.add(top, s.splat(s.reduce_sum(total).ln()));
    for at in (0..row.len()).step_by(LANES) {
        s.store_at(row, at, s.sub(s.load_at(row, at), shift));
    }
}

/// The largest number of a row; a NaN is passed over.
#[inline(always)]
fn row_max<S: Simd>(s: S, row: &[f32]) -> f32 {
    let (full, part) = row.as_chunks();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut top = s.load(&lanes);
    for chunk in full {
        top = s.max(s.load(chunk), top);
    }
    s.store(&mut lanes, top);
    part.iter().chain(&lanes).fold(f32::NEG_INFINITY, |top, &x| if x > top { x } else { top })
}

/// Gradients of [`softmax`]: turns `d`, the gradient of what it gave, into that of what it was given. `y` is what it gave.
///
/// # Panics
/// If lengths do not match.
pub fn softmax_backward(isa: Isa, y: &[f32], d: &mut [f32], len: usize) {
    assert!(y.len() == d.len() && d.len().is_multiple_of(len.max(1)), "whole rows");
    isa.run(SoftmaxBackward { y, d, len, stride: len, log: false });
}

/// Gradients of [`log_softmax`], likewise.
///
/// # Panics
/// If lengths do not match.
pub fn log_softmax_backward(isa: Isa, y: &[f32], d: &mut [f32], len: usize) {
    assert!(y.len() == d.len() && d.len().is_multiple_of(len.max(1)), "whole rows");
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
