//! Inner loops of scores: sixteen asked nodes at once.

use crate::isa::Kernel;
use crate::memory::{Mat, holds};
use crate::simd::{LANES, Simd};

/// The slope of the reference's leaky rectifier for negative numbers.
const SLOPE: f32 = 0.01;

/// Writes `out`, `[heads * n, n]`.
pub(super) struct Scores<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    /// `[n, w]`
    pub(super) asking: &'a [f32],
    /// `[w, n]`
    pub(super) asked: &'a Mat,
    /// `[c * n, n]`
    pub(super) edges: &'a Mat,
    /// `[c, w]`
    pub(super) edge: &'a [f32],
    /// `[w]`
    pub(super) score: &'a [f32],
    pub(super) out: &'a mut Mat,
}

/// Asserts that matrices are as large as said there.
#[inline(always)]
fn check(n: usize, asking: &[f32], asked: &Mat, edges: &Mat, edge: &[f32], score: &[f32]) -> (usize, usize) {
    let (w, c) = (score.len(), edges.rows / n);
    assert!(asking.len() == n * w && edge.len() == c * w && edges.rows == c * n);
    assert!(asked.rows == w && asked.columns == n && edges.columns == n);
    assert!(holds(&asked.data, w, asked.stride, asked.width()) && holds(&edges.data, c * n, edges.stride, edges.width()));
    (w, c)
}

impl Kernel for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let n = self.nodes;
        check(n, self.asking, self.asked, self.edges, self.edge, self.score);
        assert!(self.out.rows == self.heads * n && self.out.columns == n && self.score.len().is_multiple_of(self.heads));
        assert!(holds(&self.out.data, self.out.rows, self.out.stride, self.out.width()));
        let mut x = 0;
        // SAFETY: the asserts bound all accesses to nodes that are there.
        unsafe {
            while S::REGISTERS >= 32 && x + 8 <= n {
                scores::<S, 8>(s, &mut self, x);
                x += 8;
            }
            while x + 2 <= n {
                scores::<S, 2>(s, &mut self, x);
                x += 2;
            }
            if x < n {
                scores::<S, 1>(s, &mut self, x);
            }
        }
    }
}

/// The scores of `R` asking nodes.
///
/// # Safety
/// What [`Scores::run`] asserts has to hold, and nodes `x` to `x + R` have to be there.
#[inline(always)]
unsafe fn scores<S: Simd, const R: usize>(s: S, p: &mut Scores<'_>, x: usize) {
    let (n, w) = (p.nodes, p.score.len());
    let (channels, part) = (p.edges.rows / n, w / p.heads);
    // SAFETY: as the caller says; padding is there for the last register of a row.
    unsafe {
        for y in (0..n).step_by(LANES) {
            for head in 0..p.heads {
                let mut sums = [s.splat(0.0); R];
                for k in head * part..(head + 1) * part {
                    let asked = s.read(p.asked.data.as_ptr().add(k * p.asked.stride + y));
                    let mut match_ = [asked; R];
                    for r in 0..R {
                        match_[r] = s.add(asked, s.splat(*p.asking.get_unchecked((x + r) * w + k)));
                    }
                    for c in 0..channels {
                        let edge = s.splat(*p.edge.get_unchecked(c * w + k));
                        let raw = p.edges.data.as_ptr().add((c * n + x) * p.edges.stride + y);
                        for r in 0..R {
                            match_[r] = s.fma(edge, s.read(raw.add(r * p.edges.stride)), match_[r]);
                        }
                    }
                    let score = s.splat(*p.score.get_unchecked(k));
                    for r in 0..R {
                        let leaky = s.max(match_[r], s.mul(s.splat(SLOPE), match_[r]));
                        sums[r] = s.fma(score, leaky, sums[r]);
                    }
                }
                for r in 0..R {
                    let to = (head * n + x + r) * p.out.stride + y;
                    s.write(p.out.data.as_mut_ptr().add(to), sums[r]);
                }
            }
        }
    }
}

/// From the gradients of scores to all others, all of which are added to but `d_asking`, which is written.
pub(super) struct ScoresBack<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    pub(super) asking: &'a [f32],
    pub(super) asked: &'a Mat,
    pub(super) edges: &'a Mat,
    pub(super) edge: &'a [f32],
    pub(super) score: &'a [f32],
    /// `[heads * n, n]`
    pub(super) d_scores: &'a Mat,
    pub(super) d_asking: &'a mut [f32],
    /// `[w, n]`
    pub(super) d_asked: &'a mut Mat,
    /// `[c * n, n]`
    pub(super) d_edges: Option<&'a mut Mat>,
    pub(super) d_edge: &'a mut [f32],
    pub(super) d_score: &'a mut [f32],
    /// Room for the gradients of all pairs in one column, `[n, n]`.
    pub(super) pairs: &'a mut Mat,
}

impl Kernel for ScoresBack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let n = self.nodes;
        let (w, channels) = check(n, self.asking, self.asked, self.edges, self.edge, self.score);
        let width = self.asked.width();
        assert!(w.is_multiple_of(self.heads) && self.d_scores.rows == self.heads * n && self.d_scores.columns == n);
        assert!(holds(&self.d_scores.data, self.heads * n, self.d_scores.stride, width));
        assert!(self.d_asking.len() == n * w && self.d_edge.len() == channels * w && self.d_score.len() == w);
        assert!(holds(&self.d_asked.data, w, self.d_asked.stride, width));
        assert!(holds(&self.pairs.data, n, self.pairs.stride, width) && self.pairs.stride == self.edges.stride);
        if let Some(d_edges) = &self.d_edges {
            assert!(d_edges.stride == self.edges.stride && holds(&d_edges.data, channels * n, d_edges.stride, width));
        }
        for k in 0..w {
            // SAFETY: the asserts bound all accesses.
            unsafe { column(s, &mut self, k, width) };
        }
    }
}

/// # Safety
/// What [`ScoresBack::run`] asserts has to hold, and column `k` has to be there.
#[inline(always)]
unsafe fn column<S: Simd>(s: S, p: &mut ScoresBack<'_>, k: usize, width: usize) {
    let (n, w) = (p.nodes, p.score.len());
    let (channels, head) = (p.edges.rows / n, k / (w / p.heads));
    let zero = s.splat(0.0);
    let score = s.splat(p.score[k]);
    let slow = s.mul(score, s.splat(SLOPE));
    let mut d_score = zero;
    // Pointers are taken before the loops: behind a reference they would be read again after each store.
    let (stride, edges, pairs_at) = (p.edges.stride, p.edges.data.as_ptr(), p.pairs.data.as_mut_ptr());
    let (edge, asking) = (p.edge.as_ptr().wrapping_add(k), p.asking.as_ptr().wrapping_add(k));
    let (d_scores, d_scores_stride) = (&p.d_scores.data[head * n * p.d_scores.stride..], p.d_scores.stride);
    // SAFETY: as the caller says; padding is there for the last register of a row.
    unsafe {
        let asked = p.asked.data.as_ptr().add(k * p.asked.stride);
        let d_asked = p.d_asked.data.as_mut_ptr().add(k * p.d_asked.stride);
        // Sixteen asking nodes at a time, whose sums are taken together.
        for begin in (0..n).step_by(LANES) {
            let block = begin..n.min(begin + LANES);
            let mut d_asking = [zero; LANES];
            for y in (0..width).step_by(LANES) {
                let asked = s.read(asked.add(y));
                let mut d_sum = s.read(d_asked.add(y));
                for x in block.clone() {
                    let mut match_ = s.add(s.splat(*asking.add(x * w)), asked);
                    for c in 0..channels {
                        let raw = s.read(edges.add((c * n + x) * stride + y));
                        match_ = s.fma(s.splat(*edge.add(c * w)), raw, match_);
                    }
                    // Nothing behind the end of the row.
                    let d = s.get(&d_scores[x * d_scores_stride..][..n], y);
                    let leaky = s.max(match_, s.mul(s.splat(SLOPE), match_));
                    d_score = s.fma(d, leaky, d_score);
                    let d_match = s.mul(d, s.select_gt(match_, zero, score, slow));
                    d_asking[x - begin] = s.add(d_asking[x - begin], d_match);
                    d_sum = s.add(d_sum, d_match);
                    s.write(pairs_at.add(x * stride + y), d_match);
                }
                s.write(d_asked.add(y), d_sum);
            }
            let mut sums = [0.0; LANES];
            s.store(&mut sums, s.sums(d_asking));
            for (x, sum) in block.zip(sums) {
                p.d_asking[x * w + k] = sum;
            }
        }
        p.d_score[k] += s.sum(d_score);
        let mut first = 0;
        while first < channels {
            match channels - first {
                1 => pairs::<S, 1>(s, p, k, width, first),
                2 => pairs::<S, 2>(s, p, k, width, first),
                3 => pairs::<S, 3>(s, p, k, width, first),
                _ => pairs::<S, 4>(s, p, k, width, first),
            }
            first += 4;
        }
    }
}

/// From the gradients of all pairs in a column to those of `C` channels and their weights.
///
/// # Safety
/// As [`column`]; the channels have to be there.
#[inline(always)]
unsafe fn pairs<S: Simd, const C: usize>(s: S, p: &mut ScoresBack<'_>, k: usize, width: usize, first: usize) {
    let (n, w, stride) = (p.nodes, p.score.len(), p.edges.stride);
    let mut edge = [s.splat(0.0); C];
    for c in 0..C {
        edge[c] = s.splat(p.edge[(first + c) * w + k]);
    }
    let mut sums = [s.splat(0.0); C];
    let (pairs, edges) = (p.pairs.data.as_ptr(), p.edges.data.as_ptr());
    let d_edges = p.d_edges.as_mut().map(|d_edges| d_edges.data.as_mut_ptr());
    // SAFETY: as the caller says.
    unsafe {
        for x in 0..n {
            for y in (0..width).step_by(LANES) {
                let d = s.read(pairs.add(x * stride + y));
                for c in 0..C {
                    let at = ((first + c) * n + x) * stride + y;
                    sums[c] = s.fma(d, s.read(edges.add(at)), sums[c]);
                    if let Some(d_edges) = d_edges {
                        s.write(d_edges.add(at), s.fma(edge[c], d, s.read(d_edges.add(at))));
                    }
                }
            }
        }
    }
    for c in 0..C {
        p.d_edge[(first + c) * w + k] += s.sum(sums[c]);
    }
}
