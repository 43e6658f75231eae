//! Peak rate of the multiply-add units, which the benchmarks report kernel rates as a fraction of.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Runs chains of multiply-adds in registers. Returns the number of floating-point operations.
pub fn run_fma_chains(isa: Isa, rounds: u32) -> f64 {
    isa.run(FmaChains(rounds))
}

/// Returns the floating-point operations per second of all threads together.
///
/// The threads are started and warmed up before the measurement, and begin it together, so that thread startup and a low clock
/// rate do not count. The best of several short measurements is returned, since the machine may be shared.
///
/// # Panics
/// If a thread cannot be started.
pub fn flops_per_second(isa: Isa, threads: usize) -> f64 {
    /// About five milliseconds per measurement.
    const ROUNDS: u32 = 1 << 20;
    const WARM_UP: usize = 5;
    const MEASURED: usize = 20;
    let threads = threads.max(1);
    let barrier = Barrier::new(threads);
    let work = || -> Vec<f64> {
        let measure = |_| {
            barrier.wait();
            let start = Instant::now();
            let operations = run_fma_chains(isa, ROUNDS);
            barrier.wait();
            operations * threads as f64 / start.elapsed().as_secs_f64()
        };
        (0..WARM_UP + MEASURED).map(measure).skip(WARM_UP).collect()
    };
    let rates: Vec<Vec<f64>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("the measurement does not panic")).collect()
    });
    // A thread that was woken late measures a shorter time, so the longest time of a round is the right one.
    let slowest = |round: usize| rates.iter().map(|of| of[round]).fold(f64::MAX, f64::min);
    (0..MEASURED).map(slowest).fold(0.0, f64::max)
}

struct FmaChains(u32);

impl Kernel for FmaChains {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> f64 {
        match S::REGISTERS {
            32.. => fma_chains::<S, 16>(s, self.0),
            8.. => fma_chains::<S, 6>(s, self.0),
            _ => fma_chains::<S, 4>(s, self.0),
        }
    }
}

/// Runs `CHAINS` independent chains.
#[inline(always)]
fn fma_chains<S: Simd, const CHAINS: usize>(s: S, count: u32) -> f64 {
    let (a, b) = (s.splat(black_box(0.999)), s.splat(black_box(0.001)));
    // Different initial values: the compiler would merge equal chains.
    let mut sums: [S::V; CHAINS] = std::array::from_fn(|i| s.splat(black_box(i as f32)));
    for _ in 0..count {
        for sum in &mut sums {
            *sum = s.fma(*sum, a, b);
        }
    }
    for sum in sums {
        black_box(s.reduce_sum(sum));
    }
    f64::from(count) * (2 * CHAINS * LANES) as f64
}

#[cfg(test)]
mod tests {
    use super::{flops_per_second, run_fma_chains};
    use crate::isa::Isa;

    #[test]
    fn operations_are_complete_vectors_and_proportional_to_the_rounds() {
        for isa in Isa::available() {
            let (one, ten) = (run_fma_chains(isa, 1), run_fma_chains(isa, 10));
            assert!(one >= 2.0 * 16.0 && ten.to_bits() == (10.0 * one).to_bits(), "{isa}");
        }
    }

    #[test]
    fn flops_per_second_is_finite_and_positive() {
        let rate = flops_per_second(Isa::best(), 2);
        assert!(rate.is_finite() && rate > 0.0);
    }
}
