//! Logits of pointers from the edges of one sample to its nodes.
//!
//! With `e` of an edge and `t` of a node,
//!
//! ```text
//! logits[i, j, k] = sum over c of last[c] * max(e[i, j, c], t[k, c])
//! ```
//!
//! Nothing of the size of all triplets and their vectors is stored. Forward adds up a block of edges and nodes at once. Backward
//! counts which side of each maximum was larger: with `d_e = sum over k of d[i, j, k] where e is not less`, and `d_t` its
//! counterpart, both without the factor `last`, the gradient of `last` is `sum of e d_e + sum of t d_t`, so that the maxima
//! themselves are not needed.
//!
//! At a tie the edge takes all of the gradient (the reference halves it). A NaN in `t` gives a NaN; one in `e` is dropped.
//! Backward makes no such difference: an `e` that is no finite number makes the gradient of `last` NaN.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, Mat, elements, has_rows, padded, padded_rows};
use crate::simd::{LANES, Simd};

/// What the logits are made of.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `e`, `[n, n, h]`
    pub edge_hidden: &'a [f32],
    /// `t`, `[n, h]`
    pub target: &'a [f32],
    /// `[h]`
    pub output_weight: &'a [f32],
}

/// Where [`backward`] puts gradients, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Written.
    pub edge_hidden: &'a mut [f32],
    /// Written.
    pub target: &'a mut [f32],
    /// Added to.
    pub output_weight: &'a mut [f32],
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pairs: Mat,
    to: Mat,
    last: Buffer,
    d_pairs: Mat,
    d_to: Mat,
    d_last: Buffer,
}

impl Inputs<'_> {
    /// Nodes and hidden numbers.
    fn shape(&self) -> (usize, usize) {
        let h = self.output_weight.len();
        let n = self.target.len() / h;
        assert!(self.target.len() == n * h && self.edge_hidden.len() == elements([n, n, h]), "nodes are [n, h], pairs [n, n, h]");
        (n, h)
    }
}

/// Rows without tails.
#[derive(Clone, Copy)]
struct Rows<'a> {
    nodes: usize,
    width: usize,
    pairs: (&'a [f32], usize),
    to: (&'a [f32], usize),
    last: &'a [f32],
}

impl Rows<'_> {
    fn check(&self) {
        let (n, width) = (self.nodes, self.width);
        assert!(width.is_multiple_of(LANES) && self.last.len() >= width);
        assert!(has_rows(self.pairs.0, n * n, self.pairs.1, width) && has_rows(self.to.0, n, self.to.1, width));
    }
}

fn rows<'a>(inputs: &Inputs<'a>, pairs: &'a mut Mat, to: &'a mut Mat, last: &'a mut Buffer) -> Rows<'a> {
    let (nodes, h) = inputs.shape();
    last.fit(h);
    last[..h].copy_from_slice(inputs.output_weight);
    last[h..].fill(0.0);
    let [pairs, to] = [(inputs.edge_hidden, pairs), (inputs.target, to)].map(|(dense, copy)| padded_rows(dense, h, copy));
    Rows { nodes, width: padded(h), pairs, to, last }
}

/// Writes `logits`, `[n, n, n]`.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, inputs: &Inputs<'_>, logits: &mut [f32], scratch: &mut Scratch) {
    let Workspace { pairs, to, last, .. } = &mut scratch.edge_pointers;
    let rows = rows(inputs, pairs, to, last);
    assert_eq!(logits.len(), elements([rows.nodes; 3]), "logits are [n, n, n]");
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
        let pairs = self.rows.nodes * self.rows.nodes;
        let mut pair = 0;
        // SAFETY: the checks above bound all accesses to pairs and nodes that are there.
        unsafe {
            while S::REGISTERS >= 32 && pair + 4 <= pairs {
                nodes::<S, 4>(s, &mut self, pair);
                pair += 4;
            }
            while pair + 2 <= pairs {
                nodes::<S, 2>(s, &mut self, pair);
                pair += 2;
            }
            if pair < pairs {
                nodes::<S, 1>(s, &mut self, pair);
            }
        }
    }
}

/// The logits from `R` pairs to all nodes.
///
/// # Safety
/// [`Rows::check`] has to hold, and the pairs have to be there.
#[inline(always)]
unsafe fn nodes<S: Simd, const R: usize>(s: S, p: &mut Forward<'_>, pair: usize) {
    let mut node = 0;
    // SAFETY: as the caller says; nodes are counted here.
    unsafe {
        while S::REGISTERS >= 32 && node + 4 <= p.rows.nodes {
            block::<S, R, 4>(s, p, pair, node);
            node += 4;
        }
        while node + 2 <= p.rows.nodes {
            block::<S, R, 2>(s, p, pair, node);
            node += 2;
        }
        if node < p.rows.nodes {
            block::<S, R, 1>(s, p, pair, node);
        }
    }
}

/// # Safety
/// As [`nodes`], for `K` nodes.
#[inline(always)]
unsafe fn block<S: Simd, const R: usize, const K: usize>(s: S, p: &mut Forward<'_>, pair: usize, node: usize) {
    let x = &p.rows;
    let mut sums = [[s.splat(0.0); K]; R];
    for c in (0..x.width).step_by(LANES) {
        // SAFETY: as the caller says.
        unsafe {
            let last = s.load_ptr(x.last.as_ptr().add(c));
            let mut to = [last; K];
            for k in 0..K {
                to[k] = s.load_ptr(x.to.0.as_ptr().add((node + k) * x.to.1 + c));
            }
            for r in 0..R {
                let from = s.load_ptr(x.pairs.0.as_ptr().add((pair + r) * x.pairs.1 + c));
                for k in 0..K {
                    sums[r][k] = s.fma(last, s.max(from, to[k]), sums[r][k]);
                }
            }
        }
    }
    if R * K == LANES {
        // Sums of sixteen registers together are cheaper than one by one.
        let (mut registers, mut logits) = ([s.splat(0.0); LANES], [0.0; LANES]);
        for r in 0..R {
            for k in 0..K {
                registers[r * K + k] = sums[r][k];
            }
        }
        s.store(&mut logits, s.reduce_sums(registers));
        for r in 0..R {
            p.logits[(pair + r) * x.nodes + node..][..K].copy_from_slice(&logits[r * K..][..K]);
        }
        return;
    }
    for r in 0..R {
        let logits = &mut p.logits[(pair + r) * x.nodes + node..][..K];
        for k in 0..K {
            logits[k] = s.reduce_sum(sums[r][k]);
        }
    }
}

/// From the gradient of the logits to all others.
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, d_logits: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let (n, h) = inputs.shape();
    let Gradients { edge_hidden: d_pairs, target: d_to, output_weight: d_last } = gradients;
    assert_eq!(d_logits.len(), elements([n; 3]), "logits are [n, n, n]");
    assert!(d_pairs.len() == n * n * h && d_to.len() == n * h && d_last.len() == h, "gradients are shaped as inputs");
    let work = &mut scratch.edge_pointers;
    let rows = rows(inputs, &mut work.pairs, &mut work.to, &mut work.last);
    work.d_to.fit(n, h);
    work.d_to.clear();
    work.d_last.fit(h);
    let whole = h.is_multiple_of(LANES);
    if !whole {
        work.d_pairs.fit(n * n, h);
    }
    let (to_pairs, stride) = if whole { (&mut *d_pairs, h) } else { (&mut work.d_pairs.data[..], work.d_pairs.stride) };
    isa.run(Backward { rows, d_logits, d_pairs: (to_pairs, stride), d_to: &mut work.d_to, d_last: &mut work.d_last });
    if !whole {
        work.d_pairs.copy_to(d_pairs);
    }
    work.d_to.copy_to(d_to);
    d_last.iter_mut().zip(work.d_last.iter()).for_each(|(to, x)| *to += x);
}

struct Backward<'a> {
    rows: Rows<'a>,
    d_logits: &'a [f32],
    d_pairs: (&'a mut [f32], usize),
    d_to: &'a mut Mat,
    d_last: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let Rows { nodes: n, width, to, last, .. } = self.rows;
        self.rows.check();
        assert!(self.d_logits.len() == n * n * n && self.d_last.len() >= width);
        assert!(has_rows(self.d_pairs.0, n * n, self.d_pairs.1, width));
        assert!(has_rows(&self.d_to.data, n, self.d_to.stride, width));
        // A register of columns at a time: nodes and their gradients stay in the first-level cache.
        for c in (0..width).step_by(LANES) {
            let mut d_last = s.splat(0.0);
            let mut pair = 0;
            // SAFETY: the asserts bound all accesses.
            unsafe {
                while pair + 4 <= n * n {
                    d_last = columns::<S, 4>(s, &mut self, pair, c, d_last);
                    pair += 4;
                }
                while pair < n * n {
                    d_last = columns::<S, 1>(s, &mut self, pair, c, d_last);
                    pair += 1;
                }
                let last = s.load_ptr(last.as_ptr().add(c));
                for node in 0..n {
                    let d_to = self.d_to.data.as_mut_ptr().add(node * self.d_to.stride + c);
                    d_last = s.fma(s.load_ptr(to.0.as_ptr().add(node * to.1 + c)), s.load_ptr(d_to), d_last);
                    s.store_ptr(d_to, s.mul(last, s.load_ptr(d_to)));
                }
                s.store_ptr(self.d_last.as_mut_ptr().add(c), d_last);
            }
        }
    }
}

/// Backward of `R` pairs and all nodes, in a register of columns. Returns the gradient of the last layer, added to.
///
/// # Safety
/// What [`Backward::run`] asserts has to hold, and the pairs and columns have to be there.
#[inline(always)]
unsafe fn columns<S: Simd, const R: usize>(s: S, p: &mut Backward<'_>, pair: usize, c: usize, mut d_last: S::V) -> S::V {
    let Rows { nodes: n, pairs, to, last, .. } = p.rows;
    // SAFETY: as the caller says.
    unsafe {
        let mut from = [s.splat(0.0); R];
        for r in 0..R {
            from[r] = s.load_ptr(pairs.0.as_ptr().add((pair + r) * pairs.1 + c));
        }
        let mut d_from = [s.splat(0.0); R];
        let d_logits = p.d_logits.as_ptr().add(pair * n);
        // Taken before the loop: behind a reference they would be read again after each store.
        let (d_to_stride, d_to_first) = (p.d_to.stride, p.d_to.data.as_mut_ptr().add(c));
        for node in 0..n {
            let to = s.load_ptr(to.0.as_ptr().add(node * to.1 + c));
            let d_to_at = d_to_first.add(node * d_to_stride);
            let mut d_to = s.load_ptr(d_to_at);
            for r in 0..R {
                let d = s.splat(*d_logits.add(r * n + node));
                d_to = s.add_if_gt(d_to, to, from[r], d);
                d_from[r] = s.add(d_from[r], s.select_gt(to, from[r], s.splat(0.0), d));
            }
            s.store_ptr(d_to_at, d_to);
        }
        let last = s.load_ptr(last.as_ptr().add(c));
        for r in 0..R {
            d_last = s.fma(from[r], d_from[r], d_last);
            s.store_ptr(p.d_pairs.0.as_mut_ptr().add((pair + r) * p.d_pairs.1 + c), s.mul(last, d_from[r]));
        }
    }
    d_last
}
