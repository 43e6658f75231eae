//! The report of `--json`, which docs/json.md describes.

use std::path::Path;

use clrs::Family;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::EvalReport;
use clrs_report::paper::{PaperResult, paper_result};
use clrs_report::summary::{RunMetrics, Summary, paper_table, summarize};
use clrs_store::lossy_path;
use serde::Serialize;

use super::{Arguments, Evaluated, Run, Task};

#[derive(Serialize)]
pub(super) struct Report<'r> {
    results: Vec<TaskReport<'r>>,
    summaries: Vec<Summary>,
}

#[derive(Serialize)]
struct TaskReport<'r> {
    #[serde(serialize_with = "lossy_path")]
    run: &'r Path,
    checkpoint: String,
    /// Training steps before the checkpoint.
    step: usize,
    processor: &'r str,
    seed: u32,
    algorithm: &'static str,
    family: Family,
    set: Set<'r>,
    #[serde(flatten)]
    report: &'r EvalReport,
    paper: Option<PaperResult>,
}

#[derive(Serialize)]
struct Set<'r> {
    name: String,
    #[serde(flatten)]
    set: &'r EvalSet,
}

impl<'r> Report<'r> {
    pub(super) fn new(evaluated: &'r [Evaluated<'r>], arguments: &Arguments) -> Report<'r> {
        let results = evaluated.iter().map(|(task, report)| {
            let Task { run: Run { path, model }, algorithm, set, .. } = task;
            TaskReport {
                run: path,
                checkpoint: arguments.checkpoint.to_string(),
                step: model.step,
                processor: &model.recipe.model.processor,
                seed: model.recipe.seed,
                algorithm: algorithm.name(),
                family: algorithm.family(),
                set: Set { name: set.to_string(), set },
                report,
                paper: paper(task),
            }
        });
        Report { results: results.collect(), summaries: summaries(evaluated) }
    }
}

/// The paper's result for the same algorithm, processor and split.
pub(super) fn paper(task: &Task<'_>) -> Option<PaperResult> {
    paper_result(paper_table(&task.set)?, task.algorithm.name(), &task.run.model.recipe.model.processor)
}

pub(super) fn summaries(evaluated: &[Evaluated<'_>]) -> Vec<Summary> {
    let metrics = evaluated.iter().map(|(task, report)| RunMetrics {
        recipe: &task.run.model.recipe,
        algorithm: task.algorithm,
        set: &task.set,
        metrics: &report.metrics,
    });
    summarize(&metrics.collect::<Vec<_>>())
}
