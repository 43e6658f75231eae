//! AVX-512F: one register of sixteen lanes.

use std::arch::x86_64::{
    __m512, __mmask16, _CMP_GT_OQ, _CMP_NEQ_UQ, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps,
    _mm256_add_ps, _mm256_castpd_ps, _mm256_castps256_ps128, _mm256_extractf128_ps, _mm512_add_epi32, _mm512_add_ps,
    _mm512_castps_pd, _mm512_castps_si512, _mm512_castps512_ps256, _mm512_castsi512_ps, _mm512_cmp_ps_mask, _mm512_div_ps,
    _mm512_extractf64x4_pd, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_add_ps, _mm512_mask_blend_ps, _mm512_mask_storeu_ps,
    _mm512_maskz_compress_epi32, _mm512_maskz_compress_ps, _mm512_maskz_loadu_ps, _mm512_max_ps, _mm512_mul_ps,
    _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_ps, _mm512_shuffle_f32x4,
    _mm512_shuffle_ps, _mm512_slli_epi32, _mm512_sqrt_ps, _mm512_storeu_ps, _mm512_storeu_si512, _mm512_sub_ps,
};

use super::{LANES, Simd};

/// Token that proves AVX-512F support. Only [`Avx512::detect`] creates one.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn detect() -> Option<Avx512> {
        is_x86_feature_detected!("avx512f").then_some(Avx512(()))
    }
}

/// Mask of the first `count` lanes.
fn first_lanes(count: usize) -> __mmask16 {
    debug_assert!(count < LANES);
    (1 << count) - 1
}

// SAFETY of all blocks below: `self` proves that the processor supports the instructions. A reference to an array or a slice is
// valid for all of its elements; masked accesses neither touch nor fault on the others.
#[expect(clippy::undocumented_unsafe_blocks, reason = "documented above for all blocks")]
impl Simd for Avx512 {
    type V = __m512;
    const REGISTERS: usize = 32;

    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> __m512 {
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn load_partial(self, from: &[f32]) -> __m512 {
        unsafe { _mm512_maskz_loadu_ps(first_lanes(from.len()), from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], v: __m512) {
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn store_partial(self, to: &mut [f32], v: __m512) {
        unsafe { _mm512_mask_storeu_ps(to.as_mut_ptr(), first_lanes(to.len()), v) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn select_gt(self, a: __m512, b: __m512, x: __m512, y: __m512) -> __m512 {
        unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), y, x) }
    }
    #[inline(always)]
    fn add_if_gt(self, sum: __m512, a: __m512, b: __m512, x: __m512) -> __m512 {
        unsafe { _mm512_mask_add_ps(sum, _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), sum, x) }
    }
    #[inline(always)]
    fn ldexp(self, x: __m512, power: __m512) -> __m512 {
        unsafe {
            let power = _mm512_slli_epi32::<23>(_mm512_castps_si512(power));
            _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), power))
        }
    }
    #[inline(always)]
    unsafe fn compress(self, v: __m512, first: u32, step: u32, values: *mut f32, offsets: *mut u32) -> usize {
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(v, _mm512_setzero_ps());
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let steps = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step.cast_signed()));
            let all = _mm512_add_epi32(steps, _mm512_set1_epi32(first.cast_signed()));
            // Compress in registers: compressing to memory is slow on some processors.
            _mm512_storeu_ps(values, _mm512_maskz_compress_ps(mask, v));
            _mm512_storeu_si512(offsets.cast(), _mm512_maskz_compress_epi32(mask, all));
            mask.count_ones() as usize
        }
    }
    #[inline(always)]
    fn reduce_sum(self, v: __m512) -> f32 {
        unsafe {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(v)));
            let half = _mm256_add_ps(_mm512_castps512_ps256(v), high);
            let quarter = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half));
            let pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
            _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)))
        }
    }
    #[inline(always)]
    fn reduce_sums(self, v: [__m512; LANES]) -> __m512 {
        // Fold two vectors into one whose halves belong to them, then four into one, and so on. The last two steps interleave
        // every fourth vector; taking the inputs in that order undoes it. (No closures: they would not be inlined.)
        unsafe {
            let mut two = [v[0]; 8];
            for i in 0..8 {
                let (a, b) = (v[2 * i % 4 * 4 + i / 2], v[(2 * i + 1) % 4 * 4 + i / 2]);
                let (low, high) = (_mm512_shuffle_f32x4::<0b0100_0100>(a, b), _mm512_shuffle_f32x4::<0b1110_1110>(a, b));
                two[i] = _mm512_add_ps(low, high);
            }
            let mut four = [v[0]; 4];
            for i in 0..4 {
                let (a, b) = (two[2 * i], two[2 * i + 1]);
                let (low, high) = (_mm512_shuffle_f32x4::<0b1000_1000>(a, b), _mm512_shuffle_f32x4::<0b1101_1101>(a, b));
                four[i] = _mm512_add_ps(low, high);
            }
            let mut eight = [v[0]; 2];
            for i in 0..2 {
                let (a, b) = (four[2 * i], four[2 * i + 1]);
                let (low, high) = (_mm512_shuffle_ps::<0b0100_0100>(a, b), _mm512_shuffle_ps::<0b1110_1110>(a, b));
                eight[i] = _mm512_add_ps(low, high);
            }
            let [a, b] = eight;
            _mm512_add_ps(_mm512_shuffle_ps::<0b1000_1000>(a, b), _mm512_shuffle_ps::<0b1101_1101>(a, b))
        }
    }
}
