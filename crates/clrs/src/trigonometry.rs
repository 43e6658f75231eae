//! Sine and cosine, correctly rounded.
//!
//! `NumPy` calls the C library or vectorized code of its own, depending on its version and the CPU. Each of them errs by one unit in
//! the last place now and then (glibc in 0.14% of all angles, in different ones with and without fused multiply-add; the crate `libm`
//! in 3%). Correct rounding is what all of them approximate, and the same on every machine.

use std::f64::consts::FRAC_PI_2;

/// Sine and cosine of an angle between 0 and 2π, correctly rounded.
///
/// A fast evaluation has an error bound; where that does not decide the rounding, a slow one with about 100 bits does. Even these
/// could round a value wrongly, with a probability of about 2^-46.
pub(crate) fn sin_cos(angle: f64) -> (f64, f64) {
    debug_assert!((0.0..=std::f64::consts::TAU).contains(&angle), "{angle} is not between 0 and 2π");
    let (quadrant, reduced) = reduce(angle);
    let [sin, cos] = fast(reduced).unwrap_or_else(|| taylor(reduced).map(|value| value.high));
    match quadrant {
        0 | 4 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The sum of two floats, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    const ZERO: Self = Self { high: 0.0, low: 0.0 };
    const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// `a + b` if `a` is zero or not smaller than `b` in magnitude.
    const fn from_ordered(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    const fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let rounded = high - a;
        Self { high, low: (a - (high - rounded)) + (b - rounded) }
    }

    /// Not by `mul_add`, which is slow where the processor is not known to have it.
    const fn product(a: f64, b: f64) -> Self {
        let (a_high, a_low) = split(a);
        let (b_high, b_low) = split(b);
        let high = a * b;
        Self { high, low: a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low) }
    }

    const fn add(self, other: Self) -> Self {
        let Self { high, low } = Self::sum(self.high, other.high);
        Self::from_ordered(high, low + (self.low + other.low))
    }

    const fn mul(self, other: Self) -> Self {
        let Self { high, low } = Self::product(self.high, other.high);
        Self::from_ordered(high, low + (self.high * other.low + self.low * other.high))
    }

    const fn div(self, divisor: f64) -> Self {
        let quotient = self.high / divisor;
        let product = Self::product(quotient, divisor);
        Self::from_ordered(quotient, ((self.high - product.high) - product.low + self.low) / divisor)
    }

    const fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

/// Halves of 26 bits each, whose products are exact.
const fn split(value: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = SPLITTER * value;
    let high = scaled - (scaled - value);
    (high, value - high)
}

/// The nearest multiple of π/2, and the difference from it, with an error below 2^-100 of it.
fn reduce(angle: f64) -> (u8, Double) {
    /// π/2 is the sum of these and `FRAC_PI_2`.
    const MIDDLE: f64 = 6.123_233_995_736_766e-17;
    const LOW: f64 = -1.497_384_904_859_169_8e-33;
    let nearest = nearest_integer(angle / FRAC_PI_2);
    let quadrant = f64::from(nearest);
    let [high, middle] = [FRAC_PI_2, MIDDLE].map(|part| Double::product(-quadrant, part));
    let first = Double::sum(angle + high.high, high.low);
    let second = Double::sum(first.high, middle.high);
    let low = first.low + second.low + middle.low - quadrant * LOW;
    (nearest, Double::from_ordered(second.high, low))
}

/// The integer closest to a small number that is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 51")]
fn nearest_integer(value: f64) -> u8 {
    (value + 0.5) as u8
}

/// Sine and cosine of an angle up to π/4 with a relative error of about 2^-100.
const fn taylor(angle: Double) -> [Double; 2] {
    let square = angle.mul(angle).neg();
    let (mut sin, mut cos) = (Double::ZERO, Double::ZERO);
    let (mut odd, mut even) = (angle, Double::ONE);
    let mut degree = 0.0;
    while degree < 28.0 {
        sin = sin.add(odd);
        cos = cos.add(even);
        even = even.mul(square).div((degree + 1.0) * (degree + 2.0));
        odd = odd.mul(square).div((degree + 2.0) * (degree + 3.0));
        degree += 2.0;
    }
    [sin, cos]
}

/// Distance between the angles of [`TABLE`].
const SPACING: f64 = 1.0 / 64.0;

/// Sine and cosine of the multiples of [`SPACING`] up to π/4.
static TABLE: [[Double; 2]; 51] = {
    let mut table = [[Double::ZERO; 2]; 51];
    let mut index = 0;
    while index < table.len() {
        table[index] = taylor(Double { high: index as f64 * SPACING, low: 0.0 });
        index += 1;
    }
    table
};

/// Sine and cosine of an angle up to π/4, if they can be rounded safely: by the addition theorems, from the closest angle of the
/// table and the difference from it.
fn fast(angle: Double) -> Option<[f64; 2]> {
    let sign = 1f64.copysign(angle.high);
    let index = nearest_integer(angle.high.abs() / SPACING);
    let [sin, cos] = TABLE[usize::from(index)];
    let (high, low) = (sign * angle.high - f64::from(index) * SPACING, sign * angle.low);
    let square = high * high;
    // sin(high + low) - high and cos(high + low) - 1; the magnitude of high is at most 2^-7.
    let sin_rest = low - high * square * (1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0)));
    let cos_rest = -square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0))) - high * low;
    let rotated = |value: Double, other: Double| {
        let product = Double::product(other.high, high);
        let sum = Double::from_ordered(value.high, product.high);
        let rest = other.low * high + value.high * cos_rest + other.high * sin_rest;
        round(sum.high, sum.low + (product.low + value.low + rest))
    };
    Some([sign * rotated(sin, cos)?, rotated(cos, sin.neg())?])
}

/// The float closest to the sum, unless a relative error of 2^-63 could change it. That of [`fast`] is below 2^-64.
fn round(high: f64, low: f64) -> Option<f64> {
    const ERROR: f64 = 1.0 / (1u64 << 63) as f64;
    let margin = high.abs() * ERROR;
    let rounded = high + (low + margin);
    (rounded == high + (low - margin)).then_some(rounded)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_4, PI, TAU};

    use super::*;
    use crate::random::RandomState;

    /// Angle, sine and cosine, rounded from 200 bits by MPFR. In the first rows, which are the hardest of three million random angles,
    /// sine or cosine is within 2e-7 to 9e-7 units of the middle of two floats.
    #[expect(clippy::unreadable_literal, clippy::approx_constant, reason = "as MPFR prints them")]
    const ROUNDED: [[f64; 3]; 19] = [
        [1.2476053015994473, 0.9482267971073856, 0.31759398805309424],
        [0.8762066659368989, 0.7683164123347488, 0.6400702231295096],
        [1.0235127899919545, 0.8539412354735006, 0.5203694517916969],
        [0.9318372477639956, 0.8027169564876583, 0.5963601996840424],
        [4.478015073157595, -0.9726599320245771, -0.23223405571523076],
        [0.06209588596520427, 0.062055987746833206, 0.9980726698917093],
        [4.555070067165067, -0.9876508805970694, -0.15667079515925503],
        [4.273839277891228, -0.905368450437175, -0.4246268584922399],
        [2.294158572043915, 0.749584470874868, -0.6619086953827121],
        [6.017293306938796, -0.262770026582599, 0.9648584938371949],
        [0.0, 0.0, 1.0],
        [5e-17, 5e-17, 1.0],
        [0.0078125, 0.0078124205273828315, 0.9999694825770951],
        [FRAC_PI_4.next_down(), 0.7071067811865475, 0.7071067811865476],
        [FRAC_PI_4.next_up(), 0.7071067811865476, 0.7071067811865475],
        [FRAC_PI_2, 1.0, 6.123233995736766e-17],
        [PI, 1.2246467991473532e-16, -1.0],
        [3.0 * FRAC_PI_2, -1.0, -1.8369701987210297e-16],
        [TAU, -2.4492935982947064e-16, 1.0],
    ];

    #[test]
    fn sine_and_cosine_are_correctly_rounded() {
        for [angle, sin, cos] in ROUNDED {
            assert_eq!(sin_cos(angle), (sin, cos), "{angle}");
        }
        let undecided = ROUNDED.iter().filter(|row| fast(reduce(row[0]).1).is_none());
        assert!(undecided.count() >= 10, "the hardest angles need the slow evaluation");
    }

    #[test]
    fn fast_and_slow_evaluation_agree() {
        let angles = RandomState::new(0).uniforms(0.0, TAU, 100_000);
        let mut undecided = 0;
        for angle in angles {
            let (_, reduced) = reduce(angle);
            match fast(reduced) {
                Some(values) => assert_eq!(values, taylor(reduced).map(|value| value.high), "{angle}"),
                None => undecided += 1,
            }
        }
        assert!((50..1000).contains(&undecided), "{undecided} slow evaluations");
    }
}
