//! Logits of pointers from nodes to nodes, for one sample.
//!
//! With `p` the vector of the source node, `q` that of the target node, `e` the features of their edge and `t` its hidden vector,
//! both indexed by the target first,
//!
//! ```text
//! logits[i, j] = sum over k of w[k] * max(p[i, k], q[j, k] + t[j, i, k] + sum over c of e[j, i, c] W[c, k])
//! ```
//!
//! Nothing of shape `[N, N, H]` is stored: forward computes sixteen logits at once, and backward recomputes the vectors of one
//! target at a time.
//!
//! # Ties and NaN
//! At a tie, `p` takes all of the gradient (dm-clrs halves it). A NaN in `q`, `t` or `e W` gives a NaN; one in `p` is dropped in
//! forward, and takes the gradient in backward.

use crate::Scratch;
use crate::edge_features::{EdgeFeaturesBackward, EdgeFeaturesRows};
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, Mat, elements, has_rows, padded_rows};
use crate::simd::{LANES, Simd};

/// Inputs of one sample of `N` nodes with `H` hidden elements and `C` features per edge.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `p`, `[N, H]`
    pub source: &'a [f32],
    /// `q`, `[N, H]`
    pub target: &'a [f32],
    /// `e`, `[N, N, C]`, target first.
    pub edge_features: &'a [f32],
    /// `W`, `[C, H]`
    pub edge_weight: &'a [f32],
    /// `w`, `[H]`
    pub output_weight: &'a [f32],
    /// `t`, `[N, N, H]`, target first; 0 if absent.
    pub edge_hidden: Option<&'a [f32]>,
}

/// Gradients that [`backward`] computes, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Overwritten.
    pub source: &'a mut [f32],
    /// Overwritten.
    pub target: &'a mut [f32],
    /// Overwritten, if present.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub edge_weight: &'a mut [f32],
    /// Added to.
    pub output_weight: &'a mut [f32],
    /// Overwritten, if present.
    pub edge_hidden: Option<&'a mut [f32]>,
}

/// Scratch memory of this kernel.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    source: Mat,
    target: Mat,
    edge_weight: Mat,
    output_weight: Buffer,
    d_source: Mat,
    d_target: Mat,
    d_edge_weight: Mat,
    d_output_weight: Buffer,
    /// Gradients of the vectors of one target.
    pairs: Mat,
    offsets: Vec<usize>,
    d_logits: Vec<f32>,
}

impl Inputs<'_> {
    /// Returns `(N, H, C)`.
    fn shape(&self) -> (usize, usize, usize) {
        let h = self.output_weight.len();
        let (n, c) = (self.source.len() / h, self.edge_weight.len() / h);
        assert!(self.source.len() == n * h && self.target.len() == n * h, "source and target must be [N, H]");
        assert!(
            self.edge_weight.len() == c * h && self.edge_features.len() == elements([n, n, c]),
            "edge_features are [n, n, c], their layer [c, h]"
        );
        assert!(self.edge_hidden.is_none_or(|hidden| hidden.len() == elements([n, n, h])), "edge_hidden must be [N, N, H]");
        (n, h, c)
    }
}

/// The inputs as rows without tails, each with its stride.
#[derive(Clone, Copy)]
struct Rows<'a> {
    nodes: usize,
    width: usize,
    channels: usize,
    source: (&'a [f32], usize),
    target: (&'a [f32], usize),
    edge_features: &'a [f32],
    edge_weight: (&'a [f32], usize),
    output_weight: &'a [f32],
    edge_hidden: Option<&'a [f32]>,
    hidden: usize,
}

impl Rows<'_> {
    fn check(&self) {
        let (n, c, width) = (self.nodes, self.channels, self.width);
        assert!(width.is_multiple_of(LANES) && self.output_weight.len() >= width && self.edge_features.len() == n * n * c);
        assert!(has_rows(self.source.0, n, self.source.1, width) && has_rows(self.target.0, n, self.target.1, width));
        assert!(has_rows(self.edge_weight.0, c, self.edge_weight.1, width));
    }

    /// The hidden vector of an edge.
    #[inline(always)]
    fn edge_hidden(&self, j: usize, i: usize) -> Option<&[f32]> {
        self.edge_hidden.map(|edge_hidden| &edge_hidden[(j * self.nodes + i) * self.hidden..][..self.hidden])
    }
}

/// Copies the rows that have tails.
fn rows<'a>(
    inputs: &Inputs<'a>,
    source: &'a mut Mat,
    target: &'a mut Mat,
    edge_weight: &'a mut Mat,
    output_weight: &'a mut Buffer,
) -> Rows<'a> {
    let (nodes, hidden, channels) = inputs.shape();
    edge_weight.fit(channels, hidden);
    edge_weight.fill_from(inputs.edge_weight);
    output_weight.fit(hidden);
    output_weight[..hidden].copy_from_slice(inputs.output_weight);
    output_weight[hidden..].fill(0.0);
    let width = edge_weight.width();
    let edge_weight = (&edge_weight.data[..], edge_weight.stride);
    let [source, target] =
        [(inputs.source, source), (inputs.target, target)].map(|(dense, copy)| padded_rows(dense, hidden, copy));
    Rows {
        nodes,
        width,
        channels,
        source,
        target,
        edge_features: inputs.edge_features,
        edge_weight,
        output_weight,
        edge_hidden: inputs.edge_hidden,
        hidden,
    }
}

/// Writes `logits`, `[N, N]`, source first.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::pointers::{Inputs, forward};
/// use clrs_kernels::{Isa, Scratch};
///
/// // Two nodes with one hidden element: `logits[i, j]` is the maximum of `source[i]` and `target[j]`.
/// let inputs = Inputs {
///     source: &[1.0, 5.0],
///     target: &[2.0, 7.0],
///     edge_features: &[0.0; 4],
///     edge_weight: &[1.0],
///     output_weight: &[1.0],
///     edge_hidden: None,
/// };
/// let mut logits = [0.0; 4];
/// forward(Isa::best(), &inputs, &mut logits, &mut Scratch::default());
/// assert_eq!(logits, [2.0, 7.0, 5.0, 7.0]);
/// ```
pub fn forward(isa: Isa, inputs: &Inputs<'_>, logits: &mut [f32], scratch: &mut Scratch) {
    let Workspace { source, target, edge_weight, output_weight, .. } = &mut scratch.pointers;
    let rows = rows(inputs, source, target, edge_weight, output_weight);
    assert_eq!(logits.len(), elements([rows.nodes; 2]), "logits must be [N, N]");
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
                    // Reducing sixteen vectors together is cheaper than one by one.
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

/// The logits from `R` nodes to one, before the lanes are reduced.
///
/// # Safety
/// [`Rows::check`] must hold, and nodes `i` to `i + R` and `j` must exist.
#[inline(always)]
unsafe fn pairs<S: Simd, const R: usize>(s: S, x: &Rows<'_>, i: usize, j: usize) -> [S::V; R] {
    let mut sums = [s.splat(0.0); R];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let raw = x.edge_features.as_ptr().add((j * x.nodes + i) * x.channels);
        for k in (0..x.width).step_by(LANES) {
            let mut target = [s.load_ptr(x.target.0.as_ptr().add(j * x.target.1 + k)); R];
            if x.edge_hidden.is_some() {
                for r in 0..R {
                    target[r] =
                        x.edge_hidden(j, i + r).map_or(target[r], |edge_hidden| s.add(target[r], s.load_at(edge_hidden, k)));
                }
            }
            for c in 0..x.channels {
                let w = s.load_ptr(x.edge_weight.0.as_ptr().add(c * x.edge_weight.1 + k));
                for r in 0..R {
                    target[r] = s.fma(s.splat(*raw.add(r * x.channels + c)), w, target[r]);
                }
            }
            let output_weight = s.load_ptr(x.output_weight.as_ptr().add(k));
            for r in 0..R {
                let source = s.load_ptr(x.source.0.as_ptr().add((i + r) * x.source.1 + k));
                sums[r] = s.fma(output_weight, s.max(source, target[r]), sums[r]);
            }
        }
    }
    sums
}

/// Computes all gradients from that of the logits, `[N, N]`.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_logits: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let (n, h, c) = inputs.shape();
    let Gradients {
        source: d_source,
        target: d_target,
        edge_features: mut d_edge_features,
        edge_weight: d_edge_weight,
        output_weight: d_output_weight,
        edge_hidden: mut d_edge_hidden,
    } = gradients;
    assert_eq!(d_logits.len(), elements([n, n]), "d_logits must be [N, N]");
    assert!(d_edge_features.as_ref().is_none_or(|d| d.len() == n * n * c), "the gradient of edge_features must be [N, N, C]");
    assert!(d_edge_hidden.as_ref().is_none_or(|d| d.len() == n * n * h), "the gradient of edge_hidden must be [N, N, H]");
    assert_eq!(d_output_weight.len(), h, "the gradient of output_weight must be [H]");
    let work = &mut scratch.pointers;
    let rows = rows(inputs, &mut work.source, &mut work.target, &mut work.edge_weight, &mut work.output_weight);
    work.d_source.fit(n, h);
    work.d_target.fit(n, h);
    work.pairs.fit(n, h);
    work.d_edge_weight.fit(c, h);
    work.d_output_weight.fit(h);
    work.d_source.clear();
    work.d_edge_weight.clear();
    work.d_output_weight.fill(0.0);
    work.offsets.clear();
    work.offsets.extend((0..n).map(|i| i * c));
    for j in 0..n {
        work.d_logits.clear();
        work.d_logits.extend((0..n).map(|i| d_logits[i * n + j]));
        isa.run(Backward {
            rows,
            j,
            d_logits: &work.d_logits,
            d_source: &mut work.d_source,
            d_target: work.d_target.padded_row_mut(j),
            d_output_weight: &mut work.d_output_weight,
            pairs: &mut work.pairs,
        });
        let pair = j * n * c..(j + 1) * n * c;
        isa.run(EdgeFeaturesRows {
            d: &work.pairs.data,
            back: EdgeFeaturesBackward {
                offsets: &work.offsets,
                channels: c,
                raw: &inputs.edge_features[pair.clone()],
                d_raw: d_edge_features.as_mut().map(|d_edge_features| &mut d_edge_features[pair]),
                width: rows.width,
                w: rows.edge_weight.0,
                d_w: &mut work.d_edge_weight.data,
                stride: rows.edge_weight.1,
            },
        });
        if let Some(d_edge_hidden) = &mut d_edge_hidden {
            work.pairs.copy_to(&mut d_edge_hidden[j * n * h..][..n * h]);
        }
    }
    work.d_source.copy_to(d_source);
    work.d_target.copy_to(d_target);
    work.d_edge_weight.add_to(d_edge_weight);
    d_output_weight.iter_mut().zip(work.d_output_weight.iter()).for_each(|(sum, x)| *sum += x);
}

/// Backward of the logits that point to node `j`.
struct Backward<'a> {
    rows: Rows<'a>,
    j: usize,
    d_logits: &'a [f32],
    /// Added to.
    d_source: &'a mut Mat,
    d_target: &'a mut [f32],
    /// Added to.
    d_output_weight: &'a mut [f32],
    /// Overwritten with the gradients of `q + t + e W` for the target `j`.
    pairs: &'a mut Mat,
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let x = &self.rows;
        let (n, c, j, width) = (x.nodes, x.channels, self.j, x.width);
        x.check();
        assert!(j < n && self.d_logits.len() == n && self.d_target.len() == width && self.d_output_weight.len() >= width);
        assert!(has_rows(&self.d_source.data, n, self.d_source.stride, width));
        assert!(has_rows(&self.pairs.data, n, self.pairs.stride, width));
        let zero = s.splat(0.0);
        // Copied before the loops: through a reference they would be loaded again after each store.
        let (edge_weight, edge_weight_stride) = (x.edge_weight.0.as_ptr(), x.edge_weight.1);
        let (pairs, pairs_stride) = (self.pairs.data.as_mut_ptr(), self.pairs.stride);
        let (source, source_stride) = (x.source.0.as_ptr(), x.source.1);
        let (d_source, d_source_stride) = (self.d_source.data.as_mut_ptr(), self.d_source.stride);
        // One vector of columns at a time: everything it touches stays in the first-level cache.
        for k in (0..width).step_by(LANES) {
            // SAFETY: the asserts bound all accesses.
            unsafe {
                let output_weight = s.load_ptr(x.output_weight.as_ptr().add(k));
                let target = s.load_ptr(x.target.0.as_ptr().add(j * x.target.1 + k));
                let mut d_output_weight = s.load_ptr(self.d_output_weight.as_ptr().add(k));
                let mut d_target = zero;
                for i in 0..n {
                    let raw = x.edge_features.as_ptr().add((j * n + i) * c);
                    let mut target = x.edge_hidden(j, i).map_or(target, |edge_hidden| s.add(target, s.load_at(edge_hidden, k)));
                    for c in 0..c {
                        target = s.fma(s.splat(*raw.add(c)), s.load_ptr(edge_weight.add(c * edge_weight_stride + k)), target);
                    }
                    let source = s.load_ptr(source.add(i * source_stride + k));
                    let d_logit = s.splat(self.d_logits[i]);
                    d_output_weight = s.fma(d_logit, s.max(source, target), d_output_weight);
                    let d = s.mul(d_logit, output_weight);
                    let d_pair = s.select_gt(target, source, d, zero);
                    s.store_ptr(pairs.add(i * pairs_stride + k), d_pair);
                    d_target = s.add(d_target, d_pair);
                    let d_source = d_source.add(i * d_source_stride + k);
                    s.store_ptr(d_source, s.add(s.load_ptr(d_source), s.select_gt(target, source, zero, d)));
                }
                s.store_ptr(self.d_target.as_mut_ptr().add(k), d_target);
                s.store_ptr(self.d_output_weight.as_mut_ptr().add(k), d_output_weight);
            }
        }
    }
}
