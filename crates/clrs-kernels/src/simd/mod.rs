//! Sixteen `f32` lanes, on whatever the machine has.
//!
//! A kernel is written once, over [`Simd`], and sees registers of [`LANES`] lanes everywhere: one AVX-512 register, two of
//! AVX2, or an array that the compiler turns into what the target always has (SSE2, NEON). So a kernel has the same loops, the
//! same tails and the same order of sums on every instruction set, and AVX2 and AVX-512 give the same bits. The portable code
//! rounds a product before it is added where the target has no fused instruction, and differs there in the last bits.
//!
//! A value of a type that implements [`Simd`] is a proof that the processor has the instruction set: the only way to get one
//! is a detection that succeeded. That is why arithmetic is safe to call. All functions are `#[inline(always)]`: they have to
//! end up inside the function that `isa.rs` compiles for the instruction set, and are slow, though not wrong, elsewhere. A closure
//! cannot be marked so: where one holds such a call, look whether it was inlined.

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

/// Lanes of a register: a cache line of `f32`.
pub(crate) const LANES: usize = 16;

/// An instruction set that is there.
pub(crate) trait Simd: Copy {
    /// [`LANES`] numbers.
    type V: Copy;
    /// How many [`Simd::V`] can be held at once beside a few others: what blocks of loops are chosen by.
    const REGISTERS: usize;

    fn splat(self, x: f32) -> Self::V;
    fn load(self, from: &[f32; LANES]) -> Self::V;
    /// Less than [`LANES`] numbers, then zeros.
    fn load_partial(self, from: &[f32]) -> Self::V;
    fn store(self, to: &mut [f32; LANES], v: Self::V);
    /// The first lanes only, as many as there is room for; less than [`LANES`].
    fn store_partial(self, to: &mut [f32], v: Self::V);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn sqrt(self, a: Self::V) -> Self::V;
    /// `a * b + c`
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `if a > b { a } else { b }`: a NaN in `b` survives, so that a rectifier is `max(0, x)`.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// `if a > b { x } else { y }`
    fn select_gt(self, a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V;
    /// `if a > b { sum + x } else { sum }`
    fn add_if_gt(self, sum: Self::V, a: Self::V, b: Self::V, x: Self::V) -> Self::V;
    /// `x` times 2 to the power that stands in the low bits of `power`'s representation.
    fn ldexp(self, x: Self::V, power: Self::V) -> Self::V;
    /// The halves of a register added, until one number is left: the same order everywhere.
    fn reduce_sum(self, v: Self::V) -> f32;

    /// The sums of sixteen registers, each in the order of [`Simd::reduce_sum`].
    #[inline(always)]
    fn reduce_sums(self, v: [Self::V; LANES]) -> Self::V {
        let mut sums = [0.0; LANES];
        for i in 0..LANES {
            sums[i] = self.reduce_sum(v[i]);
        }
        self.load(&sums)
    }

    /// # Safety
    /// `from` must be valid for reading [`LANES`] numbers; it need not be aligned.
    #[inline(always)]
    unsafe fn load_ptr(self, from: *const f32) -> Self::V {
        // SAFETY: an array of numbers is aligned as they are, and the caller says that they are there.
        self.load(unsafe { &*from.cast() })
    }

    /// # Safety
    /// `to` must be valid for writing [`LANES`] numbers, and nothing else may refer to them.
    #[inline(always)]
    unsafe fn store_ptr(self, to: *mut f32, v: Self::V) {
        // SAFETY: as in `read`.
        self.store(unsafe { &mut *to.cast() }, v);
    }

    /// # Safety
    /// `from` must be valid for reading `count` numbers.
    #[inline(always)]
    unsafe fn load_partial_ptr(self, from: *const f32, count: usize) -> Self::V {
        // SAFETY: as in `read`.
        self.load_partial(unsafe { std::slice::from_raw_parts(from, count) })
    }

    /// # Safety
    /// `to` must be valid for writing `count` numbers, and nothing else may refer to them.
    #[inline(always)]
    unsafe fn store_partial_ptr(self, to: *mut f32, count: usize, v: Self::V) {
        // SAFETY: as in `read`.
        self.store_partial(unsafe { std::slice::from_raw_parts_mut(to, count) }, v);
    }

    /// Writes the lanes that are not 0 one after the other, and `first + step * lane` of each; says how many there were. NaN is not 0.
    ///
    /// # Safety
    /// Both must be valid for writing [`LANES`] numbers, whatever is found, and nothing else may refer to them.
    #[inline(always)]
    unsafe fn compress(self, v: Self::V, first: u32, step: u32, values: *mut f32, offsets: *mut u32) -> usize {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes, v);
        let (mut count, mut offset) = (0, first);
        for lane in lanes {
            // SAFETY: no more were counted than lanes were gone through. What is written and not counted is written over.
            unsafe {
                *values.add(count) = lane;
                *offsets.add(count) = offset;
            }
            count += usize::from(lane != 0.0);
            offset = offset.wrapping_add(step);
        }
        count
    }

    /// The lanes from `at` on, zeros after the end of the row.
    #[inline(always)]
    fn load_at(self, row: &[f32], at: usize) -> Self::V {
        match row[at..].first_chunk() {
            Some(full) => self.load(full),
            None => self.load_partial(&row[at..]),
        }
    }

    /// The lanes from `at` on, as far as the row goes.
    #[inline(always)]
    fn store_at(self, row: &mut [f32], at: usize, v: Self::V) {
        let rest = &mut row[at..];
        match rest.first_chunk_mut() {
            Some(full) => self.store(full, v),
            None => self.store_partial(rest, v),
        }
    }

    /// `e` to the power of `x`, for `x` up to 88; 0 below -60: next to a chance of 1, a smaller one is lost in rounding, and products
    /// with it would be denormal, which takes processors a hundred times longer. Right to two units in the last place; NaN stays.
    #[inline(always)]
    fn exp(self, x: Self::V) -> Self::V {
        /// Added to a number below 2^22, this leaves the nearest whole number in the low bits.
        const WHOLE: f32 = 12_582_912.0;
        /// The coefficients of the shortest polynomial for `2^f - 1 - ..` in natural powers: Cephes' `expf`.
        const SERIES: [f32; 6] = [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
        let s = |x| self.splat(x);
        let power = self.fma(x, s(std::f32::consts::LOG2_E), s(WHOLE));
        let whole = self.sub(power, s(WHOLE));
        // ln 2 in two parts: the first has so few bits that the product is exact.
        let rest = self.fma(whole, s(-0.693_359_4), x);
        let rest = self.fma(whole, s(2.121_944_4e-4), rest);
        let mut sum = s(SERIES[0]);
        for &coefficient in &SERIES[1..] {
            sum = self.fma(sum, rest, s(coefficient));
        }
        let small = self.add(self.fma(sum, self.mul(rest, rest), rest), s(1.0));
        // Scaling works on bits and may make a number of a NaN: that one is passed by.
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
    fn exp_is_right_to_a_few_units_in_the_last_place() {
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
    fn sums_of_many_registers_have_the_bits_of_those_of_one() {
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
    fn every_tail_is_read_and_written_and_no_more() {
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
