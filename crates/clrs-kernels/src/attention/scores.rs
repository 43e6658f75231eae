//! Inner loops of scores: sixteen asked nodes at once.

use crate::isa::Kernel;
use crate::memory::{Mat, has_rows};
use crate::simd::{LANES, Simd};

/// The slope of the reference's leaky rectifier for negative numbers.
const SLOPE: f32 = 0.01;

/// Writes `out`, `[heads * n, n]`.
pub(super) struct Scores<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    /// `[n, w]`
    pub(super) query: &'a [f32],
    /// `[w, n]`
    pub(super) key: &'a Mat,
    /// `[c * n, n]`
    pub(super) edge_features: &'a Mat,
    /// `[c, w]`
    pub(super) edge_weight: &'a [f32],
    /// `[w]`
    pub(super) score_weight: &'a [f32],
    pub(super) out: &'a mut Mat,
}

/// Asserts that matrices are as large as said there.
#[inline(always)]
fn check(n: usize, query: &[f32], key: &Mat, edge_features: &Mat, edge_weight: &[f32], score_weight: &[f32]) -> (usize, usize) {
    let (w, c) = (score_weight.len(), edge_features.rows / n);
    assert!(query.len() == n * w && edge_weight.len() == c * w && edge_features.rows == c * n);
    assert!(key.rows == w && key.columns == n && edge_features.columns == n);
    assert!(
        has_rows(&key.data, w, key.stride, key.width())
            && has_rows(&edge_features.data, c * n, edge_features.stride, edge_features.width())
    );
    (w, c)
}

impl Kernel for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let n = self.nodes;
        check(n, self.query, self.key, self.edge_features, self.edge_weight, self.score_weight);
        assert!(self.out.rows == self.heads * n && self.out.columns == n && self.score_weight.len().is_multiple_of(self.heads));
        assert!(has_rows(&self.out.data, self.out.rows, self.out.stride, self.out.width()));
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
    let (n, w) = (p.nodes, p.score_weight.len());
    let (channels, part) = (p.edge_features.rows / n, w / p.heads);
    // SAFETY: as the caller says; padding is there for the last register of a row.
    unsafe {
        for y in (0..n).step_by(LANES) {
            for head in 0..p.heads {
                let mut sums = [s.splat(0.0); R];
                for k in head * part..(head + 1) * part {
                    let key = s.load_ptr(p.key.data.as_ptr().add(k * p.key.stride + y));
                    let mut match_ = [key; R];
                    for r in 0..R {
                        match_[r] = s.add(key, s.splat(*p.query.get_unchecked((x + r) * w + k)));
                    }
                    for c in 0..channels {
                        let edge_weight = s.splat(*p.edge_weight.get_unchecked(c * w + k));
                        let raw = p.edge_features.data.as_ptr().add((c * n + x) * p.edge_features.stride + y);
                        for r in 0..R {
                            match_[r] = s.fma(edge_weight, s.load_ptr(raw.add(r * p.edge_features.stride)), match_[r]);
                        }
                    }
                    let score_weight = s.splat(*p.score_weight.get_unchecked(k));
                    for r in 0..R {
                        let leaky = s.max(match_[r], s.mul(s.splat(SLOPE), match_[r]));
                        sums[r] = s.fma(score_weight, leaky, sums[r]);
                    }
                }
                for r in 0..R {
                    let to = (head * n + x + r) * p.out.stride + y;
                    s.store_ptr(p.out.data.as_mut_ptr().add(to), sums[r]);
                }
            }
        }
    }
}

/// From the gradients of scores to all others, all of which are added to but `d_query`, which is written.
pub(super) struct ScoresBackward<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    pub(super) query: &'a [f32],
    pub(super) key: &'a Mat,
    pub(super) edge_features: &'a Mat,
    pub(super) edge_weight: &'a [f32],
    pub(super) score_weight: &'a [f32],
    /// `[heads * n, n]`
    pub(super) d_scores: &'a Mat,
    pub(super) d_query: &'a mut [f32],
    /// `[w, n]`
    pub(super) d_key: &'a mut Mat,
    /// `[c * n, n]`
    pub(super) d_edge_features: Option<&'a mut Mat>,
    pub(super) d_edge_weight: &'a mut [f32],
    pub(super) d_score_weight: &'a mut [f32],
    /// Room for the gradients of all pairs in one column, `[n, n]`.
    pub(super) pairs: &'a mut Mat,
}

impl Kernel for ScoresBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let n = self.nodes;
        let (w, channels) = check(n, self.query, self.key, self.edge_features, self.edge_weight, self.score_weight);
        let width = self.key.width();
        assert!(w.is_multiple_of(self.heads) && self.d_scores.rows == self.heads * n && self.d_scores.columns == n);
        assert!(has_rows(&self.d_scores.data, self.heads * n, self.d_scores.stride, width));
        assert!(self.d_query.len() == n * w && self.d_edge_weight.len() == channels * w && self.d_score_weight.len() == w);
        assert!(has_rows(&self.d_key.data, w, self.d_key.stride, width));
        assert!(has_rows(&self.pairs.data, n, self.pairs.stride, width) && self.pairs.stride == self.edge_features.stride);
        if let Some(d_edge_features) = &self.d_edge_features {
            assert!(
                d_edge_features.stride == self.edge_features.stride
                    && has_rows(&d_edge_features.data, channels * n, d_edge_features.stride, width)
            );
        }
        for k in 0..w {
            // SAFETY: the asserts bound all accesses.
            unsafe { column(s, &mut self, k, width) };
        }
    }
}

/// # Safety
/// What [`ScoresBackward::run`] asserts has to hold, and column `k` has to be there.
#[inline(always)]
unsafe fn column<S: Simd>(s: S, p: &mut ScoresBackward<'_>, k: usize, width: usize) {
    let (n, w) = (p.nodes, p.score_weight.len());
    let (channels, head) = (p.edge_features.rows / n, k / (w / p.heads));
    let zero = s.splat(0.0);
    let score_weight = s.splat(p.score_weight[k]);
    let slow = s.mul(score_weight, s.splat(SLOPE));
    let mut d_score_weight = zero;
    // Pointers are taken before the loops: behind a reference they would be read again after each store.
    let (stride, edge_features, pairs_at) = (p.edge_features.stride, p.edge_features.data.as_ptr(), p.pairs.data.as_mut_ptr());
    let (edge_weight, query) = (p.edge_weight.as_ptr().wrapping_add(k), p.query.as_ptr().wrapping_add(k));
    let (d_scores, d_scores_stride) = (&p.d_scores.data[head * n * p.d_scores.stride..], p.d_scores.stride);
    // SAFETY: as the caller says; padding is there for the last register of a row.
    unsafe {
        let key = p.key.data.as_ptr().add(k * p.key.stride);
        let d_key = p.d_key.data.as_mut_ptr().add(k * p.d_key.stride);
        // Sixteen asking nodes at a time, whose sums are taken together.
        for begin in (0..n).step_by(LANES) {
            let block = begin..n.min(begin + LANES);
            let mut d_query = [zero; LANES];
            for y in (0..width).step_by(LANES) {
                let key = s.load_ptr(key.add(y));
                let mut d_sum = s.load_ptr(d_key.add(y));
                for x in block.clone() {
                    let mut match_ = s.add(s.splat(*query.add(x * w)), key);
                    for c in 0..channels {
                        let raw = s.load_ptr(edge_features.add((c * n + x) * stride + y));
                        match_ = s.fma(s.splat(*edge_weight.add(c * w)), raw, match_);
                    }
                    // Nothing behind the end of the row.
                    let d = s.load_at(&d_scores[x * d_scores_stride..][..n], y);
                    let leaky = s.max(match_, s.mul(s.splat(SLOPE), match_));
                    d_score_weight = s.fma(d, leaky, d_score_weight);
                    let d_match = s.mul(d, s.select_gt(match_, zero, score_weight, slow));
                    d_query[x - begin] = s.add(d_query[x - begin], d_match);
                    d_sum = s.add(d_sum, d_match);
                    s.store_ptr(pairs_at.add(x * stride + y), d_match);
                }
                s.store_ptr(d_key.add(y), d_sum);
            }
            let mut sums = [0.0; LANES];
            s.store(&mut sums, s.reduce_sums(d_query));
            for (x, sum) in block.zip(sums) {
                p.d_query[x * w + k] = sum;
            }
        }
        p.d_score_weight[k] += s.reduce_sum(d_score_weight);
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
unsafe fn pairs<S: Simd, const C: usize>(s: S, p: &mut ScoresBackward<'_>, k: usize, width: usize, first: usize) {
    let (n, w, stride) = (p.nodes, p.score_weight.len(), p.edge_features.stride);
    let mut edge_weight = [s.splat(0.0); C];
    for c in 0..C {
        edge_weight[c] = s.splat(p.edge_weight[(first + c) * w + k]);
    }
    let mut sums = [s.splat(0.0); C];
    let (pairs, edge_features) = (p.pairs.data.as_ptr(), p.edge_features.data.as_ptr());
    let d_edge_features = p.d_edge_features.as_mut().map(|d_edge_features| d_edge_features.data.as_mut_ptr());
    // SAFETY: as the caller says.
    unsafe {
        for x in 0..n {
            for y in (0..width).step_by(LANES) {
                let d = s.load_ptr(pairs.add(x * stride + y));
                for c in 0..C {
                    let at = ((first + c) * n + x) * stride + y;
                    sums[c] = s.fma(d, s.load_ptr(edge_features.add(at)), sums[c]);
                    if let Some(d_edge_features) = d_edge_features {
                        s.store_ptr(d_edge_features.add(at), s.fma(edge_weight[c], d, s.load_ptr(d_edge_features.add(at))));
                    }
                }
            }
        }
    }
    for c in 0..C {
        p.d_edge_weight[(first + c) * w + k] += s.reduce_sum(sums[c]);
    }
}
