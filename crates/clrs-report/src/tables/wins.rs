//! Wins, ties and losses.

use serde::Serialize;

use super::table::{Row, RowKind, Table, TextCell, record};
use crate::paper::{PaperModel, PaperTable};
use crate::results::{Column, Metric, Results};
use crate::stats::MeanStddev;
use crate::win_tie_loss::{WinTieLoss, win_tie_loss};

#[derive(Serialize)]
struct Record<'r> {
    model: &'r str,
    algorithms: usize,
    wins: usize,
    ties: usize,
    losses: usize,
    paper_wins: Option<usize>,
    paper_ties: Option<usize>,
    paper_losses: Option<usize>,
}

pub(super) fn table(results: &Results<'_>) -> Table {
    let entrants = entrants(results);
    let mut rows: Vec<(usize, Vec<MeanStddev>)> = Vec::new();
    for algorithm in 0..results.algorithms.len() {
        let entries = entrants.iter().map(|column| results.entry(Metric::Test, algorithm, column));
        let values: Option<Vec<MeanStddev>> =
            entries.map(|entry| entry.value.filter(|value| entry.is_complete && value.stddev.is_some())).collect();
        rows.extend(values.map(|values| (algorithm, values)));
    }
    let (algorithms, values): (Vec<usize>, Vec<Vec<MeanStddev>>) = rows.into_iter().unzip();
    let counts = win_tie_loss(&values);
    let paper = paper_counts(results, &algorithms);
    let mut notes = Vec::new();
    let shown = if values.is_empty() || entrants.len() < 2 { &[][..] } else { &entrants[..] };
    let (count, all) = (algorithms.len(), results.algorithms.len());
    if shown.is_empty() {
        notes.push("No counts: they need two models with at least two seeds each, all of them complete, on an algorithm.".into());
    } else if count < all {
        notes.push(format!(
            "Over the {count} of {all} algorithms on which every model has all its runs, and at least two; the paper's counts are \
             over the same ones."
        ));
    }
    if entrants.len() < results.columns.len() {
        let names: Vec<&str> = entrants.iter().map(|column| column.label.as_str()).collect();
        notes.push(format!(
            "Of variants of one model, the one with the higher mean validation score takes part: {}.",
            names.join(", ")
        ));
    }
    let (mut text_rows, mut records) = (Vec::new(), Vec::new());
    for (column, count) in shown.iter().zip(&counts) {
        let paper = column.paper.map(|model| paper[PaperModel::ALL.iter().position(|of| *of == model).unwrap_or(0)]);
        let paper = paper.filter(|_| is_in_paper(results, &algorithms));
        text_rows.push(Row { label: column.label.clone(), kind: RowKind::Results, cells: cells(*count, paper) });
        records.push(record(&Record {
            model: &column.label,
            algorithms: algorithms.len(),
            wins: count.wins,
            ties: count.ties,
            losses: count.losses,
            paper_wins: paper.map(|of| of.wins),
            paper_ties: paper.map(|of| of.ties),
            paper_losses: paper.map(|of| of.losses),
        }));
    }
    Table {
        name: "win-tie-loss",
        title: "Wins, ties and losses",
        caption:
            "Number of algorithms on which a model wins, ties and loses on the test set. It loses if the mean of another model \
                  minus its standard deviation is above its own mean, wins if all others lose, and ties otherwise: the rule that \
                  gives the paper's counts from the paper's scores. The paper compares its five models."
                .into(),
        header: ["model", "win", "tie", "loss", "paper"].map(String::from).to_vec(),
        rows: text_rows,
        notes,
        records,
    }
}

fn cells(count: WinTieLoss, paper: Option<WinTieLoss>) -> Vec<TextCell> {
    let paper = paper.map(|of| format!("{} / {} / {}", of.wins, of.ties, of.losses)).unwrap_or_default();
    let counts = [count.wins, count.ties, count.losses].map(|of| of.to_string());
    counts.into_iter().chain([paper]).map(TextCell::value).collect()
}

/// The columns that are compared: all, but only one of the variants of a model of the paper.
fn entrants<'c>(results: &'c Results<'_>) -> Vec<&'c Column> {
    let validation = |column: &Column| {
        let best = |algorithm: usize| {
            let cells = column.models.iter().map(|&model| results.cell(algorithm, model));
            cells.filter_map(|cell| cell.selection).map(|group| group.value.mean).reduce(f64::max)
        };
        let means: Vec<f64> = (0..results.algorithms.len()).filter_map(best).collect();
        // Those that validate on more algorithms first: means over few are not comparable.
        (means.len(), if means.is_empty() { 0.0 } else { means.iter().sum::<f64>() / means.len() as f64 })
    };
    let mut entrants: Vec<&Column> = Vec::new();
    for column in &results.columns {
        match entrants.iter().position(|other| results.are_variants(other, column)) {
            Some(index) if validation(column) > validation(entrants[index]) => entrants[index] = column,
            Some(_) => {}
            None => entrants.push(column),
        }
    }
    entrants
}

fn is_in_paper(results: &Results<'_>, algorithms: &[usize]) -> bool {
    algorithms.iter().all(|&index| PaperModel::Mpnn.result(PaperTable::Test, &results.algorithms[index].name).is_some())
}

/// The paper's counts over algorithms.
fn paper_counts(results: &Results<'_>, algorithms: &[usize]) -> Vec<WinTieLoss> {
    let row = |&index: &usize| -> Option<Vec<MeanStddev>> {
        let name = &results.algorithms[index].name;
        PaperModel::ALL.iter().map(|model| model.result(PaperTable::Test, name).map(Into::into)).collect()
    };
    let rows: Vec<Vec<MeanStddev>> = algorithms.iter().filter_map(row).collect();
    if rows.is_empty() { vec![WinTieLoss::default(); PaperModel::ALL.len()] } else { win_tie_loss(&rows) }
}
