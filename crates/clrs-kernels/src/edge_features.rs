//! Backward of a product with the few features of an edge: `y = x W`, for `x` `[C]` and `W` `[C, H]`.
//!
//! As matrix products these are badly shaped, since `C` is 1 to 10. Instead, four rows at a time are added to the gradient of `W`
//! and multiplied with `W` for the gradients of their features, while they are in the first-level cache.

use crate::isa::Kernel;
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// `d_w += rawᵀ d`, and optionally `d_raw = d wᵀ`, for rows whose features are at arbitrary offsets.
pub(crate) struct EdgeFeaturesBackward<'a> {
    /// Offset of the features of each row in `raw` and `d_raw`.
    pub(crate) offsets: &'a [usize],
    pub(crate) channels: usize,
    pub(crate) raw: &'a [f32],
    pub(crate) d_raw: Option<&'a mut [f32]>,
    /// Number of columns with padding.
    pub(crate) width: usize,
    /// `[channels, width]`, and its gradient.
    pub(crate) w: &'a [f32],
    pub(crate) d_w: &'a mut [f32],
    /// Row stride of `w`, `d_w` and `d`.
    pub(crate) stride: usize,
}

impl EdgeFeaturesBackward<'_> {
    /// Asserts that all slices are long enough.
    #[inline(always)]
    pub(crate) fn check(&self) {
        let last = self.offsets.iter().copied().max().unwrap_or(0);
        assert!(self.width.is_multiple_of(LANES) && last + self.channels <= self.raw.len());
        assert!(self.d_raw.as_ref().is_none_or(|d_raw| last + self.channels <= d_raw.len()));
        assert!(has_rows(self.w, self.channels, self.stride, self.width));
        assert!(has_rows(self.d_w, self.channels, self.stride, self.width));
    }

    /// Processes `R` rows, 1 or 4, whose gradients start at `d`.
    ///
    /// # Safety
    /// [`EdgeFeaturesBackward::check`] must hold; `R` offsets from `row` on, and `R` rows at `d`, must exist.
    #[inline(always)]
    pub(crate) unsafe fn rows<S: Simd, const R: usize>(&mut self, s: S, row: usize, d: *const f32) {
        let mut first = 0;
        // SAFETY: guaranteed by the caller; the loop bounds the channels.
        unsafe {
            while first < self.channels {
                match self.channels - first {
                    1 => self.channel_block::<S, R, 1>(s, row, d, first),
                    2 => self.channel_block::<S, R, 2>(s, row, d, first),
                    3 => self.channel_block::<S, R, 3>(s, row, d, first),
                    _ => self.channel_block::<S, R, 4>(s, row, d, first),
                }
                first += 4;
            }
        }
    }

    /// # Safety
    /// As [`EdgeFeaturesBackward::rows`], with `C` channels from `first` on.
    #[inline(always)]
    unsafe fn channel_block<S: Simd, const R: usize, const C: usize>(&mut self, s: S, row: usize, d: *const f32, first: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.d_raw {
                Some(_) => self.block::<S, R, C, true>(s, row, d, first),
                None => self.block::<S, R, C, false>(s, row, d, first),
            }
        }
    }

    /// # Safety
    /// As [`EdgeFeaturesBackward::channel_block`].
    #[inline(always)]
    unsafe fn block<S: Simd, const R: usize, const C: usize, const RAW: bool>(
        &mut self,
        s: S,
        row: usize,
        d: *const f32,
        first: usize,
    ) {
        let mut raw = [self.raw.as_ptr(); R];
        for r in 0..R {
            raw[r] = raw[r].wrapping_add(self.offsets[row + r] + first);
        }
        let mut sums = [[s.splat(0.0); C]; R];
        // Copied before the loop: through a reference they would be loaded again after each store.
        let (stride, w, d_w) = (self.stride, self.w.as_ptr(), self.d_w.as_mut_ptr());
        // SAFETY: guaranteed by the caller.
        unsafe {
            for j in (0..self.width).step_by(LANES) {
                let mut rows = [s.splat(0.0); R];
                for r in 0..R {
                    rows[r] = s.load_ptr(d.add(r * stride + j));
                }
                for c in 0..C {
                    let at = (first + c) * stride + j;
                    let mut sum = s.load_ptr(d_w.add(at));
                    for r in 0..R {
                        sum = s.fma(s.splat(*raw[r].add(c)), rows[r], sum);
                    }
                    s.store_ptr(d_w.add(at), sum);
                    if RAW {
                        let w = s.load_ptr(w.add(at));
                        for r in 0..R {
                            sums[r][c] = s.fma(rows[r], w, sums[r][c]);
                        }
                    }
                }
            }
        }
        if let Some(d_raw) = self.d_raw.as_mut().filter(|_| RAW) {
            if R == 1 {
                for c in 0..C {
                    d_raw[self.offsets[row] + first + c] = s.reduce_sum(sums[0][c]);
                }
            } else {
                let mut registers = [s.splat(0.0); LANES];
                for r in 0..R {
                    for c in 0..C {
                        registers[4 * r + c] = sums[r][c];
                    }
                }
                let mut all = [0.0; LANES];
                s.store(&mut all, s.reduce_sums(registers));
                for r in 0..R {
                    d_raw[self.offsets[row + r] + first..][..C].copy_from_slice(&all[4 * r..][..C]);
                }
            }
        }
    }
}

/// [`EdgeFeaturesBackward`] of all rows of a matrix.
pub(crate) struct EdgeFeaturesRows<'a> {
    pub(crate) back: EdgeFeaturesBackward<'a>,
    pub(crate) d: &'a [f32],
}

impl Kernel for EdgeFeaturesRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let rows = self.back.offsets.len();
        self.back.check();
        assert!(has_rows(self.d, rows, self.back.stride, self.back.width));
        let mut row = 0;
        // SAFETY: the asserts bound all accesses.
        unsafe {
            while row + 4 <= rows {
                self.back.rows::<S, 4>(s, row, self.d.as_ptr().add(row * self.back.stride));
                row += 4;
            }
            while row < rows {
                self.back.rows::<S, 1>(s, row, self.d.as_ptr().add(row * self.back.stride));
                row += 1;
            }
        }
    }
}
