//! Sixteen `f32` lanes on every instruction set.
//!
//! A kernel is written once, over [`Simd`], and sees vectors of [`LANES`] lanes everywhere: one AVX-512 register, two AVX2
//! registers, or an array that the compiler maps to the baseline registers of the target (SSE2, NEON). A kernel therefore has the
//! same loops, the same tails and the same order of sums on every instruction set, and AVX2 and AVX-512 give the same bits. The
//! portable code rounds a product before adding it on targets without fused multiply-add, and differs there in the last bits.
//!
//! A value of a type that implements [`Simd`] is a token that proves that the processor supports the instruction set: successful
//! detection is the only way to obtain one. That is why arithmetic is safe to call. All methods are `#[inline(always)]`, because
//! they must be inlined into the function that `isa.rs` compiles for the instruction set; elsewhere they are correct, but slow.
//! Closures cannot be marked `#[inline(always)]`: where one contains such a call, check that it was inlined.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use self::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use self::avx512::Avx512;
pub(crate) use self::portable::Portable;

/// Lanes of a vector: a cache line of `f32`.
pub(crate) const LANES: usize = 16;

/// An instruction set that the processor supports.
pub(crate) trait Simd: Copy {
    /// A vector of [`LANES`] elements.
    type V: Copy;
    /// Number of [`Simd::V`] that fit into registers, less a few temporaries. Block sizes are chosen by it.
    const REGISTERS: usize;

    fn splat(self, x: f32) -> Self::V;
    fn load(self, from: &[f32; LANES]) -> Self::V;
    /// Loads fewer than [`LANES`] elements; the other lanes are 0.
    fn load_partial(self, from: &[f32]) -> Self::V;
    fn store(self, to: &mut [f32; LANES], v: Self::V);
    /// Stores the first `to.len()` lanes, fewer than [`LANES`].
    fn store_partial(self, to: &mut [f32], v: Self::V);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn sqrt(self, a: Self::V) -> Self::V;
    /// `a * b + c`
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `if a > b { a } else { b }`: a NaN in `b` is the result, so that `max(0, x)` is a `ReLU` that propagates NaN.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// `if a > b { x } else { y }`
    fn select_gt(self, a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V;
    /// `if a > b { sum + x } else { sum }`
    fn add_if_gt(self, sum: Self::V, a: Self::V, b: Self::V, x: Self::V) -> Self::V;
    /// `x * 2^power`, where the low bits of the representation of `power` hold the integer exponent.
    fn ldexp(self, x: Self::V, power: Self::V) -> Self::V;
    /// Sum of the lanes: halves are added until one element is left, in the same order on every instruction set.
    fn reduce_sum(self, v: Self::V) -> f32;

    /// Sums of the lanes of sixteen vectors, each in the order of [`Simd::reduce_sum`].
    #[inline(always)]
    fn reduce_sums(self, v: [Self::V; LANES]) -> Self::V {
        let mut sums = [0.0; LANES];
        for i in 0..LANES {
            sums[i] = self.reduce_sum(v[i]);
        }
        self.load(&sums)
    }

    /// # Safety
    /// `from` must be valid for reading [`LANES`] elements. It need not be aligned.
    #[inline(always)]
    unsafe fn load_ptr(self, from: *const f32) -> Self::V {
        // SAFETY: an array has the alignment of its elements, and the caller guarantees that they are readable.
        self.load(unsafe { &*from.cast() })
    }

    /// # Safety
    /// `to` must be valid for writing [`LANES`] elements, without aliases.
    #[inline(always)]
    unsafe fn store_ptr(self, to: *mut f32, v: Self::V) {
        // SAFETY: as in `load_ptr`.
        self.store(unsafe { &mut *to.cast() }, v);
    }

    /// # Safety
    /// `from` must be valid for reading `count` elements.
    #[inline(always)]
    unsafe fn load_partial_ptr(self, from: *const f32, count: usize) -> Self::V {
        // SAFETY: as in `load_ptr`.
        self.load_partial(unsafe { std::slice::from_raw_parts(from, count) })
    }

    /// # Safety
    /// `to` must be valid for writing `count` elements, without aliases.
    #[inline(always)]
    unsafe fn store_partial_ptr(self, to: *mut f32, count: usize, v: Self::V) {
        // SAFETY: as in `load_ptr`.
        self.store_partial(unsafe { std::slice::from_raw_parts_mut(to, count) }, v);
    }

    /// Writes the nonzero lanes contiguously to `values`, and `first + step * lane` of each to `offsets`. Returns their number.
    /// NaN is nonzero.
    ///
    /// # Safety
    /// Both pointers must be valid for writing [`LANES`] elements, whatever the lanes hold, without aliases.
    #[inline(always)]
    unsafe fn compress(self, v: Self::V, first: u32, step: u32, values: *mut f32, offsets: *mut u32) -> usize {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes, v);
        let (mut count, mut offset) = (0, first);
        for lane in lanes {
            // SAFETY: `count` never exceeds the number of lanes visited. Uncounted elements are overwritten.
            unsafe {
                *values.add(count) = lane;
                *offsets.add(count) = offset;
            }
            count += usize::from(lane != 0.0);
            offset = offset.wrapping_add(step);
        }
        count
    }

    /// Loads the elements from `at` on; lanes past the end of the row are 0.
    #[inline(always)]
    fn load_at(self, row: &[f32], at: usize) -> Self::V {
        match row[at..].first_chunk() {
            Some(full) => self.load(full),
            None => self.load_partial(&row[at..]),
        }
    }

    /// Stores to the elements from `at` on, up to the end of the row.
    #[inline(always)]
    fn store_at(self, row: &mut [f32], at: usize, v: Self::V) {
        let rest = &mut row[at..];
        match rest.first_chunk_mut() {
            Some(full) => self.store(full, v),
            None => self.store_partial(rest, v),
        }
    }

    /// `e^x` for `x` up to 88, accurate to two units in the last place. NaN stays NaN. The result is 0 below -60: next to a
    /// probability of 1, anything smaller is lost in rounding, and products with it would be denormal, which is a hundred times
    /// slower.
    #[inline(always)]
    fn exp(self, x: Self::V) -> Self::V {
        /// Added to a value below 2^22, this leaves the nearest integer in the low bits.
        const ROUND: f32 = 12_582_912.0;
        /// Coefficients of the polynomial for `(e^r - 1 - r) / r^2`, highest power first, from Cephes' `expf`.
        const COEFFICIENTS: [f32; 6] = [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
        let s = |x| self.splat(x);
        let power = self.fma(x, s(std::f32::consts::LOG2_E), s(ROUND));
        let exponent = self.sub(power, s(ROUND));
        // ln 2 in two terms: the first has so few bits that its product is exact.
        let rest = self.fma(exponent, s(-0.693_359_4), x);
        let rest = self.fma(exponent, s(2.121_944_4e-4), rest);
        let mut sum = s(COEFFICIENTS[0]);
        for &coefficient in &COEFFICIENTS[1..] {
            sum = self.fma(sum, rest, s(coefficient));
        }
        let small = self.add(self.fma(sum, self.mul(rest, rest), rest), s(1.0));
        // `ldexp` works on bits and may turn a NaN into a finite value, so NaN bypasses it.
        let rest = self.select_gt(s(0.0), x, s(0.0), x);
        self.select_gt(x, s(-60.0), self.ldexp(small, power), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, Simd};
    use crate::isa::{Isa, Kernel};

    struct Exp<'a>(&'a mut [f32]);

    impl Kernel for Exp<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, s: S) {
            for at in (0..self.0.len()).step_by(LANES) {
                let x = s.load_at(self.0, at);
                s.store_at(self.0, at, s.exp(x));
            }
        }
    }

    #[test]
    fn exp_is_accurate_to_a_few_units_in_the_last_place() {
        for isa in Isa::available() {
            let x: Vec<f32> = (0..40_001u16).map(|i| f32::from(i) / 280.0 - 59.9).collect();
            let mut y = x.clone();
            isa.run(Exp(&mut y));
            for (x, y) in x.iter().zip(y) {
                let want = f64::from(*x).exp();
                assert!((f64::from(y) - want).abs() <= 3e-7 * want, "{isa}: exp({x}) = {y}, not {want}");
            }
            let odd = f32::from_bits(0xffc0_0155);
            let mut edge = [0.0, -60.5, -1e9, f32::NEG_INFINITY, f32::NAN, odd];
            isa.run(Exp(&mut edge));
            assert_eq!(edge[..4], [1.0, 0.0, 0.0, 0.0], "{isa}");
            assert!(edge[4].is_nan() && edge[5].is_nan(), "{isa}");
        }
    }

    struct Sums<'a>(&'a [[f32; LANES]; LANES]);

    impl Kernel for Sums<'_> {
        type Output = ([f32; LANES], [f32; LANES]);
        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> Self::Output {
            let mut all = [0.0; LANES];
            let registers = self.0.map(|row| s.load(&row));
            s.store(&mut all, s.reduce_sums(registers));
            (all, registers.map(|v| s.reduce_sum(v)))
        }
    }

    #[test]
    fn reduce_sums_has_the_bits_of_reduce_sum() {
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| 1.0 / (3 * i + 7 * j + i * j + 1) as f32));
        let all: Vec<_> = Isa::available().into_iter().map(|isa| isa.run(Sums(&rows))).collect();
        for (many, one) in &all {
            assert_eq!(many, one);
            assert_eq!(many, &all[0].0);
        }
    }

    struct Tails<'a>(&'a [f32], &'a mut [f32]);

    impl Kernel for Tails<'_> {
        type Output = f32;
        #[inline(always)]
        fn run<S: Simd>(self, s: S) -> f32 {
            let v = s.load_at(self.0, 0);
            s.store_at(self.1, 0, v);
            s.reduce_sum(v)
        }
    }

    #[test]
    fn tails_of_every_length_are_loaded_and_stored_exactly() {
        for isa in Isa::available() {
            for count in 0..=LANES {
                let from: Vec<f32> = (1..=count).map(|i| i as f32).collect();
                let mut to = [0.0; LANES + 1];
                let sum = isa.run(Tails(&from, &mut to[..count]));
                assert_eq!(sum, (count * (count + 1) / 2) as f32, "{isa}, {count}");
                assert_eq!(to[..count], from, "{isa}, {count}");
                assert!(to[count..].iter().all(|&x| x == 0.0), "{isa}, {count}");
            }
        }
    }
}
