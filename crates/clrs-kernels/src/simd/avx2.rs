//! AVX2 with fused multiply-add: two registers of eight lanes.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_GT_OQ, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm256_add_epi32,
    _mm256_add_ps, _mm256_and_ps, _mm256_blendv_ps, _mm256_castps_si256, _mm256_castps256_ps128, _mm256_castsi256_ps,
    _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_maskload_ps, _mm256_maskstore_ps, _mm256_max_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_slli_epi32, _mm256_sqrt_ps,
    _mm256_storeu_ps, _mm256_sub_ps,
};

use super::{LANES, Simd};

/// Token that proves AVX2 and FMA support. Only [`Avx2::detect`] creates one.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }

    /// Masks of the two halves that select the first `count` lanes.
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "the token proves that the instructions are supported")]
    fn first_lanes(self, count: usize) -> [__m256i; 2] {
        /// Sixteen selected lanes, then sixteen unselected ones.
        static TABLE: [i32; 2 * LANES] = {
            let mut table = [0; 2 * LANES];
            let mut i = 0;
            while i < LANES {
                table[i] = -1;
                i += 1;
            }
            table
        };
        let from = &TABLE[LANES - count..][..LANES];
        // SAFETY: the slice holds two times eight lanes; `self` proves that the instructions are supported.
        unsafe { [_mm256_loadu_si256(from.as_ptr().cast()), _mm256_loadu_si256(from.as_ptr().add(8).cast())] }
    }
}

// SAFETY of all blocks below: `self` proves that the processor supports the instructions. A reference to an array or a slice is
// valid for all of its elements; masked accesses neither touch nor fault on the others, and pointers past the end of a slice are
// computed with `wrapping_add` and dereferenced under such a mask only.
#[expect(clippy::undocumented_unsafe_blocks, reason = "documented above for all blocks")]
impl Simd for Avx2 {
    type V = [__m256; 2];
    const REGISTERS: usize = 8;

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        unsafe { [_mm256_set1_ps(x); 2] }
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        unsafe { [_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))] }
    }
    #[inline(always)]
    fn load_partial(self, from: &[f32]) -> Self::V {
        let [low, high] = self.first_lanes(from.len());
        unsafe { [_mm256_maskload_ps(from.as_ptr(), low), _mm256_maskload_ps(from.as_ptr().wrapping_add(8), high)] }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], v: Self::V) {
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), v[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), v[1]);
        }
    }
    #[inline(always)]
    fn store_partial(self, to: &mut [f32], v: Self::V) {
        let [low, high] = self.first_lanes(to.len());
        unsafe {
            _mm256_maskstore_ps(to.as_mut_ptr(), low, v[0]);
            _mm256_maskstore_ps(to.as_mut_ptr().wrapping_add(8), high, v[1]);
        }
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        unsafe { [_mm256_sub_ps(a[0], b[0]), _mm256_sub_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        unsafe { [_mm256_div_ps(a[0], b[0]), _mm256_div_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn sqrt(self, a: Self::V) -> Self::V {
        unsafe { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
    }
    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        unsafe { [_mm256_max_ps(a[0], b[0]), _mm256_max_ps(a[1], b[1])] }
    }
    #[inline(always)]
    fn select_gt(self, a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V {
        unsafe {
            let low = _mm256_blendv_ps(y[0], x[0], _mm256_cmp_ps::<_CMP_GT_OQ>(a[0], b[0]));
            let high = _mm256_blendv_ps(y[1], x[1], _mm256_cmp_ps::<_CMP_GT_OQ>(a[1], b[1]));
            [low, high]
        }
    }
    #[inline(always)]
    fn add_if_gt(self, sum: Self::V, a: Self::V, b: Self::V, x: Self::V) -> Self::V {
        unsafe {
            let low = _mm256_and_ps(x[0], _mm256_cmp_ps::<_CMP_GT_OQ>(a[0], b[0]));
            let high = _mm256_and_ps(x[1], _mm256_cmp_ps::<_CMP_GT_OQ>(a[1], b[1]));
            [_mm256_add_ps(sum[0], low), _mm256_add_ps(sum[1], high)]
        }
    }
    #[inline(always)]
    fn ldexp(self, x: Self::V, power: Self::V) -> Self::V {
        unsafe {
            let low = _mm256_slli_epi32::<23>(_mm256_castps_si256(power[0]));
            let high = _mm256_slli_epi32::<23>(_mm256_castps_si256(power[1]));
            let low = _mm256_add_epi32(_mm256_castps_si256(x[0]), low);
            let high = _mm256_add_epi32(_mm256_castps_si256(x[1]), high);
            [_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)]
        }
    }
    #[inline(always)]
    fn reduce_sum(self, v: Self::V) -> f32 {
        unsafe {
            let half = _mm256_add_ps(v[0], v[1]);
            let quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half));
            let pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
            _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
        }
    }
}
