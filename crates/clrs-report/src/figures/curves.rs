//! Validation curves: score by training step.

use std::fmt::Write;

use clrs_nn::run::metrics::ValidationCurve;
use serde::Serialize;

use super::figure::Figure;
use super::lines::{Line, Source, from_zero, panels};
use crate::results::Results;
use crate::runs::ReportRun;
use crate::stats::MeanStddev;
use crate::tables::record;

/// Name of its files.
pub(super) const NAME: &str = "validation-curves";

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    model: &'r str,
    step: usize,
    runs: usize,
    mean: f64,
    stddev: Option<f64>,
}

pub(super) fn figure(results: &Results<'_>) -> Figure {
    let (mut records, mut is_unfinished) = (Vec::new(), false);
    let (panels, legend) = panels(results, from_zero, &mut |&Source { algorithm, model, ref runs }| {
        let (curves, is_done) = curves(runs, algorithm);
        let (points, runs) = (points(&curves), curves.len());
        is_unfinished |= !is_done && runs > 0;
        records.extend(
            points
                .iter()
                .map(|&(step, MeanStddev { mean, stddev })| record(&Record { algorithm, model, step, runs, mean, stddev })),
        );
        Some(Line { points, runs: if is_done { runs } else { 0 } })
    });
    let mut caption =
        "Score (%) on the validation samples during training: mean over seeds, and one standard deviation up and down."
            .to_owned();
    if results.done() < results.runs.len() {
        caption += " Runs that have not finished are left out where others have.";
    }
    if is_unfinished {
        caption += " Where none has finished, lines end at the last step that all of them have reached.";
    }
    let absent = results.algorithms.len() - panels.len();
    if absent > 0 {
        let _ = write!(caption, " {absent} of {} algorithms have no validation yet.", results.algorithms.len());
    }
    Figure {
        name: NAME,
        title: "Validation curves",
        caption,
        x_label: "training steps",
        y_label: "validation score (%)",
        panels,
        records,
        legend,
    }
}

/// The curves of the runs that have finished, or of all if none has.
fn curves<'r>(runs: &[&'r ReportRun], algorithm: &str) -> (Vec<&'r ValidationCurve>, bool) {
    let curve = |run: &&'r ReportRun| run.curves.iter().find(|curve| curve.algorithm == algorithm);
    let done: Vec<_> = runs.iter().filter(|run| run.is_done()).filter_map(curve).collect();
    if done.is_empty() { (runs.iter().filter_map(curve).collect(), false) } else { (done, true) }
}

/// Means over runs at the steps that all have.
fn points(curves: &[&ValidationCurve]) -> Vec<(usize, MeanStddev)> {
    let Some((first, others)) = curves.split_first() else { return Vec::new() };
    let at = |curve: &ValidationCurve, step: usize| {
        let index = curve.points.binary_search_by_key(&step, |point| point.step).ok()?;
        Some(curve.points[index].score)
    };
    let point = |step: usize, score: f64| {
        let others: Option<Vec<f64>> = others.iter().map(|curve| at(curve, step)).collect();
        others.map(|others| (step, MeanStddev::new(&[&[score], others.as_slice()].concat())))
    };
    first.points.iter().filter_map(|of| point(of.step, of.score)).collect()
}
