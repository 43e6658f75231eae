//! A table: typed rows, and the same results as records.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::stats::MeanStddev;

/// A table: rows as they are printed, and the same results as records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// Name of its files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it shows, in a sentence or two.
    pub caption: String,
    /// Names of the columns, the first of which is that of row labels.
    pub header: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
    /// What a reader must know about this table in particular.
    pub notes: Vec<String>,
    /// Results with their full precision, one record per number. Shares are from 0 to 1.
    pub records: Vec<Map<String, Value>>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Its label.
    pub label: String,
    /// What it is.
    pub kind: RowKind,
    /// Cells after the label.
    pub cells: Vec<TextCell>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowKind {
    /// Results.
    Results,
    /// The paper's results beside those of the row above.
    Paper,
    /// Results over all rows above.
    Total,
    /// Results that continue the group of the row above, with the same label.
    Continued,
}

/// A cell as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextCell {
    /// The value; empty if there is none.
    pub text: String,
    /// Whether it is the best of its row.
    pub is_best: bool,
    /// What is missing: `1 of 3 runs`.
    pub missing: String,
}

impl TextCell {
    pub(super) fn value(text: String) -> TextCell {
        TextCell { text, ..TextCell::default() }
    }

    /// `missing`, if it is not empty, marks the value as incomplete.
    pub(super) fn marked(self, missing: String) -> TextCell {
        TextCell { missing, ..self }
    }
}

/// `98.63 ± 0.38`; without a deviation for a single run.
pub(super) fn percent(MeanStddev { mean, stddev }: MeanStddev) -> String {
    let stddev = stddev.map(|stddev| format!(" ± {:.2}", 100.0 * stddev)).unwrap_or_default();
    format!("{:.2}{stddev}", 100.0 * mean)
}

/// `+1.3 σ`.
pub(super) fn sigmas(difference: f64) -> String {
    // Not -0.0.
    format!("{:+.1} σ", (10.0 * difference).round() / 10.0 + 0.0)
}

/// `2 of 3 runs`, if that is not all of them.
pub(super) fn missing_runs(runs: usize, known: usize) -> String {
    if runs == known { String::new() } else { format!("{runs} of {known} runs") }
}

/// A record of a table's results.
pub(crate) fn record(fields: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("records are structs of plain values"),
    }
}
