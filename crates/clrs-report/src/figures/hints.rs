//! Hint accuracy along the steps of a trajectory.

use clrs::score::HintScore;
use clrs::{Kind, Registry};
use clrs_nn::eval::evaluate::Steps;
use serde::Serialize;

use super::figure::Figure;
use super::lines::{Line, Source, from_zero, panels};
use crate::results::{Results, test};
use crate::stats::MeanStddev;
use crate::tables::record;

/// Name of its files.
pub(super) const NAME: &str = "hint-accuracy";

#[derive(Serialize)]
struct Record<'r> {
    algorithm: &'r str,
    model: &'r str,
    hint: &'r str,
    step: usize,
    runs: usize,
    mean: f64,
    stddev: Option<f64>,
}

pub(super) fn figure(results: &Results<'_>) -> Figure {
    let mut records = Vec::new();
    let (panels, legend) = panels(results, from_zero, &mut |&Source { algorithm, model, ref runs }| {
        let discrete = discrete_hints(algorithm)?;
        let of_run: Vec<Vec<&HintScore>> = runs
            .iter()
            .filter(|run| run.is_done())
            .filter_map(|run| test(run, algorithm, Steps::Oracle))
            .map(|of| of.hints.iter().filter(|hint| discrete.contains(&hint.name)).collect::<Vec<_>>())
            .filter(|hints| !hints.is_empty())
            .collect();
        let runs = of_run.len();
        // Runs of one model predict the same hints at the same steps of the same set.
        let first = of_run.first()?;
        for hint in first {
            for (index, over_seeds) in over_runs(&of_run, |of| of.name == hint.name) {
                let (hint, MeanStddev { mean, stddev }) = (hint.name.as_str(), over_seeds);
                records.push(record(&Record { algorithm, model, hint, step: index, runs, mean, stddev }));
            }
        }
        Some(Line { points: over_runs(&of_run, |_| true), runs })
    });
    Figure {
        name: NAME,
        title: "Hint accuracy along the trajectory",
        caption: "Mean score (%) of the predicted hints at each step of the algorithm, on the test set with the true number of steps: \
                  mean over the hints other than scalars, over seeds, and one standard deviation up and down. The data has every hint."
            .into(),
        x_label: "step of the algorithm",
        y_label: "hint score (%)",
        panels,
        records,
        legend,
    }
}

/// Names of hints whose score is one from 0 to 1: scalars have an error instead. `None` for algorithms of other crates.
fn discrete_hints(algorithm: &str) -> Option<Vec<String>> {
    let algorithm = Registry::builtin().find(algorithm).ok()?;
    let discrete = algorithm.spec().iter().filter(|probe| probe.kind != Kind::Scalar);
    Some(discrete.map(|probe| probe.name.to_string()).collect())
}

/// The mean over the chosen hints at every step, over runs. Step 0 is given.
fn over_runs(of_run: &[Vec<&HintScore>], is_chosen: impl Fn(&HintScore) -> bool) -> Vec<(usize, MeanStddev)> {
    let chosen: Vec<Vec<&HintScore>> =
        of_run.iter().map(|hints| hints.iter().copied().filter(|hint| is_chosen(hint)).collect()).collect();
    let steps = chosen.iter().flatten().map(|hint| hint.per_step.len()).min().unwrap_or(0);
    let at = |step: usize| {
        let mean = |hints: &Vec<&HintScore>| hints.iter().map(|of| of.per_step[step]).sum::<f64>() / hints.len() as f64;
        let values: Vec<f64> = chosen.iter().filter(|hints| !hints.is_empty()).map(mean).collect();
        (step + 1, MeanStddev::new(&values))
    };
    (0..steps).map(at).collect()
}
