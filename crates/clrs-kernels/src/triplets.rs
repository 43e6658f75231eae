//! Maximum over the first node of triplets: `out[j, k, f] = max over i of a[i, j, f] + b[i, k, f]`.
//!
//! Tensor operations store all `N * N * N * F` sums. Here rows of `a` and `b` are added in registers, and only the maximum and its
//! index are stored. The rows of `b` for all `k` form one long row, and the few features of `a[i, j]` are repeated to fill a
//! vector, so that no lane is idle. To this end, the number of features is rounded up to 1, 2, 4, 8 or a multiple of 16.
//!
//! # Ties and NaN
//! The first of equal sums takes the gradient. A NaN counts only for `i = 0`, where it stays the maximum.
//!
//! # Bits
//! Each sum is rounded once: the same on every instruction set.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, elements};
use crate::simd::{LANES, Simd};

/// Scratch memory of this kernel.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    a: Buffer,
    b: Buffer,
    repeated: Buffer,
    best: Buffer,
    index: Buffer,
}

/// Number of elements that the features of a pair occupy inside the kernel.
fn padded_features(features: usize) -> usize {
    if features >= LANES { features.next_multiple_of(LANES) } else { features.next_power_of_two() }
}

/// Copies rows of features, padded to [`padded_features`].
fn copy_padded(dense: &[f32], features: usize, to: &mut Buffer) {
    let padded = padded_features(features);
    let rows = dense.len() / features;
    // The last vector may extend past the end.
    to.fit(rows * padded + LANES);
    for (from, to) in dense.chunks_exact(features).zip(to.chunks_exact_mut(padded)) {
        to[..features].copy_from_slice(from);
        to[features..].fill(0.0);
    }
    to[rows * padded..][..LANES].fill(0.0);
}

/// Writes `out`, `[N, N, F]`, from `a` and `b`, `[N, N, F]`, and to `argmax`, if given, the `i` of each maximum.
///
/// # Panics
/// If lengths do not match, or if there are more than 65535 nodes.
///
/// # Examples
/// ```
/// use clrs_kernels::{Isa, Scratch, triplets};
///
/// // Two nodes, one feature: `out[j, k]` is the maximum of `a[0, j] + b[0, k]` and `a[1, j] + b[1, k]`.
/// let (mut out, mut argmax) = ([0.0; 4], [0; 4]);
/// let (a, b) = ([1.0, 2.0, 3.0, 0.0], [0.0, 5.0, 1.0, 1.0]);
/// triplets::forward(Isa::best(), (2, 1), &a, &b, &mut out, Some(&mut argmax), &mut Scratch::default());
/// assert_eq!(out, [4.0, 6.0, 2.0, 7.0]);
/// assert_eq!(argmax, [1, 0, 0, 0]);
/// ```
pub fn forward(
    isa: Isa,
    (nodes, features): (usize, usize),
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
    mut argmax: Option<&mut [u16]>,
    scratch: &mut Scratch,
) {
    let all = elements([nodes, nodes, features]);
    assert!(a.len() == all && b.len() == all && out.len() == all, "a, b and out must be [N, N, F]");
    assert!(argmax.as_ref().is_none_or(|argmax| argmax.len() == all), "argmax must be [N, N, F]");
    assert!(u16::try_from(nodes).is_ok(), "at most 65535 nodes");
    if all == 0 {
        return;
    }
    let work = &mut scratch.triplets;
    let padded = padded_features(features);
    copy_padded(a, features, &mut work.a);
    copy_padded(b, features, &mut work.b);
    let (period, row) = (padded.max(LANES), nodes * padded);
    work.repeated.fit(nodes * period);
    work.best.fit(row);
    work.index.fit(row);
    for j in 0..nodes {
        for (i, to) in work.repeated.chunks_exact_mut(period).take(nodes).enumerate() {
            let from = &work.a[(i * nodes + j) * padded..][..padded];
            to.chunks_exact_mut(padded).for_each(|to| to.copy_from_slice(from));
        }
        isa.run(Maxima {
            nodes,
            period,
            row,
            a: &work.repeated,
            b: &work.b,
            best: &mut work.best,
            index: argmax.is_some().then_some(&mut work.index[..]),
        });
        let to = j * nodes * features..(j + 1) * nodes * features;
        for (to, from) in out[to.clone()].chunks_exact_mut(features).zip(work.best.chunks_exact(padded)) {
            to.copy_from_slice(&from[..features]);
        }
        if let Some(argmax) = &mut argmax {
            for (to, from) in argmax[to].chunks_exact_mut(features).zip(work.index.chunks_exact(padded)) {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below 65536")]
                to.iter_mut().zip(from).for_each(|(to, &index)| *to = index as u16);
            }
        }
    }
}

/// The maxima of all `k` for one `j`.
struct Maxima<'a> {
    nodes: usize,
    /// Length of a row of `a`. The row of `b` is cyclic in it.
    period: usize,
    /// Length of a row of `b`.
    row: usize,
    a: &'a [f32],
    b: &'a [f32],
    best: &'a mut [f32],
    index: Option<&'a mut [f32]>,
}

impl Kernel for Maxima<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        assert!(self.period.is_multiple_of(LANES) && self.a.len() >= self.nodes * self.period);
        assert!(self.nodes > 0 && self.b.len() >= (self.nodes - 1) * self.row + self.row.next_multiple_of(LANES));
        assert!(self.best.len() >= self.row.next_multiple_of(LANES));
        assert!(self.index.as_ref().is_none_or(|index| index.len() >= self.row.next_multiple_of(LANES)));
        let mut at = 0;
        // SAFETY: the asserts bound all accesses to columns that start before `row`.
        unsafe {
            while at + 4 * LANES <= self.row {
                match self.index {
                    Some(_) => columns::<S, 4, true>(s, &mut self, at),
                    None => columns::<S, 4, false>(s, &mut self, at),
                }
                at += 4 * LANES;
            }
            while at < self.row {
                match self.index {
                    Some(_) => columns::<S, 1, true>(s, &mut self, at),
                    None => columns::<S, 1, false>(s, &mut self, at),
                }
                at += LANES;
            }
        }
    }
}

/// # Safety
/// The asserts of [`Maxima::run`] must hold, and `NC` vectors of columns must exist from `at` on.
#[inline(always)]
unsafe fn columns<S: Simd, const NC: usize, const ARGMAX: bool>(s: S, p: &mut Maxima<'_>, at: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut best = [s.splat(0.0); NC];
        let mut index = [s.splat(0.0); NC];
        for i in 0..p.nodes {
            for v in 0..NC {
                let at = at + v * LANES;
                let a = s.load_ptr(p.a.as_ptr().add(i * p.period + at % p.period));
                let x = s.add(a, s.load_ptr(p.b.as_ptr().add(i * p.row + at)));
                if i == 0 {
                    best[v] = x;
                } else {
                    if ARGMAX {
                        index[v] = s.select_gt(x, best[v], s.splat(i as f32), index[v]);
                    }
                    best[v] = s.max(x, best[v]);
                }
            }
        }
        for v in 0..NC {
            s.store_ptr(p.best.as_mut_ptr().add(at + v * LANES), best[v]);
            if let Some(to) = &mut p.index {
                s.store_ptr(to.as_mut_ptr().add(at + v * LANES), index[v]);
            }
        }
    }
}

/// Writes the gradients of `a` and `b` from that of `out` and the `argmax` of [`forward`], all `[N, N, F]`.
///
/// # Panics
/// If lengths do not match, or an index is not below `N`.
pub fn backward((nodes, features): (usize, usize), argmax: &[u16], d_out: &[f32], d_a: &mut [f32], d_b: &mut [f32]) {
    let all = elements([nodes, nodes, features]);
    assert!(argmax.len() == all && d_out.len() == all, "argmax and d_out must be [N, N, F]");
    assert!(d_a.len() == all && d_b.len() == all, "the gradients must be [N, N, F]");
    d_a.fill(0.0);
    d_b.fill(0.0);
    let mut at = 0;
    for j in 0..nodes {
        for k in 0..nodes {
            for f in 0..features {
                let i = usize::from(argmax[at]);
                d_a[(i * nodes + j) * features + f] += d_out[at];
                d_b[(i * nodes + k) * features + f] += d_out[at];
                at += 1;
            }
        }
    }
}
