//! Means and standard deviations over seeds.

use serde::Serialize;

use crate::paper::PaperResult;

/// Mean and standard deviation.
///
/// ```
/// use clrs_report::stats::MeanStddev;
///
/// let over_seeds = MeanStddev::new(&[0.5, 0.75, 1.0]);
/// assert_eq!((over_seeds.mean, over_seeds.stddev), (0.75, Some(0.25)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanStddev {
    /// The mean.
    pub mean: f64,
    /// Standard deviation of a sample (divided by n - 1); `None` for a single value.
    pub stddev: Option<f64>,
}

impl MeanStddev {
    /// Computes both of at least one value.
    pub fn new(values: &[f64]) -> MeanStddev {
        let count = values.len();
        let mean = mean(values.iter().copied());
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        MeanStddev { mean, stddev: (count > 1).then(|| (squares / (count - 1) as f64).sqrt()) }
    }

    /// The mean of independent means, and its standard deviation: the root of the summed squares, divided by their number.
    ///
    /// ```
    /// use clrs_report::stats::MeanStddev;
    ///
    /// let parts = [(0.25, 0.3), (0.75, 0.4)].map(|(mean, stddev)| MeanStddev { mean, stddev: Some(stddev) });
    /// assert_eq!(MeanStddev::of_means(&parts), MeanStddev { mean: 0.5, stddev: Some(0.25) });
    /// ```
    pub fn of_means(parts: &[MeanStddev]) -> MeanStddev {
        let squares = parts.iter().map(|part| part.stddev.map(|stddev| stddev * stddev)).sum::<Option<f64>>();
        MeanStddev {
            mean: mean(parts.iter().map(|part| part.mean)),
            stddev: squares.map(|squares| squares.sqrt() / parts.len() as f64),
        }
    }

    /// The difference to a result of the paper in standard deviations of that difference: the root of the sum of both variances
    /// over seeds. `None` for a single run, and where neither varies.
    ///
    /// ```
    /// use clrs_report::stats::MeanStddev;
    ///
    /// let (ours, paper) = [(0.75, 0.03), (0.8, 0.04)].map(|(mean, stddev)| MeanStddev { mean, stddev: Some(stddev) }).into();
    /// assert!((ours.difference_in_stddevs(paper).unwrap() + 1.0).abs() < 1e-12);
    /// ```
    pub fn difference_in_stddevs(self, paper: MeanStddev) -> Option<f64> {
        let combined = self.stddev?.hypot(paper.stddev?);
        (combined > 0.0).then(|| (self.mean - paper.mean) / combined)
    }
}

impl From<PaperResult> for MeanStddev {
    fn from(PaperResult { mean, stddev }: PaperResult) -> MeanStddev {
        MeanStddev { mean, stddev: Some(stddev) }
    }
}

/// The mean of at least one value.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_deviation_is_that_of_a_sample() {
        assert_eq!(MeanStddev::new(&[1.0, 2.0, 3.0]), MeanStddev { mean: 2.0, stddev: Some(1.0) });
        assert_eq!(MeanStddev::new(&[0.5]), MeanStddev { mean: 0.5, stddev: None });
    }

    #[test]
    fn a_difference_in_standard_deviations_needs_a_deviation() {
        let paper = MeanStddev { mean: 0.5, stddev: Some(0.0) };
        assert_eq!(MeanStddev::new(&[0.75]).difference_in_stddevs(paper), None);
        assert_eq!(MeanStddev::new(&[0.75, 0.75]).difference_in_stddevs(paper), None);
    }
}
