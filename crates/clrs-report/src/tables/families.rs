//! Scores of the paper's families: its table 2.

use clrs::{AnyAlgorithm, Family, clrs30};
use serde::Serialize;

use super::comparison::{Comparison, DEVIATION, Shown, header, notes, over, pair};
use super::table::{RowKind, Table, record};
use crate::results::{Metric, Results};
use crate::stats::MeanStddev;

#[derive(Serialize)]
struct Record<'r> {
    family: &'r str,
    model: &'r str,
    algorithms: usize,
    algorithms_of_family: usize,
    complete: bool,
    #[serde(flatten)]
    comparison: Comparison,
}

/// Our result, and the paper's.
type Pair = (MeanStddev, Option<MeanStddev>);

/// The paper's families on the test set.
pub(super) fn table(results: &Results<'_>) -> Table {
    let (mut rows, mut records) = (Vec::new(), Vec::new());
    let of_family = |family: Family| -> (usize, Vec<usize>) {
        let names: Vec<&str> =
            clrs30::algorithms().filter(|algorithm| algorithm.family() == family).map(AnyAlgorithm::name).collect();
        let known = (0..results.algorithms.len()).filter(|&index| names.contains(&results.algorithms[index].name.as_str()));
        (names.len(), known.collect())
    };
    // Our mean and the paper's, by column and family.
    let mut means: Vec<Vec<Option<Pair>>> = vec![Vec::new(); results.columns.len()];
    for family in Family::ALL {
        let (all, known) = of_family(family);
        let mut shown = Vec::new();
        for (column, means) in results.columns.iter().zip(&mut means) {
            let is_complete = |index: &&usize| results.entry(Metric::Test, **index, column).is_complete;
            let complete = known.iter().filter(is_complete).count();
            let cell = if complete == all {
                over(results, Metric::Test, column, &known)
            } else {
                Shown { ours: None, paper: None, missing: format!("{complete} of {all}") }
            };
            means.push(cell.ours.map(|ours| (ours, cell.paper)));
            records.push(record(&Record {
                family: family.name(),
                model: &column.label,
                algorithms: complete,
                algorithms_of_family: all,
                complete: complete == all,
                comparison: Comparison::new(cell.ours, cell.paper),
            }));
            shown.push(cell);
        }
        rows.extend(pair(family.name().replace('_', " "), RowKind::Results, &shown));
    }
    let overall = means.iter().map(|families| {
        let complete: Vec<_> = families.iter().flatten().collect();
        if complete.len() < families.len() {
            let missing = format!("{} of {}", complete.len(), families.len());
            return Shown { ours: None, paper: None, missing };
        }
        let paper: Option<Vec<MeanStddev>> = complete.iter().map(|(_, paper)| *paper).collect();
        let ours: Vec<MeanStddev> = complete.iter().map(|(ours, _)| *ours).collect();
        Shown {
            ours: Some(MeanStddev::of_means(&ours)),
            paper: paper.map(|of| MeanStddev::of_means(&of)),
            missing: String::new(),
        }
    });
    let overall: Vec<Shown> = overall.collect();
    for (column, cell) in results.columns.iter().zip(&overall) {
        records.push(record(&Record {
            family: "overall",
            model: &column.label,
            algorithms: cell.ours.map_or(0, |_| clrs30::algorithms().len()),
            algorithms_of_family: clrs30::algorithms().len(),
            complete: cell.ours.is_some(),
            comparison: Comparison::new(cell.ours, cell.paper),
        }));
    }
    rows.extend(pair("overall".into(), RowKind::Total, &overall));
    let mut notes = notes(results, Metric::Test, &[]);
    let cells = || rows.iter().flat_map(|row| &row.cells);
    if cells().all(|cell| cell.text.is_empty()) {
        rows.clear();
        notes = vec!["No family is complete: a family has a mean only if all its algorithms have all their runs.".into()];
    } else if cells().any(|cell| !cell.missing.is_empty()) {
        let note = "A family has a mean only if all its algorithms have all their runs; other cells have the number of complete \
                    algorithms (overall: of complete families).";
        notes.insert(0, note.into());
    }
    let caption = "Mean test score (%) over the algorithms of each family, and over the eight families (the paper's table 2). ± is the \
                   standard deviation of the mean over seeds, from those of its algorithms; the paper prints a spread over algorithms \
                   there.";
    let caption = format!("{caption} {DEVIATION}");
    let title = "Test scores by family";
    Table { name: "families", title, caption, header: header("family", results), rows, notes, records }
}
