//! Logits of pointers between the nodes of one sample.
//!
//! With `p` of the pointing node, `q` of the node pointed at, `e` the raw channels of their edge, seen from the other end, and
//! `t` a state of that edge,
//!
//! ```text
//! logits[i, j] = sum over k of last[k] * max(p[i, k], q[j, k] + t[j, i, k] + sum over c of e[j, i, c] W[c, k])
//! ```
//!
//! Pairs of vectors are never stored: forward adds up sixteen logits at once, and backward makes the vectors anew, for one
//! node pointed at after the other.
//!
//! At a tie `p` takes all of the gradient (the reference halves it). A NaN in `q`, `t` or `e W` gives a NaN; one in `p` is
//! dropped, though it takes the gradient.

use crate::Scratch;
use crate::edge_features::{EdgeFeaturesBackward, EdgeFeaturesRows};
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, Mat, elements, has_rows, padded_rows};
use crate::simd::{LANES, Simd};

/// What pointers are made of, for one sample of `n` nodes with `h` hidden numbers and `c` channels of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `p`, `[n, h]`
    pub source: &'a [f32],
    /// `q`, `[n, h]`
    pub target: &'a [f32],
    /// `e`, `[n, n, c]`
    pub edge_features: &'a [f32],
    /// `W`, `[c, h]`
    pub edge_weight: &'a [f32],
    /// `[h]`
    pub output_weight: &'a [f32],
    /// `t`, `[n, n, h]`, if there is one.
    pub edge_hidden: Option<&'a [f32]>,
}

/// Where [`backward`] puts gradients, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Written.
    pub source: &'a mut [f32],
    /// Written.
    pub target: &'a mut [f32],
    /// Written, if asked for.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub edge_weight: &'a mut [f32],
    /// Added to.
    pub output_weight: &'a mut [f32],
    /// Written, if asked for.
    pub edge_hidden: Option<&'a mut [f32]>,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    from: Mat,
    to: Mat,
    edge: Mat,
    last: Buffer,
    d_from: Mat,
    d_to: Mat,
    d_edge: Mat,
    d_last: Buffer,
    /// Gradients of the pairs with one node.
    pairs: Mat,
    offsets: Vec<usize>,
    d_logits: Vec<f32>,
}

impl Inputs<'_> {
    /// Nodes, hidden numbers, channels.
    fn shape(&self) -> (usize, usize, usize) {
        let h = self.output_weight.len();
        let (n, c) = (self.source.len() / h, self.edge_weight.len() / h);
        assert!(self.source.len() == n * h && self.target.len() == n * h, "both ends are [n, h]");
        assert!(
            self.edge_weight.len() == c * h && self.edge_features.len() == elements([n, n, c]),
            "edges are [n, n, c], their layer [c, h]"
        );
        assert!(self.edge_hidden.is_none_or(|state| state.len() == elements([n, n, h])), "the state is [n, n, h]");
        (n, h, c)
    }
}

/// What both directions read, rows without tails.
#[derive(Clone, Copy)]
struct Rows<'a> {
    nodes: usize,
    width: usize,
    channels: usize,
    from: (&'a [f32], usize),
    to: (&'a [f32], usize),
    edges: &'a [f32],
    edge: (&'a [f32], usize),
    last: &'a [f32],
    state: Option<&'a [f32]>,
    hidden: usize,
}

impl Rows<'_> {
    fn check(&self) {
        let (n, c, width) = (self.nodes, self.channels, self.width);
        assert!(width.is_multiple_of(LANES) && self.last.len() >= width && self.edges.len() == n * n * c);
        assert!(has_rows(self.from.0, n, self.from.1, width) && has_rows(self.to.0, n, self.to.1, width));
        assert!(has_rows(self.edge.0, c, self.edge.1, width));
    }

    /// The state of an edge.
    #[inline(always)]
    fn state(&self, j: usize, i: usize) -> Option<&[f32]> {
        self.state.map(|state| &state[(j * self.nodes + i) * self.hidden..][..self.hidden])
    }
}

/// Copies what has tails.
fn rows<'a>(inputs: &Inputs<'a>, from: &'a mut Mat, to: &'a mut Mat, edge: &'a mut Mat, last: &'a mut Buffer) -> Rows<'a> {
    let (nodes, hidden, channels) = inputs.shape();
    edge.fit(channels, hidden);
    edge.fill_from(inputs.edge_weight);
    last.fit(hidden);
    last[..hidden].copy_from_slice(inputs.output_weight);
    last[hidden..].fill(0.0);
    let width = edge.width();
    let edge = (&edge.data[..], edge.stride);
    let [from, to] = [(inputs.source, from), (inputs.target, to)].map(|(dense, copy)| padded_rows(dense, hidden, copy));
    Rows { nodes, width, channels, from, to, edges: inputs.edge_features, edge, last, state: inputs.edge_hidden, hidden }
}

/// Writes `logits`, `[n, n]`: the pointing node first.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, inputs: &Inputs<'_>, logits: &mut [f32], scratch: &mut Scratch) {
    let Workspace { from, to, edge, last, .. } = &mut scratch.pointers;
    let rows = rows(inputs, from, to, edge, last);
    assert_eq!(logits.len(), elements([rows.nodes; 2]), "logits are [n, n]");
    isa.run(Forward { rows, logits });
}

struct Forward<'a> {
    rows: Rows<'a>,
    logits: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let n = self.rows.nodes;
        self.rows.check();
        for j in 0..n {
            let mut i = 0;
            // SAFETY: the checks above bound all accesses to rows below `n`.
            unsafe {
                while S::REGISTERS >= 32 && i + 16 <= n {
                    // Sums of sixteen registers together are cheaper than one by one.
                    let (low, high) = (pairs::<S, 8>(s, &self.rows, i, j), pairs::<S, 8>(s, &self.rows, i + 8, j));
                    let mut all = [low[0]; LANES];
                    all[..8].copy_from_slice(&low);
                    all[8..].copy_from_slice(&high);
                    let mut logits = [0.0; LANES];
                    s.store(&mut logits, s.reduce_sums(all));
                    for r in 0..16 {
                        self.logits[(i + r) * n + j] = logits[r];
                    }
                    i += 16;
                }
                while i + 2 <= n {
                    let sums = pairs::<S, 2>(s, &self.rows, i, j);
                    for r in 0..2 {
                        self.logits[(i + r) * n + j] = s.reduce_sum(sums[r]);
                    }
                    i += 2;
                }
                if i < n {
                    self.logits[i * n + j] = s.reduce_sum(pairs::<S, 1>(s, &self.rows, i, j)[0]);
                }
            }
        }
    }
}

/// The logits from `R` nodes to one, lanes not yet added up.
///
/// # Safety
/// [`Rows::check`] has to hold, and nodes `i` to `i + R` and `j` have to be there.
#[inline(always)]
unsafe fn pairs<S: Simd, const R: usize>(s: S, x: &Rows<'_>, i: usize, j: usize) -> [S::V; R] {
    let mut sums = [s.splat(0.0); R];
    // SAFETY: as the caller says.
    unsafe {
        let raw = x.edges.as_ptr().add((j * x.nodes + i) * x.channels);
        for k in (0..x.width).step_by(LANES) {
            let mut to = [s.load_ptr(x.to.0.as_ptr().add(j * x.to.1 + k)); R];
            if x.state.is_some() {
                for r in 0..R {
                    to[r] = x.state(j, i + r).map_or(to[r], |state| s.add(to[r], s.load_at(state, k)));
                }
            }
            for c in 0..x.channels {
                let w = s.load_ptr(x.edge.0.as_ptr().add(c * x.edge.1 + k));
                for r in 0..R {
                    to[r] = s.fma(s.splat(*raw.add(r * x.channels + c)), w, to[r]);
                }
            }
            let last = s.load_ptr(x.last.as_ptr().add(k));
            for r in 0..R {
                let from = s.load_ptr(x.from.0.as_ptr().add((i + r) * x.from.1 + k));
                sums[r] = s.fma(last, s.max(from, to[r]), sums[r]);
            }
        }
    }
    sums
}

/// From the gradient of the logits to all others.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_logits: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let (n, h, c) = inputs.shape();
    let Gradients {
        source: d_from,
        target: d_to,
        edge_features: mut d_edges,
        edge_weight: d_edge,
        output_weight: d_last,
        edge_hidden: mut d_state,
    } = gradients;
    assert_eq!(d_logits.len(), elements([n, n]), "logits are [n, n]");
    assert!(d_edges.as_ref().is_none_or(|d| d.len() == n * n * c), "edges are [n, n, c]");
    assert!(d_state.as_ref().is_none_or(|d| d.len() == n * n * h), "the state is [n, n, h]");
    assert_eq!(d_last.len(), h, "the last layer is [h]");
    let work = &mut scratch.pointers;
    let rows = rows(inputs, &mut work.from, &mut work.to, &mut work.edge, &mut work.last);
    work.d_from.fit(n, h);
    work.d_to.fit(n, h);
    work.pairs.fit(n, h);
    work.d_edge.fit(c, h);
    work.d_last.fit(h);
    work.d_from.clear();
    work.d_edge.clear();
    work.d_last.fill(0.0);
    work.offsets.clear();
    work.offsets.extend((0..n).map(|i| i * c));
    for j in 0..n {
        work.d_logits.clear();
        work.d_logits.extend((0..n).map(|i| d_logits[i * n + j]));
        isa.run(Backward {
            rows,
            j,
            d_logits: &work.d_logits,
            d_from: &mut work.d_from,
            d_to: work.d_to.padded_row_mut(j),
            d_last: &mut work.d_last,
            pairs: &mut work.pairs,
        });
        let pair = j * n * c..(j + 1) * n * c;
        isa.run(EdgeFeaturesRows {
            d: &work.pairs.data,
            back: EdgeFeaturesBackward {
                offsets: &work.offsets,
                channels: c,
                raw: &inputs.edge_features[pair.clone()],
                d_raw: d_edges.as_mut().map(|d_edges| &mut d_edges[pair]),
                width: rows.width,
                w: rows.edge.0,
                d_w: &mut work.d_edge.data,
                stride: rows.edge.1,
            },
        });
        if let Some(d_state) = &mut d_state {
            work.pairs.copy_to(&mut d_state[j * n * h..][..n * h]);
        }
    }
    work.d_from.copy_to(d_from);
    work.d_to.copy_to(d_to);
    work.d_edge.add_to(d_edge);
    d_last.iter_mut().zip(work.d_last.iter()).for_each(|(to, x)| *to += x);
}

/// Backward of the logits to node `j`.
struct Backward<'a> {
    rows: Rows<'a>,
    j: usize,
    d_logits: &'a [f32],
    /// Added to.
    d_from: &'a mut Mat,
    d_to: &'a mut [f32],
    /// Added to.
    d_last: &'a mut [f32],
    /// Gets the gradients of `q + t + e W` for all pairs with `j`.
    pairs: &'a mut Mat,
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let x = &self.rows;
        let (n, c, j, width) = (x.nodes, x.channels, self.j, x.width);
        x.check();
        assert!(j < n && self.d_logits.len() == n && self.d_to.len() == width && self.d_last.len() >= width);
        assert!(has_rows(&self.d_from.data, n, self.d_from.stride, width));
        assert!(has_rows(&self.pairs.data, n, self.pairs.stride, width));
        let zero = s.splat(0.0);
        // Taken before the loops: behind a reference they would be read again after each store.
        let (edge, edge_stride) = (x.edge.0.as_ptr(), x.edge.1);
        let (pairs, pairs_stride) = (self.pairs.data.as_mut_ptr(), self.pairs.stride);
        let (from, from_stride) = (x.from.0.as_ptr(), x.from.1);
        let (d_from, d_from_stride) = (self.d_from.data.as_mut_ptr(), self.d_from.stride);
        // A register of columns at a time: all that it touches stays in the first-level cache.
        for k in (0..width).step_by(LANES) {
            // SAFETY: the asserts bound all accesses.
            unsafe {
                let last = s.load_ptr(x.last.as_ptr().add(k));
                let to = s.load_ptr(x.to.0.as_ptr().add(j * x.to.1 + k));
                let mut d_last = s.load_ptr(self.d_last.as_ptr().add(k));
                let mut d_to = zero;
                for i in 0..n {
                    let raw = x.edges.as_ptr().add((j * n + i) * c);
                    let mut to = x.state(j, i).map_or(to, |state| s.add(to, s.load_at(state, k)));
                    for c in 0..c {
                        to = s.fma(s.splat(*raw.add(c)), s.load_ptr(edge.add(c * edge_stride + k)), to);
                    }
                    let from = s.load_ptr(from.add(i * from_stride + k));
                    let d_logit = s.splat(self.d_logits[i]);
                    d_last = s.fma(d_logit, s.max(from, to), d_last);
                    let d = s.mul(d_logit, last);
                    let d_pair = s.select_gt(to, from, d, zero);
                    s.store_ptr(pairs.add(i * pairs_stride + k), d_pair);
                    d_to = s.add(d_to, d_pair);
                    let d_from = d_from.add(i * d_from_stride + k);
                    s.store_ptr(d_from, s.add(s.load_ptr(d_from), s.select_gt(to, from, zero, d)));
                }
                s.store_ptr(self.d_to.as_mut_ptr().add(k), d_to);
                s.store_ptr(self.d_last.as_mut_ptr().add(k), d_last);
            }
        }
    }
}
