//! Metrics by problem size, a figure each.

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

/// A metric of the best checkpoint on new samples of each size.
pub(super) struct BySize {
    /// Name of its files.
    pub(super) name: &'static str,
    title: &'static str,
    y_label: &'static str,
    /// What is shown, with the number of steps.
    caption: &'static str,
    steps: Steps,
    value: fn(&Evaluation) -> f64,
}

/// All figures by size.
pub(super) const FIGURES: [BySize; 4] = [
    BySize {
        name: "score-by-size",
        title: "Score by size",
        y_label: "score (%)",
        caption: "Score (%), with the true number of steps",
        steps: Steps::Oracle,
        value: |of| of.score,
    },
    BySize {
        name: "fixpoint-by-size",
        title: "Score by size without the true number of steps",
        y_label: "score (%)",
        caption: "Score (%) of networks that stop by themselves, once their predictions repeat",
        steps: Steps::Fixpoint,
        value: |of| of.score,
    },
    BySize {
        name: "validity-by-size",
        title: "Validity by size",
        y_label: "validity (%)",
        caption: "Samples with a correct answer (%), with the true number of steps",
        steps: Steps::Oracle,
        value: |of| of.validity,
    },
    BySize {
        name: "exact-match-by-size",
        title: "Exact match by size",
        y_label: "exact match (%)",
        caption: "Samples with the algorithm's answer (%), with the true number of steps",
        steps: Steps::Oracle,
        value: |of| of.exact_match,
    },
];

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    model: &'r str,
    size: usize,
    runs: usize,
    mean: f64,
    stddev: Option<f64>,
}

impl BySize {
    pub(super) fn figure(&self, results: &Results<'_>) -> Figure {
        let mut records = Vec::new();
        let (panels, legend) = panels(results, Axis::sizes, &mut |&Source { algorithm, model, ref runs }| {
            let by_size = self.by_size(runs, algorithm);
            let mut points = Vec::new();
            for (&size, values) in &by_size {
                let over_seeds = MeanStddev::new(values);
                let MeanStddev { mean, stddev } = over_seeds;
                records.push(record(&Record { algorithm, model, size, runs: values.len(), mean, stddev }));
                points.push((size, over_seeds));
            }
            Some(Line { points, runs: by_size.values().map(Vec::len).min()? })
        });
        Figure {
            name: self.name,
            title: self.title,
            caption: format!(
                "{}: best checkpoint on new samples of each size, mean over seeds, and one standard deviation up and down. Sizes are \
                 on a logarithmic axis.",
                self.caption
            ),
            x_label: "size",
            y_label: self.y_label,
            panels,
            records,
            legend,
        }
    }

    /// Values of finished runs by size. Of several sets of a size, the first counts.
    fn by_size(&self, runs: &[&ReportRun], algorithm: &str) -> BTreeMap<usize, Vec<f64>> {
        let mut by_size: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.is_done()) {
            let mut seen = BTreeSet::new();
            let is_shown = |of: &&Evaluation| of.algorithm == algorithm && of.checkpoint == "best" && of.steps == self.steps;
            for evaluation in run.evaluations.iter().filter(is_shown) {
                if let EvalSet::Sampled { size, .. } = evaluation.set
                    && seen.insert(size)
                {
                    by_size.entry(size).or_default().push((self.value)(evaluation));
                }
            }
        }
        by_size
    }
}
