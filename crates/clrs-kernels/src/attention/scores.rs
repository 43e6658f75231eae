//! Inner loops of scores: sixteen key nodes at once.

use crate::isa::Kernel;
use crate::memory::{Mat, has_rows};
use crate::simd::{LANES, Simd};

/// Slope of the leaky `ReLU` for negative values, as in dm-clrs.
pub const LEAKY_RELU_SLOPE: f32 = 0.01;

/// Writes the scores to `out`, `[heads * N, N]`.
pub(super) struct Scores<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    /// `[N, D]`
    pub(super) query: &'a [f32],
    /// `[D, N]`
    pub(super) key: &'a Mat,
    /// `[C * N, N]`
    pub(super) edge_features: &'a Mat,
    /// `[C, D]`
    pub(super) edge_weight: &'a [f32],
    /// `[D]`
    pub(super) score_weight: &'a [f32],
    pub(super) out: &'a mut Mat,
}

/// Asserts the shapes that [`Scores`] documents. Returns `(D, C)`.
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
        // SAFETY: the asserts bound all accesses to nodes that exist.
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

/// The scores of `R` query nodes.
///
/// # Safety
/// The asserts of [`Scores::run`] must hold, and nodes `x` to `x + R` must exist.
#[inline(always)]
unsafe fn scores<S: Simd, const R: usize>(s: S, p: &mut Scores<'_>, x: usize) {
    let (n, w) = (p.nodes, p.score_weight.len());
    let (channels, head_dim) = (p.edge_features.rows / n, w / p.heads);
    // SAFETY: guaranteed by the caller; rows are padded to complete vectors.
    unsafe {
        for y in (0..n).step_by(LANES) {
            for head in 0..p.heads {
                let mut sums = [s.splat(0.0); R];
                for k in head * head_dim..(head + 1) * head_dim {
                    let key = s.load_ptr(p.key.data.as_ptr().add(k * p.key.stride + y));
                    let mut sum = [key; R];
                    for r in 0..R {
                        sum[r] = s.add(key, s.splat(*p.query.get_unchecked((x + r) * w + k)));
                    }
                    for c in 0..channels {
                        let edge_weight = s.splat(*p.edge_weight.get_unchecked(c * w + k));
                        let raw = p.edge_features.data.as_ptr().add((c * n + x) * p.edge_features.stride + y);
                        for r in 0..R {
                            sum[r] = s.fma(edge_weight, s.load_ptr(raw.add(r * p.edge_features.stride)), sum[r]);
                        }
                    }
                    let score_weight = s.splat(*p.score_weight.get_unchecked(k));
                    for r in 0..R {
                        let leaky = s.max(sum[r], s.mul(s.splat(LEAKY_RELU_SLOPE), sum[r]));
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

/// Computes all gradients from that of the scores. `d_query` is overwritten, the others are added to.
pub(super) struct ScoresBackward<'a> {
    pub(super) nodes: usize,
    pub(super) heads: usize,
    pub(super) query: &'a [f32],
    pub(super) key: &'a Mat,
    pub(super) edge_features: &'a Mat,
    pub(super) edge_weight: &'a [f32],
    pub(super) score_weight: &'a [f32],
    /// `[heads * N, N]`
    pub(super) d_scores: &'a Mat,
    pub(super) d_query: &'a mut [f32],
    /// `[D, N]`
    pub(super) d_key: &'a mut Mat,
    /// `[C * N, N]`
    pub(super) d_edge_features: Option<&'a mut Mat>,
    pub(super) d_edge_weight: &'a mut [f32],
    pub(super) d_score_weight: &'a mut [f32],
    /// Scratch memory for the gradients of all pairs in one column, `[N, N]`.
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
/// The asserts of [`ScoresBackward::run`] must hold, and column `k` must exist.
#[inline(always)]
unsafe fn column<S: Simd>(s: S, p: &mut ScoresBackward<'_>, k: usize, width: usize) {
    let (n, w) = (p.nodes, p.score_weight.len());
    let (channels, head) = (p.edge_features.rows / n, k / (w / p.heads));
    let zero = s.splat(0.0);
    let score_weight = s.splat(p.score_weight[k]);
    let negative_slope = s.mul(score_weight, s.splat(LEAKY_RELU_SLOPE));
    let mut d_score_weight = zero;
    // Copied before the loops: through a reference they would be loaded again after each store.
    let (stride, edge_features, pairs_at) = (p.edge_features.stride, p.edge_features.data.as_ptr(), p.pairs.data.as_mut_ptr());
    let (edge_weight, query) = (p.edge_weight.as_ptr().wrapping_add(k), p.query.as_ptr().wrapping_add(k));
    let (d_scores, d_scores_stride) = (&p.d_scores.data[head * n * p.d_scores.stride..], p.d_scores.stride);
    // SAFETY: guaranteed by the caller; rows are padded to complete vectors.
    unsafe {
        let key = p.key.data.as_ptr().add(k * p.key.stride);
        let d_key = p.d_key.data.as_mut_ptr().add(k * p.d_key.stride);
        // Sixteen query nodes at a time, whose sums are reduced together.
        for begin in (0..n).step_by(LANES) {
            let block = begin..n.min(begin + LANES);
            let mut d_query = [zero; LANES];
            for y in (0..width).step_by(LANES) {
                let key = s.load_ptr(key.add(y));
                let mut d_sum = s.load_ptr(d_key.add(y));
                for x in block.clone() {
                    let mut sum = s.add(s.splat(*query.add(x * w)), key);
                    for c in 0..channels {
                        let raw = s.load_ptr(edge_features.add((c * n + x) * stride + y));
                        sum = s.fma(s.splat(*edge_weight.add(c * w)), raw, sum);
                    }
                    // 0 past the end of the row.
                    let d = s.load_at(&d_scores[x * d_scores_stride..][..n], y);
                    let leaky = s.max(sum, s.mul(s.splat(LEAKY_RELU_SLOPE), sum));
                    d_score_weight = s.fma(d, leaky, d_score_weight);
                    let d_pair = s.mul(d, s.select_gt(sum, zero, score_weight, negative_slope));
                    d_query[x - begin] = s.add(d_query[x - begin], d_pair);
                    d_sum = s.add(d_sum, d_pair);
                    s.store_ptr(pairs_at.add(x * stride + y), d_pair);
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

/// Computes the gradients of `C` channels and their weights from those of all pairs in a column.
///
/// # Safety
/// As [`column()`]; the channels must exist.
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
    // SAFETY: guaranteed by the caller.
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
