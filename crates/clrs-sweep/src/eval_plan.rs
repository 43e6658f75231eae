//! What a finished run is evaluated on.

use std::path::Path;

use clrs::clrs30::{self, Split};
use clrs_nn::Recipe;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;
use clrs_nn::eval::stored::{self, StoredEval};
use clrs_nn::run::error::RunError;
use serde::{Deserialize, Serialize};

/// What a finished run is evaluated on: the table `eval` of a sweep file.
///
/// A run is evaluated on the benchmark's test set of each of its algorithms, and on new samples of `sizes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EvalPlan {
    /// Checkpoints: `best`, `last`.
    pub checkpoints: Vec<CheckpointName>,
    /// Numbers of steps: `oracle`, `max`, `fixpoint`.
    pub steps: Vec<Steps>,
    /// Sizes of new samples, which only the best checkpoint is evaluated on.
    pub sizes: Vec<usize>,
    /// Number of new samples of each size; without it, as many as the benchmark's test set has: 32 for most algorithms, up to 2048.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// Whether hints are scored, too.
    pub hints: bool,
}

/// A checkpoint of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "as in `Checkpoint`")]
pub enum CheckpointName {
    Best,
    Last,
}

impl CheckpointName {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            CheckpointName::Best => "best",
            CheckpointName::Last => "last",
        }
    }
}

impl Default for EvalPlan {
    fn default() -> EvalPlan {
        EvalPlan {
            checkpoints: vec![CheckpointName::Best, CheckpointName::Last],
            steps: vec![Steps::Oracle, Steps::Fixpoint],
            sizes: Vec::new(),
            count: None,
            hints: false,
        }
    }
}

/// One evaluation of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvalTask {
    /// The checkpoint.
    pub checkpoint: CheckpointName,
    /// The algorithm.
    pub algorithm: String,
    /// The set.
    pub set: EvalSet,
    /// How many steps the network takes.
    pub steps: Steps,
    /// Whether hints are scored.
    pub hints: bool,
}

impl EvalPlan {
    /// All evaluations of a run, by checkpoint. Algorithms outside the benchmark have no test set.
    pub fn tasks(&self, recipe: &Recipe) -> Vec<EvalTask> {
        let data = DataSource::Benchmark(recipe.data.version().unwrap_or_default());
        let mut tasks = Vec::new();
        for &checkpoint in &self.checkpoints {
            for algorithm in &recipe.algorithms {
                let in_benchmark = clrs30::algorithms().find(|of| of.name() == algorithm);
                let test = in_benchmark.map(|_| EvalSet::fixed(data.clone(), Split::Test));
                let options = in_benchmark.map(|of| recipe.data.sampler_options(of)).unwrap_or_default();
                let sizes: &[usize] = if checkpoint == CheckpointName::Best { &self.sizes } else { &[] };
                let of_size = |&size: &usize| EvalSet::sampled_count(size, self.count).or_options(&options);
                for set in test.into_iter().chain(sizes.iter().map(of_size)) {
                    tasks.extend(self.steps.iter().map(|&steps| EvalTask {
                        checkpoint,
                        algorithm: algorithm.clone(),
                        set: set.clone(),
                        steps,
                        hints: self.hints,
                    }));
                }
            }
        }
        let mut distinct: Vec<EvalTask> = Vec::with_capacity(tasks.len());
        for task in tasks {
            if !distinct.contains(&task) {
                distinct.push(task);
            }
        }
        distinct
    }

    /// The evaluations that a run lacks.
    ///
    /// # Errors
    /// If the run directory cannot be read.
    pub fn missing(&self, run: &Path, recipe: &Recipe) -> Result<Vec<EvalTask>, RunError> {
        let mut tasks = self.tasks(recipe);
        if tasks.is_empty() {
            return Ok(tasks);
        }
        let stored: Vec<StoredEval> = stored::read_all(run)?.into_iter().flatten().collect();
        let is_stored = |task: &EvalTask| {
            stored.iter().any(|stored| {
                stored.checkpoint == task.checkpoint.name()
                    && stored.algorithm == task.algorithm
                    && stored.set == task.set
                    && stored.report.steps == task.steps
                    && (stored.report.hints.is_some() || !task.hints)
            })
        };
        tasks.retain(|task| !is_stored(task));
        Ok(tasks)
    }
}
