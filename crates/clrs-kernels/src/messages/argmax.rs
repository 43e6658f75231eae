//! Backward of the maximum and of the layer before it, fused.
//!
//! The gradient of a message is 0 except in the channels in which it is the maximum. The two products with the output layer, for
//! the gradients of its input and of its weights, are therefore sums over argmax channels: `H` per receiver instead of `H` per
//! message. Messages that are nowhere the maximum do not take part in backward at all.
//!
//! Channels are sorted by message, so that the gradient of a row stays in registers, and are processed in blocks of two vectors of
//! columns, so that both matrices stay in the first-level cache. Slower alternatives: visiting entries by channel in one pass (twice
//! as slow: rows are updated in memory in arbitrary order, and loads wait for stores), or in addition to a pass by message (10%
//! slower); blocks of four vectors; bit sets instead of sorting.

use super::edges::{Edge, EdgeList};
use crate::isa::Kernel;
use crate::simd::{LANES, Simd};

/// Argmax of a channel whose maximum is the mask value.
pub(super) const NO_MESSAGE: u16 = u16::MAX;

/// A channel in which a message is the maximum, and the gradient there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArgmaxChannel {
    channel: u32,
    grad: f32,
}

/// The messages that are the maximum somewhere, each with its channels.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgmaxMessages {
    pub(super) edges: Vec<Edge>,
    /// Index of each message in the list of all.
    pub(super) index: Vec<u32>,
    /// The channels of message `i` are `first[i]..first[i + 1]`.
    pub(super) first: Vec<u32>,
    pub(super) channels: Vec<ArgmaxChannel>,
    next: Vec<u32>,
}

impl ArgmaxMessages {
    /// Sorts the channels of all receivers by the message of their maximum. `argmax` and `grad` are `[N, H]`.
    pub(super) fn collect(&mut self, list: &EdgeList, argmax: &[u16], grad: &[f32], h: usize) {
        self.next.clear();
        self.next.resize(list.edges.len(), 0);
        for (argmax, range) in argmax.chunks_exact(h).zip(list.start.windows(2)) {
            let next = &mut self.next[range[0] as usize..range[1] as usize];
            for &index in argmax.iter().filter(|&&index| index != NO_MESSAGE) {
                next[usize::from(index)] += 1;
            }
        }
        self.edges.clear();
        self.index.clear();
        self.first.clear();
        let mut total = 0;
        for (index, (next, &edge)) in (0..).zip(self.next.iter_mut().zip(&list.edges)) {
            if *next > 0 {
                self.edges.push(edge);
                self.index.push(index);
                self.first.push(total);
                total += std::mem::replace(next, total);
            }
        }
        self.first.push(total);
        self.channels.resize(total as usize, ArgmaxChannel::default());
        for ((argmax, grad), range) in argmax.chunks_exact(h).zip(grad.chunks_exact(h)).zip(list.start.windows(2)) {
            let next = &mut self.next[range[0] as usize..range[1] as usize];
            for (channel, (&index, &grad)) in (0..).zip(argmax.iter().zip(grad)) {
                if index != NO_MESSAGE {
                    let next = &mut next[usize::from(index)];
                    self.channels[*next as usize] = ArgmaxChannel { channel, grad };
                    *next += 1;
                }
            }
        }
    }
}

/// For each row: `d_hidden = relu'(hidden) * sum over channels of grad * w_t[channel]`, `d_w_t[channel] += grad * hidden` and
/// `d_bias += d_hidden`.
pub(super) struct ArgmaxBackward<'a> {
    /// Start of the channels of each row, and the end of the last one's.
    pub(super) first: &'a [u32],
    pub(super) channels: &'a [ArgmaxChannel],
    pub(super) width: usize,
    /// Input of the output layer. Row `i` is `hidden_row[i]` of it.
    pub(super) hidden: &'a [f32],
    pub(super) hidden_row: &'a [u32],
    /// Weights of the output layer, transposed, and their gradient.
    pub(super) w_t: &'a [f32],
    pub(super) d_w_t: &'a mut [f32],
    pub(super) d_hidden: &'a mut [f32],
    pub(super) d_bias: &'a mut [f32],
    /// Row stride of all matrices.
    pub(super) stride: usize,
}

impl Kernel for ArgmaxBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let rows = self.hidden_row.len();
        let Some(&last) = self.hidden_row.iter().max() else { return };
        assert!(self.width.is_multiple_of(LANES) && self.first.len() == rows + 1 && self.first.is_sorted());
        assert!(self.hidden.len() >= last as usize * self.stride + self.width);
        let channels = &self.channels[self.first[0] as usize..self.first[rows] as usize];
        let channel = channels.iter().map(|entry| entry.channel).max().unwrap_or(0) as usize;
        assert!(self.w_t.len() >= channel * self.stride + self.width);
        assert!(self.d_w_t.len() >= channel * self.stride + self.width);
        assert!(self.d_hidden.len() >= (rows - 1) * self.stride + self.width && self.d_bias.len() >= self.width);
        let mut j = 0;
        // SAFETY: the asserts bound all accesses.
        unsafe {
            // Columns are the outer loop: two vectors of each row of both matrices (32 KB at 128 rows) stay in the first-level
            // cache while all messages stream by.
            while j + 2 * LANES <= self.width {
                columns::<S, 2>(s, &mut self, j);
                j += 2 * LANES;
            }
            while j < self.width {
                columns::<S, 1>(s, &mut self, j);
                j += LANES;
            }
        }
    }
}

/// # Safety
/// The asserts of [`ArgmaxBackward::run`] must hold, and columns `j` to `j + NC * LANES` must exist.
#[inline(always)]
unsafe fn columns<S: Simd, const NC: usize>(s: S, p: &mut ArgmaxBackward<'_>, j: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let zero = s.splat(0.0);
        let (w_t, d_w_t) = (p.w_t.as_ptr().add(j), p.d_w_t.as_mut_ptr().add(j));
        let mut bias = [zero; NC];
        for (i, &row) in p.hidden_row.iter().enumerate() {
            let row = p.hidden.as_ptr().add(row as usize * p.stride + j);
            let mut hidden = [zero; NC];
            for v in 0..NC {
                hidden[v] = s.load_ptr(row.add(v * LANES));
            }
            let mut sums = [zero; NC];
            for entry in p.channels.get_unchecked(p.first[i] as usize..p.first[i + 1] as usize) {
                let grad = s.splat(entry.grad);
                let w = w_t.add(entry.channel as usize * p.stride);
                let d_w = d_w_t.add(entry.channel as usize * p.stride);
                for v in 0..NC {
                    let at = v * LANES;
                    sums[v] = s.fma(grad, s.load_ptr(w.add(at)), sums[v]);
                    s.store_ptr(d_w.add(at), s.fma(grad, hidden[v], s.load_ptr(d_w.add(at))));
                }
            }
            for v in 0..NC {
                let d = s.select_gt(hidden[v], zero, sums[v], zero);
                s.store_ptr(p.d_hidden.as_mut_ptr().add(i * p.stride + j + v * LANES), d);
                bias[v] = s.add(bias[v], d);
            }
        }
        for v in 0..NC {
            let out = p.d_bias.as_mut_ptr().add(j + v * LANES);
            s.store_ptr(out, s.add(s.load_ptr(out), bias[v]));
        }
    }
}
