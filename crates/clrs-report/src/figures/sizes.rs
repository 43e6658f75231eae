//! Score by problem size.

use std::collections::{BTreeMap, BTreeSet};

use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;
use serde::Serialize;

use super::axis::Axis;
use super::figure::Figure;
use super::lines::{Line, Source, panels};
use crate::results::Results;
use crate::runs::{Evaluation, ReportRun};
use crate::stats::MeanStddev;
use crate::tables::record;

/// Name of its files.
pub(super) const NAME: &str = "score-by-size";

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    model: &'r str,
    size: usize,
    runs: usize,
    mean: f64,
    stddev: Option<f64>,
}

pub(super) fn figure(results: &Results<'_>) -> Figure {
    let mut records = Vec::new();
    let (panels, legend) = panels(results, Axis::sizes, &mut |&Source { algorithm, model, ref runs }| {
        let by_size = by_size(runs, algorithm);
        let mut points = Vec::new();
        for (&size, scores) in &by_size {
            let over_seeds = MeanStddev::new(scores);
            let MeanStddev { mean, stddev } = over_seeds;
            records.push(record(&Record { algorithm, model, size, runs: scores.len(), mean, stddev }));
            points.push((size, over_seeds));
        }
        Some(Line { points, runs: by_size.values().map(Vec::len).min()? })
    });
    Figure {
        name: NAME,
        title: "Score by size",
        caption: "Score (%) of the best checkpoint on new samples of each size, with the true number of steps: mean over seeds, and one \
                  standard deviation up and down. Sizes are on a logarithmic axis."
            .into(),
        x_label: "size",
        y_label: "score (%)",
        panels,
        records,
        legend,
    }
}

/// Scores of finished runs by size. Of several sets of a size, the first counts.
fn by_size(runs: &[&ReportRun], algorithm: &str) -> BTreeMap<usize, Vec<f64>> {
    let mut by_size: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_done()) {
        let mut seen = BTreeSet::new();
        let is_shown = |of: &&Evaluation| of.algorithm == algorithm && of.checkpoint == "best" && of.steps == Steps::Oracle;
        for evaluation in run.evaluations.iter().filter(is_shown) {
            if let EvalSet::Sampled { size, .. } = evaluation.set
                && seen.insert(size)
            {
                by_size.entry(size).or_default().push(evaluation.score);
            }
        }
    }
    by_size
}
