//! What `--json` and `--examples` say; `docs/json.md` describes it.

use std::fmt::Write;

use anyhow::Result;
use clrs::score::HintScore;
use clrs::{Cells, Column, Stage, Trajectories};
use clrs_nn::evaluate::{Outcome, Report};
use clrs_nn::paper::{Reported, reported};
use clrs_nn::set::JudgedSet;
use clrs_nn::summary::{self, Average, Spread, Summary, summarise};
use serde_json::{Map, Value, json};

use super::{Arguments, Judged, Run, Task};

pub(super) fn all(judged: &[Judged<'_>], arguments: &Arguments) -> Value {
    let results: Vec<Value> = judged.iter().map(|(task, report)| result(task, report, arguments)).collect();
    let summaries: Vec<Value> = summarise(&for_summary(judged)).iter().map(of_summary).collect();
    json!({ "results": results, "summaries": summaries })
}

pub(super) fn for_summary<'j>(judged: &'j [Judged<'_>]) -> Vec<summary::Judged<'j>> {
    let one = |(task, report): &'j Judged<'_>| summary::Judged {
        recipe: &task.run.trained.recipe,
        algorithm: task.algorithm,
        set: &task.set,
        outcome: &report.outcome,
    };
    judged.iter().map(one).collect()
}

/// A line per sample.
pub(super) fn examples(task: &Task<'_>, runs: &Trajectories, report: &Report, lines: &mut String) -> Result<()> {
    let outputs: Vec<&str> = runs.spec().iter().filter(|probe| probe.stage == Stage::Output).map(|probe| &*probe.name).collect();
    let named = |cells: &[Cells<'_>]| -> Map<String, Value> {
        outputs.iter().zip(cells).map(|(name, cells)| ((*name).to_string(), json!(cells))).collect()
    };
    for (index, (run, (predicted, verdict))) in runs.iter().zip(report.predicted.iter().zip(&report.verdicts)).enumerate() {
        let predicted: Vec<Cells<'_>> = predicted.iter().map(Column::cells).collect();
        let line = json!({
            "run": task.run.folder, "algorithm": task.algorithm.name(), "set": task.set.to_string(), "index": index,
            "nodes": run.nodes(), "steps": run.steps(),
            "predicted": named(&predicted),
            "truth": named(&run.stage(Stage::Output)),
            "valid": verdict.failure.is_none(), "wrong": verdict.failure, "exact": verdict.exact_match,
        });
        writeln!(lines, "{line}")?;
    }
    Ok(())
}

fn result(task: &Task<'_>, report: &Report, arguments: &Arguments) -> Value {
    let Task { run: Run { folder, trained }, algorithm, set, .. } = task;
    let Outcome { outputs, score, validity, exactness } = &report.outcome;
    let outputs: Map<String, Value> = outputs.iter().map(|(name, score)| (name.clone(), json!(score))).collect();
    let paper = set.paper_table().and_then(|table| reported(table, algorithm.name(), &trained.recipe.network.processor));
    let mut result = json!({
        "run": folder, "checkpoint": arguments.checkpoint, "step": trained.step,
        "processor": trained.recipe.network.processor, "seed": trained.recipe.seed,
        "algorithm": algorithm.name(), "family": algorithm.family(), "set": of_set(set),
        "samples": report.verdicts.len(), "steps": arguments.steps.steps().name(), "mean_steps": report.mean_steps,
        "score": score, "outputs": outputs, "validity": validity, "exactness": exactness, "paper": of_paper(paper),
    });
    if arguments.hints {
        result["hints"] = report.hints.iter().map(of_hint).collect();
    }
    result
}

fn of_set(set: &JudgedSet) -> Value {
    match set {
        JudgedSet::Fixed { data, split } => json!({ "name": set.to_string(), "data": data, "split": split }),
        JudgedSet::Drawn { size, seed, options, .. } => {
            let options: Map<String, Value> = options.iter().map(|(name, value)| (name.into(), json!(value))).collect();
            json!({ "name": set.to_string(), "size": size, "seed": seed, "options": options })
        }
    }
}

fn of_hint(hint: &HintScore) -> Value {
    json!({ "name": hint.name, "score": hint.score, "along_time": hint.per_step })
}

fn of_paper(paper: Option<Reported>) -> Value {
    paper.map_or(Value::Null, |paper| json!({ "mean": paper.mean, "deviation": paper.deviation }))
}

fn of_summary(summary: &Summary) -> Value {
    let algorithms = summary.algorithms.iter().map(|row| {
        json!({
            "algorithm": row.algorithm, "family": row.family, "runs": row.score.count, "score": of_spread(row.score),
            "validity": of_spread(row.validity), "exactness": of_spread(row.exactness), "paper": of_paper(row.paper),
        })
    });
    json!({
        "model": summary.model, "set": summary.set, "algorithms": algorithms.collect::<Vec<_>>(),
        "families": summary.families.iter().map(of_average).collect::<Vec<_>>(),
        "over_families": of_average(&summary.over_families), "over_algorithms": of_average(&summary.over_algorithms),
    })
}

fn of_spread(spread: Spread) -> Value {
    json!({ "mean": spread.mean, "deviation": spread.deviation })
}

fn of_average(average: &Average) -> Value {
    json!({ "name": average.name, "count": average.count, "score": average.score, "paper": average.paper })
}
