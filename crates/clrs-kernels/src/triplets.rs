//! The largest over the first node of a triplet: `out[j, k, f] = max over i of a[i, j, f] + b[i, k, f]`.
//!
//! Ordinary operations store all `n * n * n * f` sums. Here a row of `a` meets rows of `b` in registers, and only the largest and
//! its index stay. Rows of `b` for all `k` are one long row; the few features of `a[i, j]` are repeated to fill a register, so
//! that no lane is idle. For that their number is rounded up to 1, 2, 4, 8 or a multiple of 16.
//!
//! Of equal sums the first takes the gradient. A NaN counts only where it is the first.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Buffer, elements};
use crate::simd::{LANES, Simd};

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    a: Buffer,
    b: Buffer,
    repeated: Buffer,
    best: Buffer,
    index: Buffer,
}

/// How many numbers the features of a pair take while kernels work on them.
fn room(features: usize) -> usize {
    if features >= LANES { features.next_multiple_of(LANES) } else { features.next_power_of_two() }
}

/// Rows of features, each with the room that it takes.
fn spread(dense: &[f32], features: usize, to: &mut Buffer) {
    let room = room(features);
    let rows = dense.len() / features;
    // Registers may reach behind the end.
    to.fit(rows * room + LANES);
    for (from, to) in dense.chunks_exact(features).zip(to.chunks_exact_mut(room)) {
        to[..features].copy_from_slice(from);
        to[features..].fill(0.0);
    }
    to[rows * room..][..LANES].fill(0.0);
}

/// Writes `out`, `[n, n, features]`, from `a` and `b`, `[n, n, features]`; to `argmax`, if asked for, which `i` it was.
///
/// # Panics
/// If lengths do not match, or if there are more than 65535 nodes.
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
    assert!(a.len() == all && b.len() == all && out.len() == all, "all are [n, n, features]");
    assert!(argmax.as_ref().is_none_or(|argmax| argmax.len() == all), "all are [n, n, features]");
    assert!(u16::try_from(nodes).is_ok(), "at most 65535 nodes");
    if all == 0 {
        return;
    }
    let work = &mut scratch.triplets;
    let room = room(features);
    spread(a, features, &mut work.a);
    spread(b, features, &mut work.b);
    let (period, row) = (room.max(LANES), nodes * room);
    work.repeated.fit(nodes * period);
    work.best.fit(row);
    work.index.fit(row);
    for j in 0..nodes {
        for (i, to) in work.repeated.chunks_exact_mut(period).take(nodes).enumerate() {
            let from = &work.a[(i * nodes + j) * room..][..room];
            to.chunks_exact_mut(room).for_each(|to| to.copy_from_slice(from));
        }
        isa.run(Maxima {
            nodes,
            period,
            row,
            a: &work.repeated,
            b: &work.b,
            best: &mut work.best,
            index: argmax.is_some().then_some(&mut work.index),
        });
        let to = j * nodes * features..(j + 1) * nodes * features;
        for (to, from) in out[to.clone()].chunks_exact_mut(features).zip(work.best.chunks_exact(room)) {
            to.copy_from_slice(&from[..features]);
        }
        if let Some(argmax) = &mut argmax {
            for (to, from) in argmax[to].chunks_exact_mut(features).zip(work.index.chunks_exact(room)) {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a index, below 65536")]
                to.iter_mut().zip(from).for_each(|(to, &index)| *to = index as u16);
            }
        }
    }
}

/// All `k` for one `j`.
struct Maxima<'a> {
    nodes: usize,
    /// Length of a row of `a`, of which the row of `b` is a multiple.
    period: usize,
    /// Length of a row of `b`.
    row: usize,
    a: &'a [f32],
    b: &'a [f32],
    best: &'a mut [f32],
    index: Option<&'a mut Buffer>,
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
        // SAFETY: the asserts bound all accesses to columns that begin before `row`.
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
/// What [`Maxima::run`] asserts has to hold, and `NC` registers of columns have to be there from `at` on.
#[inline(always)]
unsafe fn columns<S: Simd, const NC: usize, const ARGMAX: bool>(s: S, p: &mut Maxima<'_>, at: usize) {
    // SAFETY: as the caller says.
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

/// Writes the gradients of `a` and `b` from that of the result.
///
/// # Panics
/// If lengths do not match, or a winner is no node.
pub fn backward((nodes, features): (usize, usize), argmax: &[u16], d_out: &[f32], d_a: &mut [f32], d_b: &mut [f32]) {
    let all = elements([nodes, nodes, features]);
    assert!(argmax.len() == all && d_out.len() == all, "all are [n, n, features]");
    assert!(d_a.len() == all && d_b.len() == all, "all are [n, n, features]");
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
