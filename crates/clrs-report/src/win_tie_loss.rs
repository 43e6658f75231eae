//! Wins, ties and losses as the paper counts them.

use serde::Serialize;

use crate::stats::MeanStddev;

/// How often a model is the only best, among the best, or beaten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WinTieLoss {
    /// Algorithms on which it beats all others.
    pub wins: usize,
    /// Algorithms on which no other beats it, and it does not beat all others.
    pub ties: usize,
    /// Algorithms on which another beats it.
    pub losses: usize,
}

/// Counts wins, ties and losses over algorithms. Every row has the results of all models on one algorithm.
///
/// A model *beats* another on an algorithm if its mean minus its standard deviation is above the other's mean. It loses if any model
/// beats it, wins if all others lose, and ties otherwise. The paper does not state its rule; this one gives the counts of its
/// appendix C from its results.
///
/// ```
/// use clrs_report::stats::MeanStddev;
/// use clrs_report::win_tie_loss::win_tie_loss;
///
/// let of = |mean, stddev| MeanStddev { mean, stddev: Some(stddev) };
/// let counts = win_tie_loss(&[vec![of(0.9, 0.01), of(0.5, 0.1)], vec![of(0.9, 0.01), of(0.895, 0.1)]]);
/// assert_eq!((counts[0].wins, counts[0].ties, counts[1].losses), (1, 1, 1));
/// ```
pub fn win_tie_loss(rows: &[Vec<MeanStddev>]) -> Vec<WinTieLoss> {
    let mut counts = vec![WinTieLoss::default(); rows.first().map_or(0, Vec::len)];
    for row in rows {
        let bound = row.iter().map(|of| of.mean - of.stddev.unwrap_or(0.0)).fold(f64::NEG_INFINITY, f64::max);
        let is_unbeaten = |of: &MeanStddev| of.mean >= bound;
        let is_alone = row.iter().filter(|of| is_unbeaten(of)).count() == 1;
        for (count, of) in counts.iter_mut().zip(row) {
            match (is_unbeaten(of), is_alone) {
                (true, true) => count.wins += 1,
                (true, false) => count.ties += 1,
                (false, _) => count.losses += 1,
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{PaperModel, PaperTable};
    use crate::stats::mean;
    use clrs::{Family, clrs30};

    #[test]
    fn the_papers_results_give_the_papers_counts() {
        let row = |algorithm: &str| {
            let of_model = |model: PaperModel| model.result(PaperTable::Test, algorithm).expect("a result").into();
            PaperModel::ALL.map(of_model).to_vec()
        };
        let rows: Vec<Vec<MeanStddev>> = clrs30::algorithms().map(|algorithm| row(algorithm.name())).collect();
        let counts = win_tie_loss(&rows).into_iter().map(|of| (of.wins, of.ties, of.losses)).collect::<Vec<_>>();
        assert_eq!(counts, [(0, 3, 27), (1, 5, 24), (4, 2, 24), (8, 3, 19), (8, 6, 16)]);
    }

    #[test]
    fn the_papers_results_give_the_papers_overall_means() {
        let overall = PaperModel::ALL.map(|model| {
            let of_family = |family: Family| {
                let members = clrs30::algorithms().filter(|algorithm| algorithm.family() == family);
                let means: Vec<f64> =
                    members.map(|of| model.result(PaperTable::Test, of.name()).expect("a result").mean).collect();
                mean(means.into_iter())
            };
            format!("{:.2}", 100.0 * mean(Family::ALL.map(of_family).into_iter()))
        });
        assert_eq!(overall, ["42.72", "43.17", "38.88", "44.99", "50.84"]);
    }
}
