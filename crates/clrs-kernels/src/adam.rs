//! One update of Adam over slices, as optax computes it, and the norm of gradients.
//!
//! Each number takes the same operations in the same order, none of them fused, so that an update has the same bits on every
//! instruction set.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// How much of the mean of gradients stays.
pub const BETA1: f32 = 0.9;
/// How much of the mean of their squares stays.
pub const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// What is the same for all numbers of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// What gradients are multiplied by, to clip them.
    pub gradient_scale: f32,
    /// Size of a step, or nothing for values that stay as they are.
    pub learning_rate: Option<f32>,
    /// By how much means fall short after so many updates: `1 - 0.9^updates` and `1 - 0.999^updates`.
    pub bias_corrections: [f32; 2],
}

/// Moves values, and the means of gradients and of their squares. Without a gradient it is 0.
///
/// # Panics
/// If lengths do not match.
pub fn update(isa: Isa, rule: Update, gradient: Option<&[f32]>, values: &mut [f32], first: &mut [f32], second: &mut [f32]) {
    assert!(first.len() == values.len() && second.len() == values.len(), "two means for each number");
    assert!(gradient.is_none_or(|gradient| gradient.len() == values.len()), "a gradient for each number");
    isa.run(Step { rule, gradient, values, first, second });
}

struct Step<'a> {
    rule: Update,
    gradient: Option<&'a [f32]>,
    values: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl Kernel for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Update { gradient_scale, learning_rate, bias_corrections } = self.rule;
        for at in (0..self.values.len()).step_by(LANES) {
            let gradient = self.gradient.map_or(s.splat(0.0), |gradient| s.mul(s.load_at(gradient, at), s.splat(gradient_scale)));
            let new = s.mul(s.splat(1.0 - BETA1), gradient);
            let first = s.add(s.mul(s.splat(BETA1), s.load_at(self.first, at)), new);
            let new = s.mul(s.mul(s.splat(1.0 - BETA2), gradient), gradient);
            let second = s.add(s.mul(s.splat(BETA2), s.load_at(self.second, at)), new);
            s.store_at(self.first, at, first);
            s.store_at(self.second, at, second);
            if let Some(rate) = learning_rate {
                let root = s.sqrt(s.div(second, s.splat(bias_corrections[1])));
                let step = s.div(s.div(first, s.splat(bias_corrections[0])), s.add(root, s.splat(EPSILON)));
                s.store_at(self.values, at, s.sub(s.load_at(self.values, at), s.mul(s.splat(rate), step)));
            }
        }
    }
}

/// The sum of squares, in `f64`: sixteen sums, then those in order. Squares are exact, so that only the order of sums could change
/// the bits, and that is fixed.
pub fn sum_of_squares(isa: Isa, x: &[f32]) -> f64 {
    isa.run(Squares(x))
}

struct Squares<'a>(&'a [f32]);

impl Kernel for Squares<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0; LANES];
        let (full, rest) = self.0.as_chunks::<LANES>();
        for chunk in full {
            for lane in 0..LANES {
                sums[lane] += f64::from(chunk[lane]) * f64::from(chunk[lane]);
            }
        }
        for (sum, &x) in sums.iter_mut().zip(rest) {
            *sum += f64::from(x) * f64::from(x);
        }
        sums.iter().sum()
    }
}
