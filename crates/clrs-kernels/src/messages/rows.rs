//! Inner loops over rows of messages: the first layer, its gradient, and the maximum.

use super::edges::Edge;
use crate::edge_features::EdgeFeaturesBackward;
use crate::isa::Kernel;
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// The first layer: `out[e] = relu(to[receiver] + from[sender] + raw[sender, receiver] w)` for each edge `e`.
pub(super) struct EdgeRows<'a> {
    pub(super) edges: &'a [Edge],
    pub(super) nodes: usize,
    pub(super) width: usize,
    /// `[nodes, width]`, as `from`.
    pub(super) to: &'a [f32],
    pub(super) from: &'a [f32],
    /// `[nodes, nodes, channels]`
    pub(super) raw: &'a [f32],
    pub(super) channels: usize,
    /// `[channels, width]`
    pub(super) w: &'a [f32],
    pub(super) out: &'a mut [f32],
    /// From row to row, in all but `raw`.
    pub(super) stride: usize,
}

impl Kernel for EdgeRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let (n, c) = (self.nodes, self.channels);
        assert!(self.width.is_multiple_of(LANES) && self.raw.len() >= n * n * c);
        assert!(has_rows(self.to, n, self.stride, self.width) && has_rows(self.from, n, self.stride, self.width));
        assert!(has_rows(self.w, c, self.stride, self.width) && has_rows(self.out, self.edges.len(), self.stride, self.width));
        assert!(self.edges.iter().all(|e| usize::from(e.sender) < n && usize::from(e.receiver) < n));
        let mut at = 0;
        // SAFETY: the asserts bound all accesses.
        unsafe {
            // Four edges share each load of `w`.
            while at + 4 <= self.edges.len() {
                edge_rows::<S, 4>(s, &mut self, at);
                at += 4;
            }
            while at < self.edges.len() {
                edge_rows::<S, 1>(s, &mut self, at);
                at += 1;
            }
        }
    }
}

/// # Safety
/// Edges `at` to `at + R`, and what `p` says of its slices, have to be there.
#[inline(always)]
unsafe fn edge_rows<S: Simd, const R: usize>(s: S, p: &mut EdgeRows<'_>, at: usize) {
    // SAFETY: as the caller says.
    unsafe {
        let mut to = [p.to.as_ptr(); R];
        let mut from = [p.from.as_ptr(); R];
        let mut raw = [p.raw.as_ptr(); R];
        for r in 0..R {
            let edge = p.edges.get_unchecked(at + r);
            let (sender, receiver) = (usize::from(edge.sender), usize::from(edge.receiver));
            to[r] = to[r].add(receiver * p.stride);
            from[r] = from[r].add(sender * p.stride);
            raw[r] = raw[r].add((sender * p.nodes + receiver) * p.channels);
        }
        let (stride, channels, w) = (p.stride, p.channels, p.w.as_ptr());
        let out = p.out.as_mut_ptr().add(at * stride);
        for j in (0..p.width).step_by(LANES) {
            let mut sums = [s.splat(0.0); R];
            for r in 0..R {
                sums[r] = s.add(s.load_ptr(to[r].add(j)), s.load_ptr(from[r].add(j)));
            }
            for c in 0..channels {
                let w = s.load_ptr(w.add(c * stride + j));
                for r in 0..R {
                    sums[r] = s.fma(s.splat(*raw[r].add(c)), w, sums[r]);
                }
            }
            for r in 0..R {
                s.store_ptr(out.add(r * stride + j), s.max(s.splat(0.0), sums[r]));
            }
        }
    }
}

/// The gradient of [`EdgeRows`]: `grad`, behind the rectifier on the way in, before it on the way out, is added to its receiver
/// and to its sender, and goes on to the channels.
pub(super) struct EdgeRowsBackward<'a> {
    pub(super) edges: &'a [Edge],
    /// What the first layer gave.
    pub(super) out: &'a [f32],
    pub(super) grad: &'a mut [f32],
    pub(super) d_to: &'a mut [f32],
    pub(super) d_from: &'a mut [f32],
    /// Has the width and the distance of rows, for all.
    pub(super) channels: EdgeFeaturesBackward<'a>,
}

impl Kernel for EdgeRowsBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let rows = self.edges.len();
        let EdgeFeaturesBackward { stride, width, .. } = self.channels;
        self.channels.check();
        assert!(self.channels.offsets.len() == rows);
        assert!(has_rows(self.out, rows, stride, width) && has_rows(self.grad, rows, stride, width));
        let receivers = self.edges.iter().map(|edge| edge.receiver).max().map_or(0, |last| usize::from(last) + 1);
        let senders = self.edges.iter().map(|edge| edge.sender).max().map_or(0, |last| usize::from(last) + 1);
        assert!(has_rows(self.d_to, receivers, stride, width) && has_rows(self.d_from, senders, stride, width));
        let mut row = 0;
        // SAFETY: the asserts bound all accesses.
        unsafe {
            while row + 4 <= rows {
                edge_rows_backward::<S, 4>(s, &mut self, row);
                row += 4;
            }
            while row < rows {
                edge_rows_backward::<S, 1>(s, &mut self, row);
                row += 1;
            }
        }
    }
}

/// # Safety
/// What [`EdgeRowsBackward::run`] asserts has to hold, and rows `row` to `row + R` have to be there.
#[inline(always)]
unsafe fn edge_rows_backward<S: Simd, const R: usize>(s: S, p: &mut EdgeRowsBackward<'_>, row: usize) {
    let EdgeFeaturesBackward { stride, width, .. } = p.channels;
    let zero = s.splat(0.0);
    // SAFETY: as the caller says.
    unsafe {
        let grad = p.grad.as_mut_ptr().add(row * stride);
        for r in 0..R {
            let edge = p.edges.get_unchecked(row + r);
            let out = p.out.as_ptr().add((row + r) * stride);
            let grad = grad.add(r * stride);
            let to = p.d_to.as_mut_ptr().add(usize::from(edge.receiver) * stride);
            let from = p.d_from.as_mut_ptr().add(usize::from(edge.sender) * stride);
            for j in (0..width).step_by(LANES) {
                let d = s.select_gt(s.load_ptr(out.add(j)), zero, s.load_ptr(grad.add(j)), zero);
                s.store_ptr(grad.add(j), d);
                s.store_ptr(to.add(j), s.add(s.load_ptr(to.add(j)), d));
                s.store_ptr(from.add(j), s.add(s.load_ptr(from.add(j)), d));
            }
        }
        // The rows are still in the first-level cache.
        p.channels.rows::<S, R>(s, row, grad);
    }
}

/// The largest so far of some messages to one receiver, and which message of its list that was. The first of equal ones
/// counts. A NaN counts only if it is the first of the list, and then nothing else does.
pub(super) struct MaxRows<'a> {
    pub(super) rows: &'a [f32],
    pub(super) stride: usize,
    pub(super) count: usize,
    /// The argmax of the first row in the receiver's list.
    pub(super) first: usize,
    pub(super) best: &'a mut [f32],
    /// Places, as numbers: they fit exactly, and go the same way as the values.
    pub(super) argmax: Option<&'a mut [f32]>,
}

impl Kernel for MaxRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let width = self.best.len();
        assert!(width.is_multiple_of(LANES) && self.count > 0 && has_rows(self.rows, self.count, self.stride, width));
        // The first message is taken as it is.
        let (from, rows) = (usize::from(self.first == 0), self.rows.as_ptr());
        // SAFETY: the asserts bound all accesses.
        unsafe {
            let start = |best: &[f32], j: usize| if from == 1 { s.load_ptr(rows.add(j)) } else { s.load_at(best, j) };
            if let Some(argmax) = self.argmax {
                assert!(argmax.len() == width);
                for j in (0..width).step_by(LANES) {
                    let mut best = start(self.best, j);
                    let mut at = if from == 1 { s.splat(0.0) } else { s.load_at(argmax, j) };
                    for r in from..self.count {
                        let x = s.load_ptr(rows.add(r * self.stride + j));
                        at = s.select_gt(x, best, s.splat((self.first + r) as f32), at);
                        best = s.max(x, best);
                    }
                    s.store_at(self.best, j, best);
                    s.store_at(argmax, j, at);
                }
            } else {
                for j in (0..width).step_by(LANES) {
                    let mut best = start(self.best, j);
                    for r in from..self.count {
                        best = s.max(s.load_ptr(rows.add(r * self.stride + j)), best);
                    }
                    s.store_at(self.best, j, best);
                }
            }
        }
    }
}
