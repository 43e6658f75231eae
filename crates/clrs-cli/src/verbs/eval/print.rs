//! The tables of an evaluation.

use std::io::{self, Write};

use clrs_report::paper::PaperResult;
use clrs_report::stats::MeanStddev;
use clrs_report::summary::{Average, Summary};

use super::{Evaluated, Run, Task, json};
use crate::table::Table;

pub(super) fn tables(out: &mut impl Write, evaluated: &[Evaluated<'_>]) -> io::Result<()> {
    let mut table = Table::new(&["run", "algorithm", "set", "samples", "steps", "score", "validity", "exact match", "paper"]);
    for (task, report) in evaluated {
        let Task { run: Run { path, .. }, algorithm, set, .. } = task;
        table.row([
            path.display().to_string(),
            algorithm.name().into(),
            set.to_string(),
            report.samples.to_string(),
            format!("{:.1}", report.mean_steps),
            percent(report.metrics.score),
            percent(report.metrics.validity),
            percent(report.metrics.exact_match),
            paper(json::paper(task)),
        ]);
    }
    table.write(out)?;
    hints(out, evaluated)?;
    if evaluated.iter().any(|(task, _)| task.run.path != evaluated[0].0.run.path) {
        summaries(out, &json::summaries(evaluated))?;
    }
    Ok(())
}

/// Scores of hints, if they were asked for: the mean, and at some of the steps.
fn hints(out: &mut impl Write, evaluated: &[Evaluated<'_>]) -> io::Result<()> {
    if evaluated.iter().all(|(_, report)| report.hints.is_none()) {
        return Ok(());
    }
    writeln!(
        out,
        "\nHint scores: the mean over steps, and the first, middle and last step (--json has all); squared error for scalars"
    )?;
    let mut table = Table::new(&["run", "algorithm", "set", "hint", "mean", "first", "middle", "last", "steps"]);
    for (Task { run, algorithm, set, .. }, report) in evaluated {
        for hint in report.hints.iter().flatten() {
            let steps = hint.per_step.len();
            let at = |step: usize| hint.per_step.get(step).map_or("-".into(), |score| format!("{score:.4}"));
            table.row([
                run.path.display().to_string(),
                algorithm.name().into(),
                set.to_string(),
                hint.name.clone(),
                format!("{:.4}", hint.score),
                at(0),
                at(steps / 2),
                at(steps.saturating_sub(1)),
                steps.to_string(),
            ]);
        }
    }
    table.write(out)
}

fn summaries(out: &mut impl Write, summaries: &[Summary]) -> io::Result<()> {
    writeln!(out, "\nOver seeds: mean ± standard deviation (n - 1)")?;
    let mut table = Table::new(&["model", "algorithm", "set", "runs", "score", "validity", "exact match", "paper"]);
    for Summary { model, set, algorithms, .. } in summaries {
        for row in algorithms {
            table.row([
                model.clone(),
                row.algorithm.into(),
                set.clone(),
                row.runs.to_string(),
                mean(row.score),
                mean(row.validity),
                mean(row.exact_match),
                paper(row.paper),
            ]);
        }
    }
    table.write(out)?;
    if summaries.iter().all(|summary| summary.algorithms.len() == 1) {
        return Ok(());
    }
    writeln!(out, "\nMean scores, and the paper's for the same algorithms")?;
    let mut table = Table::new(&["model", "set", "over", "count", "score", "paper"]);
    for Summary { model, set, families, over_families, over_algorithms, .. } in summaries {
        let mut row = |over: String, Average { count, score, paper, .. }: &Average| {
            let paper = paper.map_or("-".into(), percent);
            table.row([model.clone(), set.clone(), over, count.to_string(), percent(*score), paper]);
        };
        for family in families {
            row(family.name.replace('_', " "), family);
        }
        row("all families".into(), over_families);
        row("all algorithms".into(), over_algorithms);
    }
    table.write(out)
}

fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

fn mean(MeanStddev { mean, stddev }: MeanStddev) -> String {
    match stddev {
        Some(stddev) => format!("{} ± {}", percent(mean), percent(stddev)),
        None => percent(mean),
    }
}

fn paper(paper: Option<PaperResult>) -> String {
    paper.map_or("-".into(), |PaperResult { mean, stddev, .. }| format!("{} ± {}", percent(mean), percent(stddev)))
}
