//! Backward of a sum over the few raw channels of an edge: of `y = raw w`, for `raw` `[c]` and `w` `[c, width]`.
//!
//! As products of matrices these are badly shaped, `c` being 1 to 10. So four rows at a time, while they are in the first-level
//! cache, are added to the gradient of `w`, and multiplied with `w` for the gradients of their channels.

use crate::isa::Kernel;
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// `d_w += rawᵀ d`, and if asked for `d_raw = d wᵀ`, for rows whose channels lie anywhere.
pub(crate) struct EdgeFeaturesBackward<'a> {
    /// Where the channels of each row begin, in `raw` and `d_raw`.
    pub(crate) offsets: &'a [usize],
    pub(crate) channels: usize,
    pub(crate) raw: &'a [f32],
    pub(crate) d_raw: Option<&'a mut [f32]>,
    /// Columns, with their padding.
    pub(crate) width: usize,
    /// `[c, width]`, and its gradient.
    pub(crate) w: &'a [f32],
    pub(crate) d_w: &'a mut [f32],
    /// From row to row of these and of `d`.
    pub(crate) stride: usize,
}

impl EdgeFeaturesBackward<'_> {
    /// Asserts that all is there.
    #[inline(always)]
    pub(crate) fn check(&self) {
        let last = self.offsets.iter().copied().max().unwrap_or(0);
        assert!(self.width.is_multiple_of(LANES) && last + self.channels <= self.raw.len());
        assert!(self.d_raw.as_ref().is_none_or(|d_raw| last + self.channels <= d_raw.len()));
        assert!(has_rows(self.w, self.channels, self.stride, self.width));
        assert!(has_rows(self.d_w, self.channels, self.stride, self.width));
    }

    /// `R` rows: 1 or 4. Their gradients begin at `d`.
    ///
    /// # Safety
    /// [`EdgeFeaturesBackward::check`] has to hold; so many offsets, and rows at `d`, have to be there.
    #[inline(always)]
    pub(crate) unsafe fn rows<S: Simd, const R: usize>(&mut self, s: S, row: usize, d: *const f32) {
        let mut first = 0;
        // SAFETY: as the caller says; channels are counted here.
        unsafe {
            while first < self.channels {
                match self.channels - first {
                    1 => self.some::<S, R, 1>(s, row, d, first),
                    2 => self.some::<S, R, 2>(s, row, d, first),
                    3 => self.some::<S, R, 3>(s, row, d, first),
                    _ => self.some::<S, R, 4>(s, row, d, first),
                }
                first += 4;
            }
        }
    }

    /// # Safety
    /// As [`EdgeFeaturesBackward::rows`], with `C` channels from `first` on.
    #[inline(always)]
    unsafe fn some<S: Simd, const R: usize, const C: usize>(&mut self, s: S, row: usize, d: *const f32, first: usize) {
        // SAFETY: as the caller says.
        unsafe {
            match self.d_raw {
                Some(_) => self.block::<S, R, C, true>(s, row, d, first),
                None => self.block::<S, R, C, false>(s, row, d, first),
            }
        }
    }

    /// # Safety
    /// As [`EdgeFeaturesBackward::some`].
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
        // Taken before the loop: behind a reference they would be read again after each store.
        let (stride, w, d_w) = (self.stride, self.w.as_ptr(), self.d_w.as_mut_ptr());
        // SAFETY: as the caller says.
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

/// All rows of a matrix.
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
