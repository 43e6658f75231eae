//! Scores of all algorithms, beside the paper's.

use clrs::Family;
use serde::Serialize;

use super::comparison::{Comparison, DEVIATION, Shown, header, notes, over, pair};
use super::table::{RowKind, Table, record};
use crate::results::{Entry, Metric, Results};

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    family: Option<Family>,
    model: &'r str,
    processor: Option<String>,
    runs: usize,
    known_runs: usize,
    complete: bool,
    #[serde(flatten)]
    comparison: Comparison,
}

/// All algorithms on the test set.
pub(super) fn algorithms(results: &Results<'_>) -> Table {
    let caption = format!(
        "Score (%) of the best checkpoint on the test set with the true number of steps: mean ± standard deviation over seeds. {DEVIATION}"
    );
    by_algorithm(results, Metric::Test, "algorithms", "Test scores of all algorithms", caption)
}

/// All algorithms on the validation set.
pub(super) fn validation(results: &Results<'_>) -> Table {
    let caption = format!(
        "Score (%) on the validation set at the best validation (early-stopped): mean ± standard deviation over seeds. {DEVIATION}"
    );
    let mut table = by_algorithm(results, Metric::Validation, "validation", "Validation scores of all algorithms", caption);
    if results.runs.iter().any(|run| run.recipe.data.version().is_none()) {
        table.notes.push(
            "Runs on data other than the benchmark's are validated on their own data, and have no score on this set.".into(),
        );
    }
    table
}

fn by_algorithm(results: &Results<'_>, metric: Metric, name: &'static str, title: &'static str, caption: String) -> Table {
    let (mut rows, mut records) = (Vec::new(), Vec::new());
    for (index, algorithm) in results.algorithms.iter().enumerate() {
        let entries: Vec<Entry> = results.columns.iter().map(|column| results.entry(metric, index, column)).collect();
        rows.extend(pair(algorithm.name.clone(), RowKind::Results, &entries.iter().map(Shown::entry).collect::<Vec<_>>()));
        records.extend(results.columns.iter().zip(&entries).map(|(column, entry)| {
            record(&Record {
                algorithm: &algorithm.name,
                family: algorithm.family,
                model: &column.label,
                processor: entry.processor.clone(),
                runs: entry.runs,
                known_runs: entry.known,
                complete: entry.is_complete,
                comparison: Comparison::new(entry.value, entry.paper.map(Into::into)),
            })
        }));
    }
    let shared = shared_algorithms(results, metric);
    if shared.len() > 1 {
        let columns: Vec<Shown> = results.columns.iter().map(|column| over(results, metric, column, &shared)).collect();
        rows.extend(pair(format!("mean of {}", shared.len()), RowKind::Total, &columns));
    }
    let header = header("algorithm", results);
    Table { name, title, caption, header, rows, notes: notes(results, metric, &shared), records }
}

/// Algorithms that all columns have completely: only over these can means be compared.
fn shared_algorithms(results: &Results<'_>, metric: Metric) -> Vec<usize> {
    let is_shared = |&index: &usize| results.columns.iter().all(|column| results.entry(metric, index, column).is_complete);
    (0..results.algorithms.len()).filter(is_shared).collect()
}
