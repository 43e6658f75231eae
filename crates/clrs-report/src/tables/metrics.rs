//! Every metric of every model and algorithm.

use clrs::Family;
use serde::Serialize;

use super::table::{Row, RowKind, Table, TextCell, missing_runs, percent, record};
use crate::results::{Group, Results};

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    family: Option<Family>,
    model: &'r str,
    processor: &'r str,
    known_runs: usize,
    metric: &'static str,
    runs: usize,
    mean: Option<f64>,
    stddev: Option<f64>,
}

pub(super) fn table(results: &Results<'_>) -> Table {
    let (mut rows, mut records) = (Vec::new(), Vec::new());
    for (index, algorithm) in results.algorithms.iter().enumerate() {
        let mut kind = RowKind::Results;
        for (number, model) in results.models.iter().enumerate() {
            let cell = results.cell(index, number);
            let known = cell.runs.len();
            if known == 0 {
                continue;
            }
            let metrics = [
                ("score", cell.score),
                ("fixpoint_score", cell.fixpoint),
                ("validity", cell.validity),
                ("exact_match", cell.exact_match),
                ("validation_score", cell.validation),
            ];
            let text = |(_, group): &(&str, Option<Group>)| {
                // What no run has was not evaluated, unless nothing was.
                let Some(group) = group.or_else(|| cell.score.is_none().then_some(Group::EMPTY)) else {
                    return TextCell::value("–".into());
                };
                let value = if group.runs > 0 { percent(group.value) } else { String::new() };
                TextCell::value(value).marked(missing_runs(group.runs, known))
            };
            let cells = std::iter::once(TextCell::value(model.label.clone())).chain(metrics.iter().map(text)).collect();
            rows.push(Row { label: algorithm.name.clone(), kind, cells });
            kind = RowKind::Continued;
            records.extend(metrics.map(|(metric, group)| {
                record(&Record {
                    algorithm: &algorithm.name,
                    family: algorithm.family,
                    model: &model.label,
                    processor: &model.processor,
                    known_runs: known,
                    metric,
                    runs: group.map_or(0, |group| group.runs),
                    mean: group.map(|group| group.value.mean),
                    stddev: group.and_then(|group| group.value.stddev),
                })
            }));
        }
    }
    Table {
        name: "metrics",
        title: "Validity, exact match, and scores without the true number of steps",
        caption: "On the test set, in %: the score with the true number of steps, as papers report it; the score when the network stops \
                  by itself, once its predictions repeat, without the information that the true number of steps gives; validity, the \
                  share of samples with a correct answer, whether or not it is the algorithm's; and exact match, the share with the \
                  algorithm's answer. Last, the score of the best validation. Mean ± standard deviation over seeds."
            .into(),
        header: ["algorithm", "model", "score", "fixpoint", "validity", "exact match", "validation"].map(String::from).to_vec(),
        rows,
        notes: Vec::new(),
        records,
    }
}
