//! Portable code. Arrays of four lanes, which the compiler maps to registers on every 64-bit target.

use std::array::from_fn;

use super::{LANES, Simd};

/// Available everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

type Four = [f32; 4];

#[inline(always)]
fn map(f: impl Fn(usize, usize) -> f32) -> [Four; 4] {
    from_fn(|i| from_fn(|j| f(i, j)))
}

impl Simd for Portable {
    type V = [Four; 4];
    const REGISTERS: usize = if cfg!(target_arch = "x86_64") { 4 } else { 8 };

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        [[x; 4]; 4]
    }
    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> Self::V {
        map(|i, j| from[4 * i + j])
    }
    #[inline(always)]
    fn load_partial(self, from: &[f32]) -> Self::V {
        let mut full = [0.0; LANES];
        full[..from.len()].copy_from_slice(from);
        self.load(&full)
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES], v: Self::V) {
        to.copy_from_slice(v.as_flattened());
    }
    #[inline(always)]
    fn store_partial(self, to: &mut [f32], v: Self::V) {
        to.copy_from_slice(&v.as_flattened()[..to.len()]);
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        map(|i, j| a[i][j] + b[i][j])
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        map(|i, j| a[i][j] - b[i][j])
    }
    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        map(|i, j| a[i][j] * b[i][j])
    }
    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        map(|i, j| a[i][j] / b[i][j])
    }
    #[inline(always)]
    fn sqrt(self, a: Self::V) -> Self::V {
        map(|i, j| a[i][j].sqrt())
    }
    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // Without an FMA instruction, `mul_add` is a slow library call.
        let fused = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
        map(|i, j| if fused { a[i][j].mul_add(b[i][j], c[i][j]) } else { a[i][j] * b[i][j] + c[i][j] })
    }
    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        self.select_gt(a, b, a, b)
    }
    #[inline(always)]
    fn select_gt(self, a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V {
        map(|i, j| if a[i][j] > b[i][j] { x[i][j] } else { y[i][j] })
    }
    #[inline(always)]
    fn add_if_gt(self, sum: Self::V, a: Self::V, b: Self::V, x: Self::V) -> Self::V {
        map(|i, j| sum[i][j] + if a[i][j] > b[i][j] { x[i][j] } else { 0.0 })
    }
    #[inline(always)]
    fn ldexp(self, x: Self::V, power: Self::V) -> Self::V {
        map(|i, j| f32::from_bits(x[i][j].to_bits().wrapping_add(power[i][j].to_bits() << 23)))
    }
    #[inline(always)]
    fn reduce_sum(self, v: Self::V) -> f32 {
        let half: [Four; 2] = from_fn(|i| from_fn(|j| v[i][j] + v[i + 2][j]));
        let four: Four = from_fn(|j| half[0][j] + half[1][j]);
        (four[0] + four[2]) + (four[1] + four[3])
    }
}
