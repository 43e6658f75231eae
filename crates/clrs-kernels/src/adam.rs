//! One step of Adam (Kingma & Ba, 2015) over slices, as optax computes it, and the squared norm of gradients.
//!
//! # Bits
//! Each element takes the same operations in the same order, none of them fused: the same on every instruction set.

use crate::isa::{Isa, Kernel};
use crate::simd::{LANES, Simd};

/// Decay of the first moment.
pub const BETA1: f32 = 0.9;
/// Decay of the second moment.
pub const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Scalars of one step, the same for all parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Factor of the gradients, below 1 where their global norm is clipped.
    pub gradient_scale: f32,
    /// Learning rate, or `None` to update the moments and leave the parameters as they are.
    pub learning_rate: Option<f32>,
    /// `1 - BETA1^t` and `1 - BETA2^t` in step `t`, counted from 1.
    pub bias_corrections: [f32; 2],
}

/// Updates parameters and their two moments in place. A missing gradient counts as 0.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::Isa;
/// use clrs_kernels::adam::{BETA1, BETA2, Update, update};
///
/// let (mut parameters, mut first, mut second) = ([1.0], [0.0], [0.0]);
/// let scalars =
///     Update { gradient_scale: 1.0, learning_rate: Some(0.1), bias_corrections: [1.0 - BETA1, 1.0 - BETA2] };
/// update(Isa::best(), scalars, Some(&[5.0]), &mut parameters, &mut first, &mut second);
/// // The first step has the length of the learning rate, whatever the gradient.
/// assert!((parameters[0] - 0.9f32).abs() < 1e-6);
/// ```
pub fn update(
    isa: Isa,
    update: Update,
    gradient: Option<&[f32]>,
    parameters: &mut [f32],
    first_moment: &mut [f32],
    second_moment: &mut [f32],
) {
    let len = parameters.len();
    assert!(first_moment.len() == len && second_moment.len() == len, "the moments must be shaped as the parameters");
    assert!(gradient.is_none_or(|gradient| gradient.len() == len), "the gradient must be shaped as the parameters");
    isa.run(Step { update, gradient, parameters, first_moment, second_moment });
}

struct Step<'a> {
    update: Update,
    gradient: Option<&'a [f32]>,
    parameters: &'a mut [f32],
    first_moment: &'a mut [f32],
    second_moment: &'a mut [f32],
}

impl Kernel for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Update { gradient_scale, learning_rate, bias_corrections } = self.update;
        for at in (0..self.parameters.len()).step_by(LANES) {
            let gradient = self.gradient.map_or(s.splat(0.0), |gradient| s.mul(s.load_at(gradient, at), s.splat(gradient_scale)));
            let new = s.mul(s.splat(1.0 - BETA1), gradient);
            let first = s.add(s.mul(s.splat(BETA1), s.load_at(self.first_moment, at)), new);
            let new = s.mul(s.mul(s.splat(1.0 - BETA2), gradient), gradient);
            let second = s.add(s.mul(s.splat(BETA2), s.load_at(self.second_moment, at)), new);
            s.store_at(self.first_moment, at, first);
            s.store_at(self.second_moment, at, second);
            if let Some(rate) = learning_rate {
                let root = s.sqrt(s.div(second, s.splat(bias_corrections[1])));
                let step = s.div(s.div(first, s.splat(bias_corrections[0])), s.add(root, s.splat(EPSILON)));
                s.store_at(self.parameters, at, s.sub(s.load_at(self.parameters, at), s.mul(s.splat(rate), step)));
            }
        }
    }
}

/// Returns the sum of squares in `f64`: sixteen partial sums, then their sum in order. The square of an `f32` is exact in `f64`, so
/// only the order of the additions affects the bits, and it is fixed.
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
