//! Axes: ranges, round ticks and their labels.

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axis {
    /// Smallest and largest value.
    pub range: (f64, f64),
    /// Where ticks are, with their labels.
    pub ticks: Vec<(f64, String)>,
    /// Whether distances are those of logarithms.
    pub is_log: bool,
}

impl Axis {
    /// From zero to `max`, with about `count` ticks at round numbers.
    ///
    /// ```
    /// use clrs_report::figures::Axis;
    ///
    /// let labels: Vec<String> = Axis::linear(10_000.0, 4).ticks.into_iter().map(|(_, label)| label).collect();
    /// assert_eq!(labels, ["0", "2.5k", "5k", "7.5k", "10k"]);
    /// ```
    pub fn linear(max: f64, count: usize) -> Axis {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        let step = round_step(max / count.max(1) as f64);
        let multiples = std::iter::successors(Some(0.0), |index: &f64| Some(index + 1.0)).map(|index| index * step);
        let ticks = multiples.take_while(|tick| *tick <= max * (1.0 + 1e-9)).map(|tick| (tick, label(tick))).collect();
        Axis { range: (0.0, max), ticks, is_log: false }
    }

    /// Percentages.
    pub fn percent() -> Axis {
        let ticks = [0.0, 25.0, 50.0, 75.0, 100.0].map(|value| (value / 100.0, label(value)));
        Axis { range: (0.0, 1.0), ticks: ticks.to_vec(), is_log: false }
    }

    /// Sizes, at equal distances if they double. Ticks whose labels would overlap are left out.
    pub fn sizes(sizes: &[usize]) -> Axis {
        let (min, max) = (sizes.first().copied().unwrap_or(1), sizes.last().copied().unwrap_or(2));
        let range = if min == max { (min as f64 / 2.0, max as f64 * 2.0) } else { (min as f64, max as f64) };
        let axis = Axis { range, ticks: Vec::new(), is_log: true };
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for &size in sizes {
            let is_far = |(other, _): &(f64, String)| axis.share(size as f64) - axis.share(*other) > MIN_TICK_DISTANCE;
            if ticks.last().is_none_or(is_far) {
                ticks.push((size as f64, label(size as f64)));
            }
        }
        Axis { ticks, ..axis }
    }

    /// Position of a value from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (scale(self.range.0), scale(self.range.1));
        ((scale(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// As a share of the axis; enough for labels of four digits.
const MIN_TICK_DISTANCE: f64 = 0.12;

/// The next of 1, 2, 2.5, 5, 10, 20, ..: at least `value`, up to rounding.
fn round_step(value: f64) -> f64 {
    let magnitude = 10f64.powi(exponent(value));
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|factor| factor * magnitude >= value * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * magnitude
}

#[expect(clippy::cast_possible_truncation, reason = "an exponent of a finite number")]
fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// `0`, `0.5`, `250`, `2k`, `2.5k`, `1M`.
fn label(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e4 || (value >= 1e3 && value % 100.0 == 0.0) => (value / 1e3, "k"),
        value => (value, ""),
    };
    super::svg::number(value) + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_data() {
        for max in [0.37, 1.0, 3.0, 10.0, 190.0, 200.0, 999.0, 10_000.0, 123_456.0] {
            let axis = Axis::linear(max, 4);
            let last = axis.ticks.last().expect("a tick").0;
            assert!(axis.range.1 == max && last <= max * 1.000_001 && last > 0.6 * max, "{max}: {axis:?}");
            assert!((3..=5).contains(&axis.ticks.len()), "{max}: {axis:?}");
        }
    }

    #[test]
    fn sizes_that_double_are_equally_far_apart() {
        let axis = Axis::sizes(&[16, 32, 64, 128, 256]);
        assert_eq!(axis.ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), ["16", "32", "64", "128", "256"]);
        assert!((axis.share(64.0) - 0.5).abs() < 1e-12);
    }
}
