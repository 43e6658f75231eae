//! Results beside the paper's, as rows of tables.

use serde::Serialize;

use super::table::{Row, RowKind, TextCell, missing_runs, percent, sigmas};
use crate::paper::PaperModel;
use crate::results::{Column, Entry, Metric, Results};
use crate::stats::MeanStddev;

/// A result beside the paper's.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Comparison {
    mean: Option<f64>,
    stddev: Option<f64>,
    paper_mean: Option<f64>,
    paper_stddev: Option<f64>,
    difference: Option<f64>,
    difference_in_stddevs: Option<f64>,
}

impl Comparison {
    pub(super) fn new(ours: Option<MeanStddev>, paper: Option<MeanStddev>) -> Comparison {
        Comparison {
            mean: ours.map(|ours| ours.mean),
            stddev: ours.and_then(|ours| ours.stddev),
            paper_mean: paper.map(|paper| paper.mean),
            paper_stddev: paper.and_then(|paper| paper.stddev),
            difference: ours.zip(paper).map(|(ours, paper)| ours.mean - paper.mean),
            difference_in_stddevs: ours.zip(paper).and_then(|(ours, paper)| ours.difference_in_stddevs(paper)),
        }
    }
}

/// What the columns of all tables of scores mean.
pub(super) const DEVIATION: &str = "Differences to the paper are in σ, the root of the sum of both variances over seeds (n - 1); a single run has \
                         none.";

/// A result and the paper's, as they are shown.
pub(super) struct Shown {
    pub(super) ours: Option<MeanStddev>,
    pub(super) paper: Option<MeanStddev>,
    /// What is missing.
    pub(super) missing: String,
}

impl Shown {
    pub(super) fn entry(entry: &Entry) -> Shown {
        let missing = match (entry.value, entry.is_complete) {
            (Some(_), false) if entry.runs == entry.known => "not all models".into(),
            _ => missing_runs(entry.runs, entry.known),
        };
        Shown { ours: entry.value, paper: entry.paper.map(Into::into), missing }
    }
}

/// A row of results and one of the paper's, if it has any.
pub(super) fn pair(label: String, kind: RowKind, shown: &[Shown]) -> Vec<Row> {
    let means: Vec<f64> = shown.iter().filter_map(|of| of.ours).map(|of| of.mean).collect();
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // What is best is known when nothing is missing.
    let is_decided = means.len() > 1 && shown.iter().all(|of| of.missing.is_empty());
    let is_best = |of: &Shown| is_decided && of.ours.is_some_and(|ours| ours.mean == best);
    let ours = |of: &Shown| TextCell {
        text: of.ours.map(percent).unwrap_or_default(),
        is_best: is_best(of),
        missing: of.missing.clone(),
    };
    let mut rows = vec![Row { label, kind, cells: shown.iter().map(ours).collect() }];
    if shown.iter().any(|of| of.ours.is_some() && of.paper.is_some()) {
        let paper = |of: &Shown| {
            let Some(paper) = of.paper.filter(|_| of.ours.is_some()) else { return TextCell::default() };
            let difference = of.ours.and_then(|ours| ours.difference_in_stddevs(paper));
            let difference = difference.map(|of| format!(" ({})", sigmas(of))).unwrap_or_default();
            TextCell::value(percent(paper) + &difference)
        };
        rows.push(Row { label: "paper".into(), kind: RowKind::Paper, cells: shown.iter().map(paper).collect() });
    }
    rows
}

/// Means of a column and of the paper over algorithms that it has.
pub(super) fn over(results: &Results<'_>, metric: Metric, column: &Column, algorithms: &[usize]) -> Shown {
    let entries: Vec<Entry> = algorithms.iter().map(|&index| results.entry(metric, index, column)).collect();
    let ours: Option<Vec<MeanStddev>> = entries.iter().map(|entry| entry.value).collect();
    let paper: Option<Vec<MeanStddev>> = entries.iter().map(|entry| entry.paper.map(Into::into)).collect();
    let of_means = |of: Vec<MeanStddev>| MeanStddev::of_means(&of);
    Shown { ours: ours.map(of_means), paper: paper.map(of_means), missing: String::new() }
}

pub(super) fn header(first: &str, results: &Results<'_>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(results.columns.iter().map(|column| column.label.clone())).collect()
}

/// What the columns are, as far as it applies.
pub(super) fn notes(results: &Results<'_>, metric: Metric, shared: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    for column in results.columns.iter().filter(|column| column.models.len() > 1) {
        let chosen = |name: &str| {
            let entries = (0..results.algorithms.len()).map(|index| results.entry(metric, index, column));
            entries.filter(|entry| entry.value.is_some() && entry.processor.as_deref() == Some(name)).count()
        };
        let models: Vec<&str> = column.models.iter().map(|&model| results.models[model].processor.as_str()).collect();
        let counts: Vec<String> = models.iter().map(|name| format!("{name} on {}", chosen(name))).collect();
        notes.push(format!(
            "{}: of {}, the one with the highest mean validation score on each algorithm, as in the paper ({}).",
            column.label,
            models.join(" and "),
            counts.join(", ")
        ));
    }
    for (model, variants) in [(PaperModel::Memnet, "memnet_full or memnet_masked"), (PaperModel::Pgn, "pgn or pgn_mask")] {
        if results.columns.iter().any(|column| column.paper == Some(model)) {
            notes.push(format!("{}: the paper does not specify whether it evaluated {variants}.", model.name()));
        }
    }
    let (count, all) = (shared.len(), results.algorithms.len());
    if count > 1 && count < all {
        notes.push(format!("The last mean is over the {count} of {all} algorithms that every column has completely."));
    }
    notes
}
