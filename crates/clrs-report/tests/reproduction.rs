//! The table of figure 3 in docs/reproduction.md is generated from `results/`.
//!
//! `UPDATE_DOCS=1 cargo test -p clrs-report --release --test reproduction` rewrites it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clrs_report::archive;
use clrs_report::paper::{PaperModel, PaperResult, PaperTable};
use clrs_report::results::{Entry, Metric, Results};

const MARKERS: [&str; 2] = ["<!-- generated: figure 3 -->", "<!-- end generated -->"];

#[test]
fn the_table_of_figure_3_agrees_with_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs/reproduction.md");
    // A packaged crate comes without the repository's docs.
    if !path.exists() {
        return;
    }
    let runs = archive::read(&root.join("results/paper-2022-figure-3.jsonl")).expect("the recorded runs");
    let text = fs::read_to_string(&path).expect("docs/reproduction.md");
    let (before, rest) = text.split_once(MARKERS[0]).expect("the first marker");
    let (_, after) = rest.split_once(MARKERS[1]).expect("the last marker");
    let expected = format!("{before}{}\n\n{}\n{}{after}", MARKERS[0], table(&Results::new(&runs)), MARKERS[1]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, expected).expect("docs/reproduction.md is writable");
        return;
    }
    let command = "UPDATE_DOCS=1 cargo test -p clrs-report --release --test reproduction";
    assert!(text == expected, "docs/reproduction.md is out of date; {command}");
}

/// A row per algorithm and baseline; of several variants, the one with the highest validation score.
fn table(results: &Results<'_>) -> String {
    let mut rows = String::new();
    let (mut cells, mut reached) = (0, 0);
    for (index, algorithm) in results.algorithms.iter().enumerate() {
        for (position, model) in PaperModel::ALL.into_iter().enumerate() {
            let columns = results.columns.iter().filter(|column| column.paper == Some(model));
            let variants = columns.map(|column| {
                (results.entry(Metric::Test, index, column), results.entry(Metric::Validation, index, column))
            });
            let validation = |(_, entry): &(Entry, Entry)| entry.value.map_or(f64::NEG_INFINITY, |value| value.mean);
            let best = variants.max_by(|a, b| validation(a).total_cmp(&validation(b)));
            let paper = |table| model.result(table, &algorithm.name).expect("a result of the paper");
            let [test, val] = [PaperTable::Test, PaperTable::Validation].map(paper);
            let name = if position == 0 { format!("`{}`", algorithm.name) } else { String::new() };
            cells += 1;
            let Some((score, validation)) = best.filter(|(score, _)| score.value.is_some()) else {
                writeln!(rows, "| {name} | {} | - | - | {} | - | {} | |", model.name(), percent(test), percent(val)).expect("text");
                continue;
            };
            let is_reached = score.value.is_some_and(|ours| ours.mean >= test.mean - tolerance(test));
            reached += usize::from(is_reached);
            let processor = score.processor.as_deref().expect("a run");
            writeln!(
                rows,
                "| {name} | {} (`{processor}`) | {} | {} | {} | {} | {} | {} |",
                model.name(),
                score.runs,
                ours(&score),
                percent(test),
                ours(&validation),
                percent(val),
                if is_reached { "yes" } else { "**no**" },
            )
            .expect("text");
        }
    }
    format!(
        "{reached} of {cells} cells are within two of the paper's deviations (plus three points where its deviation is below one) or \
         above them.\n\n| algorithm | network | runs | score | paper | validation | paper | reached |\n|---|---|--:|--:|--:|--:|--:|---|\n{rows}"
    )
}

/// Two of the paper's deviations, and three points for the spread of seeds where its deviation is below one point.
fn tolerance(paper: PaperResult) -> f64 {
    2.0 * paper.stddev + if paper.stddev < 0.01 { 0.03 } else { 0.0 }
}

fn percent(PaperResult { mean, stddev, .. }: PaperResult) -> String {
    format!("{:.2} ± {:.2}", 100.0 * mean, 100.0 * stddev)
}

fn ours(entry: &Entry) -> String {
    entry.value.map_or("-".into(), |value| {
        let deviation = value.stddev.map(|stddev| format!(" ± {:.1}", 100.0 * stddev));
        format!("{:.1}{}", 100.0 * value.mean, deviation.unwrap_or_default())
    })
}
