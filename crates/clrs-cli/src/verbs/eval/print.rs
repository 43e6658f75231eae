//! Tables of what was judged.

use std::io::{self, Write};

use clrs_nn::evaluate::Report;
use clrs_nn::paper::{Reported, reported};
use clrs_nn::summary::{Average, Spread, Summary, summarise};

use super::{Arguments, Judged, Run, Task, json};
use crate::table::Table;

pub(super) fn all(out: &mut impl Write, judged: &[Judged<'_>], arguments: &Arguments) -> io::Result<()> {
    let mut table = Table::new(&["run", "algorithm", "set", "samples", "steps", "score", "validity", "exactness", "paper"]);
    for (task, report) in judged {
        table.row(row(task, report));
    }
    table.write(out)?;
    if arguments.hints {
        hints(out, judged)?;
    }
    if judged.iter().any(|(task, _)| task.run.folder != judged[0].0.run.folder) {
        summaries(out, &summarise(&json::for_summary(judged)))?;
    }
    Ok(())
}

fn row(task: &Task<'_>, report: &Report) -> [String; 9] {
    let Task { run: Run { folder, trained }, algorithm, set, .. } = task;
    let paper = set.paper_table().and_then(|table| reported(table, algorithm.name(), &trained.recipe.network.processor));
    [
        folder.display().to_string(),
        algorithm.name().into(),
        set.to_string(),
        report.verdicts.len().to_string(),
        format!("{:.1}", report.mean_steps),
        percent(report.outcome.score),
        percent(report.outcome.validity),
        percent(report.outcome.exactness),
        of_paper(paper),
    ]
}

/// Scores of hints: on the whole, and at some of the steps.
fn hints(out: &mut impl Write, judged: &[Judged<'_>]) -> io::Result<()> {
    writeln!(out, "\nHints, the mean over steps, and at steps on the way (--json has them all); of scalars the squared error:")?;
    let mut table = Table::new(&["run", "algorithm", "set", "hint", "mean", "first", "middle", "last", "steps"]);
    for (Task { run, algorithm, set, .. }, report) in judged {
        for hint in &report.hints {
            let steps = hint.per_step.len();
            let at = |step: usize| hint.per_step.get(step).map_or("-".into(), |score| format!("{score:.4}"));
            table.row([
                run.folder.display().to_string(),
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
    writeln!(out, "\nOver seeds, mean ± standard deviation (of a sample: n - 1):")?;
    let mut table = Table::new(&["model", "algorithm", "set", "runs", "score", "validity", "exactness", "paper"]);
    for Summary { model, set, algorithms, .. } in summaries {
        for row in algorithms {
            table.row([
                model.clone(),
                row.algorithm.into(),
                set.clone(),
                row.score.count.to_string(),
                spread(row.score),
                spread(row.validity),
                spread(row.exactness),
                of_paper(row.paper),
            ]);
        }
    }
    table.write(out)?;
    if summaries.iter().all(|summary| summary.algorithms.len() == 1) {
        return Ok(());
    }
    writeln!(out, "\nMeans of scores, and of the paper's for the same algorithms:")?;
    let mut table = Table::new(&["model", "set", "over", "of", "score", "paper"]);
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

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn spread(spread: Spread) -> String {
    match spread.deviation {
        Some(deviation) => format!("{} ± {}", percent(spread.mean), percent(deviation)),
        None => percent(spread.mean),
    }
}

fn of_paper(paper: Option<Reported>) -> String {
    paper.map_or("-".into(), |Reported { mean, deviation }| format!("{} ± {}", percent(mean), percent(deviation)))
}
