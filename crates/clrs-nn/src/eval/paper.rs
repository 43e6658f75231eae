//! Results of the baselines in the paper: appendix C of arXiv 2205.15659.

const TABLES: &str = include_str!("../../paper/tables.csv");

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

/// The result of an algorithm and a processor, if the paper has both.
///
/// ```
/// use clrs_nn::eval::paper::{PaperTable, paper_result};
///
/// let bfs = paper_result(PaperTable::Test, "bfs", "mpnn").unwrap();
/// assert!(bfs.mean > 0.9);
/// assert_eq!(paper_result(PaperTable::Test, "bfs", "triplet_gmpnn"), None);
/// ```
pub fn paper_result(table: PaperTable, algorithm: &str, processor: &str) -> Option<PaperResult> {
    let table = match table {
        PaperTable::Test => "test",
        PaperTable::Validation => "validation",
    };
    find(table, algorithm, column(processor)?)
}

/// The paper's name of a processor. It does not specify which of the two memory networks it evaluated.
fn column(processor: &str) -> Option<&'static str> {
    match processor {
        "deepsets" => Some("deep_sets"),
        "gat" => Some("gat"),
        "memnet_full" | "memnet_masked" => Some("memnet"),
        "mpnn" => Some("mpnn"),
        "pgn" => Some("pgn"),
        _ => None,
    }
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

    const PROCESSORS: [&str; 5] = ["deepsets", "gat", "memnet_full", "mpnn", "pgn"];

    #[test]
    fn every_algorithm_of_the_benchmark_has_results() {
        for algorithm in clrs30::algorithms() {
            for (table, processor) in
                [PaperTable::Test, PaperTable::Validation].into_iter().flat_map(|table| PROCESSORS.map(|of| (table, of)))
            {
                let found = paper_result(table, algorithm.name(), processor).expect("a result");
                assert!((0.0..=1.0).contains(&found.mean) && found.stddev >= 0.0, "{} {processor}", algorithm.name());
            }
        }
        assert_eq!(TABLES.lines().count(), 1 + PROCESSORS.len() * (2 * clrs30::algorithms().len() + Family::ALL.len()));
    }

    #[test]
    fn families_are_means_over_their_algorithms() {
        for (family, processor) in Family::ALL.into_iter().flat_map(|family| PROCESSORS.map(|processor| (family, processor))) {
            let members = clrs30::algorithms().filter(|algorithm| algorithm.family() == family);
            let means: Vec<f64> =
                members.map(|of| paper_result(PaperTable::Test, of.name(), processor).expect("a result").mean).collect();
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let reported = find("test_family", family.name(), column(processor).expect("a column")).expect("a result").mean;
            assert!((mean - reported).abs() < 2e-4, "{} {processor}: {mean}, {reported}", family.name());
        }
    }
}
