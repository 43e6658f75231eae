//! What the machine's multiply-add units do with nothing in the way: the limit that rates of kernels are shares of.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Multiplies and adds in registers. Returns how many floating-point operations that were.
pub fn run_fma_chains(isa: Isa, rounds: u32) -> f64 {
    isa.run(Rounds(rounds))
}

/// Floating-point operations per second of so many threads together.
///
/// The threads are started and warm before anything is measured, and begin together: what it costs to start them, and a clock
/// that is still slow, do not count. The best of some short measurements is taken, since the machine may be shared.
///
/// # Panics
/// If a thread cannot be started.
pub fn flops_per_second(isa: Isa, threads: usize) -> f64 {
    /// About five milliseconds each.
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
        workers.into_iter().map(|worker| worker.join().expect("it only counts")).collect()
    });
    // A thread that was woken late sees less time go by: the one that sees most is right.
    let slowest = |round: usize| rates.iter().map(|of| of[round]).fold(f64::MAX, f64::min);
    (0..MEASURED).map(slowest).fold(0.0, f64::max)
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
        black_box(s.reduce_sum(sum));
    }
    f64::from(count) * (2 * CHAINS * LANES) as f64
}

#[cfg(test)]
mod tests {
    use super::{flops_per_second, run_fma_chains};
    use crate::isa::Isa;

    #[test]
    fn a_round_of_every_instruction_set_is_whole_registers() {
        for isa in Isa::available() {
            let (one, ten) = (run_fma_chains(isa, 1), run_fma_chains(isa, 10));
            assert!(one >= 2.0 * 16.0 && ten.to_bits() == (10.0 * one).to_bits(), "{isa}");
        }
    }

    #[test]
    fn the_rate_of_threads_is_a_number_above_nought() {
        let rate = flops_per_second(Isa::best(), 2);
        assert!(rate.is_finite() && rate > 0.0);
    }
}
