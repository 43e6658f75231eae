//! Results of the baselines in the paper: appendix C of arXiv 2205.15659.

const TABLES: &str = include_str!("../paper/tables.csv");

/// One of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PaperTable {
    /// The test sets, 64 nodes.
    Test,
    /// The validation sets, 16 nodes.
    Validation,
}

/// A result of the paper, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PaperResult {
    /// Mean over seeds.
    pub mean: f64,
    /// Standard deviation over seeds.
    pub stddev: f64,
}

/// A baseline of the paper.
///
/// ```
/// use clrs_report::paper::PaperModel;
///
/// assert_eq!(PaperModel::of_processor("gatv2_full"), Some(PaperModel::Gat));
/// assert_eq!(PaperModel::of_processor("triplet_gmpnn"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the paper's names")]
pub enum PaperModel {
    DeepSets,
    Gat,
    Memnet,
    Mpnn,
    Pgn,
}

/// Processors of the baselines, with their names in tables: the paper's, with the variant where it has several.
pub(crate) const PROCESSORS: [(&str, PaperModel, &str); 10] = [
    ("deepsets", PaperModel::DeepSets, "Deep Sets"),
    ("gat", PaperModel::Gat, "GAT"),
    ("gat_full", PaperModel::Gat, "GAT (full)"),
    ("gatv2", PaperModel::Gat, "GATv2"),
    ("gatv2_full", PaperModel::Gat, "GATv2 (full)"),
    ("memnet_full", PaperModel::Memnet, "Memnet (full)"),
    ("memnet_masked", PaperModel::Memnet, "Memnet (masked)"),
    ("mpnn", PaperModel::Mpnn, "MPNN"),
    ("pgn", PaperModel::Pgn, "PGN"),
    ("pgn_mask", PaperModel::Pgn, "PGN (masked)"),
];

impl PaperModel {
    /// All, in the order of the paper's columns.
    pub const ALL: [PaperModel; 5] =
        [PaperModel::DeepSets, PaperModel::Gat, PaperModel::Memnet, PaperModel::Mpnn, PaperModel::Pgn];

    /// The baseline that a processor belongs to.
    ///
    /// The paper's GAT is the better of `gat` and `gatv2` on each algorithm. It does not specify which graph attention and memory
    /// networks see, nor which of the two pointer graph networks it evaluated.
    pub fn of_processor(processor: &str) -> Option<PaperModel> {
        PROCESSORS.iter().find(|(name, ..)| *name == processor).map(|&(_, model, _)| model)
    }

    /// The paper's name.
    pub const fn name(self) -> &'static str {
        match self {
            PaperModel::DeepSets => "Deep Sets",
            PaperModel::Gat => "GAT",
            PaperModel::Memnet => "Memnet",
            PaperModel::Mpnn => "MPNN",
            PaperModel::Pgn => "PGN",
        }
    }

    /// Its result on an algorithm, if the paper has it.
    ///
    /// ```
    /// use clrs_report::paper::{PaperModel, PaperTable};
    ///
    /// assert!(PaperModel::Mpnn.result(PaperTable::Test, "bfs").unwrap().mean > 0.9);
    /// ```
    pub fn result(self, table: PaperTable, algorithm: &str) -> Option<PaperResult> {
        let table = match table {
            PaperTable::Test => "test",
            PaperTable::Validation => "validation",
        };
        find(table, algorithm, self.key())
    }

    /// Name in the file.
    const fn key(self) -> &'static str {
        match self {
            PaperModel::DeepSets => "deep_sets",
            PaperModel::Gat => "gat",
            PaperModel::Memnet => "memnet",
            PaperModel::Mpnn => "mpnn",
            PaperModel::Pgn => "pgn",
        }
    }
}

/// The result of an algorithm and a processor, if the paper has both.
///
/// ```
/// use clrs_report::paper::{PaperTable, paper_result};
///
/// let bfs = paper_result(PaperTable::Test, "bfs", "mpnn").unwrap();
/// assert!(bfs.mean > 0.9);
/// assert_eq!(paper_result(PaperTable::Test, "bfs", "triplet_gmpnn"), None);
/// ```
pub fn paper_result(table: PaperTable, algorithm: &str, processor: &str) -> Option<PaperResult> {
    PaperModel::of_processor(processor)?.result(table, algorithm)
}

fn find(table: &str, algorithm: &str, column: &str) -> Option<PaperResult> {
    TABLES.lines().find_map(|line| {
        let mut cells = line.split(',');
        if [cells.next()?, cells.next()?, cells.next()?] != [table, algorithm, column] {
            return None;
        }
        let mut share = || Some(cells.next()?.trim().parse::<f64>().ok()? / 100.0);
        Some(PaperResult { mean: share()?, stddev: share()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::{Family, clrs30};

    #[test]
    fn every_algorithm_of_the_benchmark_has_results() {
        for algorithm in clrs30::algorithms() {
            for table in [PaperTable::Test, PaperTable::Validation] {
                for model in PaperModel::ALL {
                    let found = model.result(table, algorithm.name()).expect("a result");
                    assert!((0.0..=1.0).contains(&found.mean) && found.stddev >= 0.0, "{} {model:?}", algorithm.name());
                }
            }
        }
        let rows = PaperModel::ALL.len() * (2 * clrs30::algorithms().len() + Family::ALL.len());
        assert_eq!(TABLES.lines().count(), 1 + rows);
    }

    #[test]
    fn families_are_means_over_their_algorithms() {
        for (family, model) in Family::ALL.into_iter().flat_map(|family| PaperModel::ALL.map(|model| (family, model))) {
            let members = clrs30::algorithms().filter(|algorithm| algorithm.family() == family);
            let means: Vec<f64> = members.map(|of| model.result(PaperTable::Test, of.name()).expect("a result").mean).collect();
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let reported = find("test_family", family.name(), model.key()).expect("a result").mean;
            assert!((mean - reported).abs() < 2e-4, "{} {model:?}: {mean}, {reported}", family.name());
        }
    }
}
