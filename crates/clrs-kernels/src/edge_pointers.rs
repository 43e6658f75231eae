//! Logits of pointers from edges to nodes, for one sample.
//!
//! With `e` the hidden vector of an edge and `t` that of a target node,
//!
//! ```text
//! logits[i, j, k] = sum over c of w[c] * max(e[i, j, c], t[k, c])
//! ```
//!
//! Nothing of shape `[N, N, N, H]` is stored. Forward computes a block of edges and nodes at once. Backward compares the operands
//! again: with `d_e = sum over k of d[i, j, k] where e >= t`, and `d_t` its counterpart, both without the factor `w`, the gradient
//! of `w` is `sum of e d_e + sum of t d_t`, so that the maxima themselves are not needed.
//!
//! # Ties and NaN
//! At a tie, the edge takes all of the gradient (dm-clrs halves it). A NaN in `t` gives a NaN; one in `e` is dropped. Backward does
//! not distinguish the two: any non-finite `e` makes the gradient of `w` NaN.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, Mat, elements, has_rows, padded, padded_rows};
use crate::simd::{LANES, Simd};

/// Inputs of one sample of `N` nodes with `H` hidden elements.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `e`, `[N, N, H]`
    pub edge_hidden: &'a [f32],
    /// `t`, `[N, H]`
    pub target: &'a [f32],
    /// `w`, `[H]`
    pub output_weight: &'a [f32],
}

/// Gradients that [`backward`] computes, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Overwritten.
    pub edge_hidden: &'a mut [f32],
    /// Overwritten.
    pub target: &'a mut [f32],
    /// Added to.
    pub output_weight: &'a mut [f32],
}

/// Scratch memory of this kernel.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    edge_hidden: Mat,
    target: Mat,
    output_weight: Buffer,
    d_edge_hidden: Mat,
    d_target: Mat,
    d_output_weight: Buffer,
}

impl Inputs<'_> {
    /// Returns `(N, H)`.
    fn shape(&self) -> (usize, usize) {
        let h = self.output_weight.len();
        let n = self.target.len() / h;
        assert!(self.target.len() == n * h, "target must be [N, H]");
        assert!(self.edge_hidden.len() == elements([n, n, h]), "edge_hidden must be [N, N, H]");
        (n, h)
    }
}

/// The inputs as rows without tails, each with its stride.
#[derive(Clone, Copy)]
struct Rows<'a> {
    nodes: usize,
    width: usize,
    edge_hidden: (&'a [f32], usize),
    target: (&'a [f32], usize),
    output_weight: &'a [f32],
}

impl Rows<'_> {
    fn check(&self) {
        let (n, width) = (self.nodes, self.width);
        assert!(width.is_multiple_of(LANES) && self.output_weight.len() >= width);
        assert!(
            has_rows(self.edge_hidden.0, n * n, self.edge_hidden.1, width) && has_rows(self.target.0, n, self.target.1, width)
        );
    }
}

fn rows<'a>(inputs: &Inputs<'a>, edge_hidden: &'a mut Mat, target: &'a mut Mat, output_weight: &'a mut Buffer) -> Rows<'a> {
    let (nodes, h) = inputs.shape();
    output_weight.fit(h);
    output_weight[..h].copy_from_slice(inputs.output_weight);
    output_weight[h..].fill(0.0);
    let [edge_hidden, target] =
        [(inputs.edge_hidden, edge_hidden), (inputs.target, target)].map(|(dense, copy)| padded_rows(dense, h, copy));
    Rows { nodes, width: padded(h), edge_hidden, target, output_weight }
}

/// Writes `logits`, `[N, N, N]`.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, inputs: &Inputs<'_>, logits: &mut [f32], scratch: &mut Scratch) {
    let Workspace { edge_hidden, target, output_weight, .. } = &mut scratch.edge_pointers;
    let rows = rows(inputs, edge_hidden, target, output_weight);
    assert_eq!(logits.len(), elements([rows.nodes; 3]), "logits must be [N, N, N]");
    isa.run(Forward { rows, logits });
}

struct Forward<'a> {
    rows: Rows<'a>,
    logits: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        self.rows.check();
        let edges = self.rows.nodes * self.rows.nodes;
        let mut edge = 0;
        // SAFETY: the checks above bound all accesses to edges and nodes that exist.
        unsafe {
            while S::REGISTERS >= 32 && edge + 4 <= edges {
                nodes::<S, 4>(s, &mut self, edge);
                edge += 4;
            }
            while edge + 2 <= edges {
                nodes::<S, 2>(s, &mut self, edge);
                edge += 2;
            }
            if edge < edges {
                nodes::<S, 1>(s, &mut self, edge);
            }
        }
    }
}

/// The logits from `R` edges to all nodes.
///
/// # Safety
/// [`Rows::check`] must hold, and the edges must exist.
#[inline(always)]
unsafe fn nodes<S: Simd, const R: usize>(s: S, p: &mut Forward<'_>, edge: usize) {
    let mut node = 0;
    // SAFETY: guaranteed by the caller; the loops bound the nodes.
    unsafe {
        while S::REGISTERS >= 32 && node + 4 <= p.rows.nodes {
            block::<S, R, 4>(s, p, edge, node);
            node += 4;
        }
        while node + 2 <= p.rows.nodes {
            block::<S, R, 2>(s, p, edge, node);
            node += 2;
        }
        if node < p.rows.nodes {
            block::<S, R, 1>(s, p, edge, node);
        }
    }
}

/// # Safety
/// As [`nodes`], for `K` nodes.
#[inline(always)]
unsafe fn block<S: Simd, const R: usize, const K: usize>(s: S, p: &mut Forward<'_>, edge: usize, node: usize) {
    let x = &p.rows;
    let mut sums = [[s.splat(0.0); K]; R];
    for c in (0..x.width).step_by(LANES) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let output_weight = s.load_ptr(x.output_weight.as_ptr().add(c));
            let mut target = [output_weight; K];
            for k in 0..K {
                target[k] = s.load_ptr(x.target.0.as_ptr().add((node + k) * x.target.1 + c));
            }
            for r in 0..R {
                let hidden = s.load_ptr(x.edge_hidden.0.as_ptr().add((edge + r) * x.edge_hidden.1 + c));
                for k in 0..K {
                    sums[r][k] = s.fma(output_weight, s.max(hidden, target[k]), sums[r][k]);
                }
            }
        }
    }
    if R * K == LANES {
        // Reducing sixteen vectors together is cheaper than one by one.
        let (mut registers, mut logits) = ([s.splat(0.0); LANES], [0.0; LANES]);
        for r in 0..R {
            for k in 0..K {
                registers[r * K + k] = sums[r][k];
            }
        }
        s.store(&mut logits, s.reduce_sums(registers));
        for r in 0..R {
            p.logits[(edge + r) * x.nodes + node..][..K].copy_from_slice(&logits[r * K..][..K]);
        }
        return;
    }
    for r in 0..R {
        let logits = &mut p.logits[(edge + r) * x.nodes + node..][..K];
        for k in 0..K {
            logits[k] = s.reduce_sum(sums[r][k]);
        }
    }
}

/// Computes all gradients from that of the logits, `[N, N, N]`.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_logits: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let (n, h) = inputs.shape();
    let Gradients { edge_hidden: d_edge_hidden, target: d_target, output_weight: d_output_weight } = gradients;
    assert_eq!(d_logits.len(), elements([n; 3]), "d_logits must be [N, N, N]");
    assert!(d_edge_hidden.len() == n * n * h, "the gradient of edge_hidden must be [N, N, H]");
    assert!(d_target.len() == n * h && d_output_weight.len() == h, "the gradients must be shaped as the inputs");
    let work = &mut scratch.edge_pointers;
    let rows = rows(inputs, &mut work.edge_hidden, &mut work.target, &mut work.output_weight);
    work.d_target.fit(n, h);
    work.d_target.clear();
    work.d_output_weight.fit(h);
    let aligned = h.is_multiple_of(LANES);
    if !aligned {
        work.d_edge_hidden.fit(n * n, h);
    }
    let (d_rows, stride) =
        if aligned { (&mut *d_edge_hidden, h) } else { (&mut work.d_edge_hidden.data[..], work.d_edge_hidden.stride) };
    isa.run(Backward {
        rows,
        d_logits,
        d_edge_hidden: (d_rows, stride),
        d_target: &mut work.d_target,
        d_output_weight: &mut work.d_output_weight,
    });
    if !aligned {
        work.d_edge_hidden.copy_to(d_edge_hidden);
    }
    work.d_target.copy_to(d_target);
    d_output_weight.iter_mut().zip(work.d_output_weight.iter()).for_each(|(sum, x)| *sum += x);
}

struct Backward<'a> {
    rows: Rows<'a>,
    d_logits: &'a [f32],
    d_edge_hidden: (&'a mut [f32], usize),
    d_target: &'a mut Mat,
    d_output_weight: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let Rows { nodes: n, width, target, output_weight, .. } = self.rows;
        self.rows.check();
        assert!(self.d_logits.len() == n * n * n && self.d_output_weight.len() >= width);
        assert!(has_rows(self.d_edge_hidden.0, n * n, self.d_edge_hidden.1, width));
        assert!(has_rows(&self.d_target.data, n, self.d_target.stride, width));
        // One vector of columns at a time: the nodes and their gradients stay in the first-level cache.
        for c in (0..width).step_by(LANES) {
            let mut d_output_weight = s.splat(0.0);
            let mut edge = 0;
            // SAFETY: the asserts bound all accesses.
            unsafe {
                while edge + 4 <= n * n {
                    d_output_weight = columns::<S, 4>(s, &mut self, edge, c, d_output_weight);
                    edge += 4;
                }
                while edge < n * n {
                    d_output_weight = columns::<S, 1>(s, &mut self, edge, c, d_output_weight);
                    edge += 1;
                }
                let output_weight = s.load_ptr(output_weight.as_ptr().add(c));
                for node in 0..n {
                    let d_target = self.d_target.data.as_mut_ptr().add(node * self.d_target.stride + c);
                    d_output_weight =
                        s.fma(s.load_ptr(target.0.as_ptr().add(node * target.1 + c)), s.load_ptr(d_target), d_output_weight);
                    s.store_ptr(d_target, s.mul(output_weight, s.load_ptr(d_target)));
                }
                s.store_ptr(self.d_output_weight.as_mut_ptr().add(c), d_output_weight);
            }
        }
    }
}

/// Backward of `R` edges and all nodes, in one vector of columns. Returns the updated gradient of `w`.
///
/// # Safety
/// The asserts of [`Backward::run`] must hold, and the edges and columns must exist.
#[inline(always)]
unsafe fn columns<S: Simd, const R: usize>(s: S, p: &mut Backward<'_>, edge: usize, c: usize, mut d_output_weight: S::V) -> S::V {
    let Rows { nodes: n, edge_hidden, target, output_weight, .. } = p.rows;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut hidden = [s.splat(0.0); R];
        for r in 0..R {
            hidden[r] = s.load_ptr(edge_hidden.0.as_ptr().add((edge + r) * edge_hidden.1 + c));
        }
        let mut d_hidden = [s.splat(0.0); R];
        let d_logits = p.d_logits.as_ptr().add(edge * n);
        // Copied before the loop: through a reference they would be loaded again after each store.
        let (d_target_stride, d_target_first) = (p.d_target.stride, p.d_target.data.as_mut_ptr().add(c));
        for node in 0..n {
            let target = s.load_ptr(target.0.as_ptr().add(node * target.1 + c));
            let d_target_ptr = d_target_first.add(node * d_target_stride);
            let mut d_target = s.load_ptr(d_target_ptr);
            for r in 0..R {
                let d = s.splat(*d_logits.add(r * n + node));
                d_target = s.add_if_gt(d_target, target, hidden[r], d);
                d_hidden[r] = s.add(d_hidden[r], s.select_gt(target, hidden[r], s.splat(0.0), d));
            }
            s.store_ptr(d_target_ptr, d_target);
        }
        let output_weight = s.load_ptr(output_weight.as_ptr().add(c));
        for r in 0..R {
            d_output_weight = s.fma(hidden[r], d_hidden[r], d_output_weight);
            s.store_ptr(
                p.d_edge_hidden.0.as_mut_ptr().add((edge + r) * p.d_edge_hidden.1 + c),
                s.mul(output_weight, d_hidden[r]),
            );
        }
    }
    d_output_weight
}
