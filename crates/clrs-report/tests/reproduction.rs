//! The table of figure 3 in docs/reproduction.md is generated from `results/`.
//!
//! `UPDATE_DOCS=1 cargo test -p clrs-report --release --test reproduction` rewrites it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clrs_report::archive;
use clrs_report::paper::{PaperModel, PaperResult, PaperTable};
use clrs_report::results::{Group, Results};
use clrs_report::stats::MeanStddev;

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

/// A row per algorithm and network; networks of one baseline share a cell of the paper.
fn table(results: &Results<'_>) -> String {
    let mut rows = String::new();
    let (mut reached, mut by_validation, mut cells) = (0, 0, 0);
    for (index, algorithm) in results.algorithms.iter().enumerate() {
        for (position, baseline) in PaperModel::ALL.into_iter().enumerate() {
            let paper = |table| baseline.result(table, &algorithm.name).expect("a result of the paper");
            let [test, validation] = [PaperTable::Test, PaperTable::Validation].map(paper);
            let is_reached = |score: MeanStddev| score.mean >= test.mean - tolerance(test);
            let variants: Vec<(&str, Group, Group)> = (results.models.iter().enumerate())
                .filter(|(_, model)| model.paper == Some(baseline))
                .filter_map(|(which, model)| {
                    let cell = results.cell(index, which);
                    Some((&*model.processor, cell.score?, cell.validation?))
                })
                .collect();
            let best = |of: fn(&(&str, Group, Group)) -> f64| variants.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
            let counts =
                |best: Option<&(&str, Group, Group)>| usize::from(best.is_some_and(|(_, score, _)| is_reached(score.value)));
            cells += 1;
            reached += counts(best(|(_, score, _)| score.value.mean));
            by_validation += counts(best(|(.., validation)| validation.value.mean));

            let mut algorithm = if position == 0 { format!("`{}`", algorithm.name) } else { String::new() };
            let mut row = |network: &str, ours: [&str; 4]| {
                let [runs, score, validated, verdict] = ours;
                let (test, validation, algorithm) = (percent(test), percent(validation), std::mem::take(&mut algorithm));
                writeln!(
                    rows,
                    "| {algorithm} | {network} | {runs} | {score} | {test} | {validated} | {validation} | {verdict} |"
                )
                .expect("text");
            };
            if variants.is_empty() {
                row(baseline.name(), ["-", "-", "-", ""]);
            }
            for (processor, score, validated) in &variants {
                let network = format!("{} (`{processor}`)", baseline.name());
                let verdict = if is_reached(score.value) { "yes" } else { "**no**" };
                row(&network, [&score.runs.to_string(), &ours(score.value), &ours(validated.value), verdict]);
            }
        }
    }
    format!(
        "{reached} of {cells} cells are within two of the paper's deviations (plus three points where its deviation is below one) or \
         above them,\nif the best of several variants counts; {by_validation} if the variant with the better validation counts.\n\n\
         | algorithm | network | runs | score | paper | validation | paper | reached |\n|---|---|--:|--:|--:|--:|--:|---|\n{rows}"
    )
}

/// Two of the paper's deviations, and three points for the spread of seeds where its deviation is below one point.
fn tolerance(paper: PaperResult) -> f64 {
    2.0 * paper.stddev + if paper.stddev < 0.01 { 0.03 } else { 0.0 }
}

fn percent(PaperResult { mean, stddev, .. }: PaperResult) -> String {
    format!("{:.2} ± {:.2}", 100.0 * mean, 100.0 * stddev)
}

fn ours(value: MeanStddev) -> String {
    let deviation = value.stddev.map(|stddev| format!(" ± {:.1}", 100.0 * stddev));
    format!("{:.1}{}", 100.0 * value.mean, deviation.unwrap_or_default())
}
