//! What the machine's multiply-add units do with nothing in the way: the limit that rates of kernels are shares of.

use std::hint::black_box;

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Multiplies and adds in registers. Returns how many floating-point operations that were.
pub fn multiply_add(isa: Isa, rounds: u32) -> f64 {
    isa.run(Rounds(rounds))
}

struct Rounds(u32);

impl Kernel for Rounds {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f64 {
        match S::REGISTERS {
            32.. => rounds::<S, 16>(s, self.0),
            8.. => rounds::<S, 6>(s, self.0),
            _ => rounds::<S, 4>(s, self.0),
        }
    }
}

/// `CHAINS` sums that do not wait for one another.
#[inline(always)]
fn rounds<S: Simd, const CHAINS: usize>(s: S, count: u32) -> f64 {
    let (a, b) = (s.splat(black_box(0.999)), s.splat(black_box(0.001)));
    // Different starts: the compiler would see through equal ones.
    let mut sums: [S::V; CHAINS] = std::array::from_fn(|i| s.splat(black_box(i as f32)));
    for _ in 0..count {
        for sum in &mut sums {
            *sum = s.fma(*sum, a, b);
        }
    }
    for sum in sums {
        black_box(s.sum(sum));
    }
    f64::from(count) * (2 * CHAINS * LANES) as f64
}
