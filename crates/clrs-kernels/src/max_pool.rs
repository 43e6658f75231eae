//! Maximum over the nodes of one sample: `out[k] = max over i of x[i, k]`.
//!
//! # Ties and NaN
//! The first of equal elements takes the gradient. A NaN counts only in the first row, where it stays the maximum.
//!
//! # Bits
//! Nothing is rounded: the same on every instruction set.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Writes `out`, `[D]`, from `x`, `[N, D]`, and to `argmax`, if given, the row of each maximum, `[D]`.
///
/// # Panics
/// If lengths do not match, if there are no rows, or if there are more than 2^24 rows.
///
/// # Examples
/// ```
/// use clrs_kernels::{Isa, max_pool};
///
/// let (mut out, mut argmax) = ([0.0; 2], [0; 2]);
/// max_pool::forward(Isa::best(), &[1.0, 5.0, 3.0, 4.0, 3.0, 0.0], &mut out, Some(&mut argmax));
/// assert_eq!((out, argmax), ([3.0, 5.0], [1, 0]));
/// ```
pub fn forward(isa: Isa, x: &[f32], out: &mut [f32], argmax: Option<&mut [u32]>) {
    let dim = out.len();
    if dim == 0 {
        assert!(x.is_empty() && argmax.is_none_or(|argmax| argmax.is_empty()), "x must be [N, D], argmax [D]");
        return;
    }
    assert!(x.len() >= dim && x.len().is_multiple_of(dim), "x must be [N, D] with at least one row");
    assert!(argmax.as_ref().is_none_or(|argmax| argmax.len() == dim), "argmax must be [D]");
    // Row indices are held in `f32` lanes, which represent integers up to 2^24 exactly.
    assert!(x.len() / dim <= 1 << 24, "at most 2^24 rows");
    isa.run(Forward { x, out, argmax });
}

struct Forward<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
    argmax: Option<&'a mut [u32]>,
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let dim = self.out.len();
        for at in (0..dim).step_by(LANES) {
            let mut best = s.load_at(&self.x[..dim], at);
            if let Some(argmax) = &mut self.argmax {
                let mut index = s.splat(0.0);
                for (row, x) in self.x.chunks_exact(dim).enumerate().skip(1) {
                    let x = s.load_at(x, at);
                    index = s.select_gt(x, best, s.splat(row as f32), index);
                    best = s.max(x, best);
                }
                let mut lanes = [0.0; LANES];
                s.store(&mut lanes, index);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers of at most 2^24")]
                argmax[at..].iter_mut().zip(lanes).for_each(|(to, index)| *to = index as u32);
            } else {
                for x in self.x.chunks_exact(dim).skip(1) {
                    best = s.max(s.load_at(x, at), best);
                }
            }
            s.store_at(self.out, at, best);
        }
    }
}

/// Writes the gradient of `x`, `[N, D]`, from that of `out`, `[D]`, and the `argmax` of [`forward`].
///
/// # Panics
/// If lengths do not match, or an index is not below `N`.
pub fn backward(argmax: &[u32], d_out: &[f32], d_x: &mut [f32]) {
    let dim = d_out.len();
    assert!(argmax.len() == dim && d_x.len().is_multiple_of(dim.max(1)), "argmax must be [D], d_x [N, D]");
    d_x.fill(0.0);
    for (k, (&row, &d)) in argmax.iter().zip(d_out).enumerate() {
        d_x[row as usize * dim + k] = d;
    }
}
