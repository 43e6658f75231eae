//! Inner loops over rows of messages: the first layer, its gradient, and the maximum.

use super::edges::Edge;
use crate::edge_features::EdgeFeaturesBackward;
use crate::isa::Kernel;
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// The first layer: `out[e] = relu(receivers[receiver] + senders[sender] + raw[sender, receiver] w)` for each edge `e`.
pub(super) struct EdgeRows<'a> {
    pub(super) edges: &'a [Edge],
    pub(super) nodes: usize,
    pub(super) width: usize,
    /// `[nodes, width]`, as `senders`.
    pub(super) receivers: &'a [f32],
    pub(super) senders: &'a [f32],
    /// `[nodes, nodes, channels]`
    pub(super) raw: &'a [f32],
    pub(super) channels: usize,
    /// `[channels, width]`
    pub(super) w: &'a [f32],
    pub(super) out: &'a mut [f32],
    /// Row stride of all matrices except `raw`.
    pub(super) stride: usize,
}

impl Kernel for EdgeRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let (n, c) = (self.nodes, self.channels);
        assert!(self.width.is_multiple_of(LANES) && self.raw.len() >= n * n * c);
        assert!(has_rows(self.receivers, n, self.stride, self.width) && has_rows(self.senders, n, self.stride, self.width));
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
/// The asserts of [`EdgeRows::run`] must hold, and edges `at` to `at + R` must exist.
#[inline(always)]
unsafe fn edge_rows<S: Simd, const R: usize>(s: S, p: &mut EdgeRows<'_>, at: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut to = [p.receivers.as_ptr(); R];
        let mut from = [p.senders.as_ptr(); R];
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

/// Backward of [`EdgeRows`]: replaces `grad`, the gradient of the output, by that of the input of the `ReLU`, adds it to the gradients
/// of receiver and sender, and passes it on to the edge features.
pub(super) struct EdgeRowsBackward<'a> {
    pub(super) edges: &'a [Edge],
    /// Output of the first layer.
    pub(super) out: &'a [f32],
    pub(super) grad: &'a mut [f32],
    pub(super) d_receivers: &'a mut [f32],
    pub(super) d_senders: &'a mut [f32],
    /// Holds the width and the row stride of all matrices.
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
        assert!(has_rows(self.d_receivers, receivers, stride, width) && has_rows(self.d_senders, senders, stride, width));
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
/// The asserts of [`EdgeRowsBackward::run`] must hold, and rows `row` to `row + R` must exist.
#[inline(always)]
unsafe fn edge_rows_backward<S: Simd, const R: usize>(s: S, p: &mut EdgeRowsBackward<'_>, row: usize) {
    let EdgeFeaturesBackward { stride, width, .. } = p.channels;
    let zero = s.splat(0.0);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let grad = p.grad.as_mut_ptr().add(row * stride);
        for r in 0..R {
            let edge = p.edges.get_unchecked(row + r);
            let out = p.out.as_ptr().add((row + r) * stride);
            let grad = grad.add(r * stride);
            let to = p.d_receivers.as_mut_ptr().add(usize::from(edge.receiver) * stride);
            let from = p.d_senders.as_mut_ptr().add(usize::from(edge.sender) * stride);
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

/// Running maximum of the messages to one receiver, and its position in the receiver's list. The first of equal messages counts. A
/// NaN counts only at the first position, where it stays the maximum.
pub(super) struct MaxRows<'a> {
    pub(super) rows: &'a [f32],
    pub(super) stride: usize,
    pub(super) count: usize,
    /// Position of the first row in the receiver's list.
    pub(super) first: usize,
    pub(super) best: &'a mut [f32],
    /// Positions as `f32`, which represents them exactly: they are selected the same way as the values.
    pub(super) argmax: Option<&'a mut [f32]>,
}

impl Kernel for MaxRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let width = self.best.len();
        assert!(width.is_multiple_of(LANES) && self.count > 0 && has_rows(self.rows, self.count, self.stride, width));
        // The first message initializes the maximum.
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
