//! The numbers that the paper reports for its baselines: appendix C of arXiv 2205.15659.

const TABLES: &str = include_str!("../../paper/tables.csv");

/// One of the paper's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// On 64 nodes.
    Test,
    /// On 16 nodes.
    Validation,
}

/// A number of the paper, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// The mean over seeds.
    pub mean: f64,
    /// The standard deviation over seeds.
    pub deviation: f64,
}

/// What the paper reports for an algorithm and a processor, if it has both.
pub fn reported(table: Table, algorithm: &str, processor: &str) -> Option<Reported> {
    let table = match table {
        Table::Test => "test",
        Table::Validation => "validation",
    };
    find(table, algorithm, model(processor)?)
}

/// What the paper calls a processor. It does not say which of the two memory networks it ran.
fn model(processor: &str) -> Option<&'static str> {
    match processor {
        "deepsets" => Some("deep_sets"),
        "gat" => Some("gat"),
        "memnet_full" | "memnet_masked" => Some("memnet"),
        "mpnn" => Some("mpnn"),
        "pgn" => Some("pgn"),
        _ => None,
    }
}

fn find(table: &str, algorithm: &str, model: &str) -> Option<Reported> {
    TABLES.lines().find_map(|line| {
        let mut cells = line.split(',');
        if [cells.next()?, cells.next()?, cells.next()?] != [table, algorithm, model] {
            return None;
        }
        let mut share = || Some(cells.next()?.trim().parse::<f64>().ok()? / 100.0);
        Some(Reported { mean: share()?, deviation: share()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::{Family, Registry};

    const MODELS: [&str; 5] = ["deepsets", "gat", "memnet_full", "mpnn", "pgn"];

    #[test]
    fn every_algorithm_of_the_benchmark_has_its_numbers() {
        for algorithm in Registry::builtin().iter().take(30) {
            for (table, processor) in [Table::Test, Table::Validation].into_iter().flat_map(|table| MODELS.map(|of| (table, of)))
            {
                let found = reported(table, algorithm.name(), processor).expect("a number");
                assert!((0.0..=1.0).contains(&found.mean) && found.deviation >= 0.0, "{} {processor}", algorithm.name());
            }
        }
        assert_eq!(TABLES.lines().count(), 1 + MODELS.len() * (30 + 30 + Family::ALL.len()));
    }

    #[test]
    fn families_are_means_over_their_algorithms() {
        for (family, processor) in Family::ALL.into_iter().flat_map(|family| MODELS.map(|processor| (family, processor))) {
            let registry = Registry::builtin();
            let members = registry.iter().take(30).filter(|algorithm| algorithm.family() == family);
            let means: Vec<f64> = members.map(|of| reported(Table::Test, of.name(), processor).expect("a number").mean).collect();
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            let reported = find("test_family", family.name(), model(processor).expect("it has one")).expect("a number").mean;
            assert!((mean - reported).abs() < 2e-4, "{} {processor}: {mean}, {reported}", family.name());
        }
    }
}
