//! Runs as reports read them: recipe, state, evaluations, validation curves, and what could not be read.

use std::path::{Path, PathBuf};

use clrs::score::HintScore;
use clrs_nn::Recipe;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;
use clrs_nn::eval::stored::{self, StoredEval};
use clrs_nn::run::directory::{read_provenance, read_recipe};
use clrs_nn::run::error::RunError;
use clrs_nn::run::metrics::{ValidationCurve, read_curves};
use clrs_nn::run::status::{RunStatus, Status};
use serde::{Deserialize, Serialize};

use crate::provenance::Provenance;

/// A run, planned or started.
///
/// ```
/// use clrs_nn::Recipe;
/// use clrs_report::runs::{ReportRun, RunState};
///
/// // A run of a plan that has not started has no directory yet.
/// let planned = Recipe { algorithms: vec!["bfs".into()], ..Recipe::default() };
/// let run = ReportRun::read("runs/bfs-1".as_ref(), Some(planned))?;
/// assert_eq!(run.state, RunState::NotStarted);
/// # Ok::<(), clrs_nn::run::error::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportRun {
    /// Its directory.
    #[serde(serialize_with = "clrs_store::lossy_path")]
    pub folder: PathBuf,
    /// How far it is.
    pub state: RunState,
    /// Training steps before the best validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_step: Option<usize>,
    /// Evaluations of its checkpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<Evaluation>,
    /// Validations by algorithm.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::archive::curves")]
    pub curves: Vec<ValidationCurve>,
    /// What it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Files that were left out, a line each: what is wrong, and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// How it is trained.
    pub recipe: Recipe,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// Planned only.
    NotStarted,
    /// Running, or stopped before its end.
    Unfinished {
        /// Training steps taken.
        step: usize,
        /// Training steps of the recipe.
        steps: usize,
    },
    /// Ended by an error.
    Failed {
        /// Training steps taken.
        step: usize,
        /// The error.
        error: String,
    },
    /// Complete.
    Done,
}

/// An evaluation of a checkpoint on a set. Metrics are from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The algorithm.
    pub algorithm: String,
    /// `best` or `last`.
    pub checkpoint: String,
    /// The set.
    pub set: EvalSet,
    /// How many steps the network took.
    pub steps: Steps,
    /// Mean score over the outputs.
    pub score: f64,
    /// Share of correct answers.
    pub validity: f64,
    /// Share of answers that equal the reference's.
    pub exact_match: f64,
    /// Scores of hints at every step, if evaluated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<HintScore>,
}

impl From<StoredEval> for Evaluation {
    fn from(stored: StoredEval) -> Evaluation {
        let report = stored.report;
        Evaluation {
            algorithm: stored.algorithm,
            checkpoint: stored.checkpoint,
            set: stored.set,
            steps: report.steps,
            score: report.metrics.score,
            validity: report.metrics.validity,
            exact_match: report.metrics.exact_match,
            hints: report.hints.unwrap_or_default(),
        }
    }
}

impl ReportRun {
    /// A run of which nothing but the recipe is known.
    pub fn planned(folder: &Path, recipe: Recipe) -> ReportRun {
        ReportRun {
            folder: folder.into(),
            recipe,
            state: RunState::NotStarted,
            evaluations: Vec::new(),
            curves: Vec::new(),
            best_step: None,
            provenance: None,
            problems: Vec::new(),
        }
    }

    /// Reads the directory of a run. Damaged files other than the recipe are noted in [`problems`](ReportRun::problems) and left out.
    ///
    /// # Errors
    /// If no run is planned, and there is none or its recipe cannot be read.
    pub fn read(folder: &Path, planned: Option<Recipe>) -> Result<ReportRun, RunError> {
        let recipe = match (read_recipe(folder), planned) {
            (Ok(recipe), Some(planned)) if recipe != planned => {
                let mut run = ReportRun::planned(folder, planned);
                let folder = folder.display();
                run.problems.push(format!(
                    "{folder}: was trained with another recipe than the plan has, and counts as missing; move it away and run it again"
                ));
                return Ok(run);
            }
            (Ok(recipe), _) => recipe,
            (Err(RunError::NoRun(_)), Some(planned)) => return Ok(ReportRun::planned(folder, planned)),
            (Err(error), Some(planned)) => {
                let mut run = ReportRun::planned(folder, planned);
                run.problems.push(format!("{error}; the run counts as missing"));
                return Ok(run);
            }
            (Err(error), None) => return Err(error),
        };
        let mut run = ReportRun::planned(folder, recipe);
        run.state = RunState::Unfinished { step: 0, steps: run.recipe.steps };
        if let Some(status) = run.noting("counts as unfinished", RunStatus::read(folder)).flatten() {
            run.best_step = status.best.map(|best| best.step);
            run.state = match status.status {
                Status::Done => RunState::Done,
                Status::Failed => RunState::Failed { step: status.step, error: status.error.unwrap_or_default() },
                _ => RunState::Unfinished { step: status.step, steps: status.steps },
            };
        }
        run.curves = run.noting("left out of validation curves", read_curves(folder)).unwrap_or_default();
        if run.is_done() && !run.has_complete_curves() {
            let metrics = folder.join("metrics.jsonl");
            run.problems.push(format!("{}: lacks validations of the run; left out of validation curves", metrics.display()));
            run.curves.clear();
        }
        for stored in run.noting("its evaluations are left out", stored::read_all(folder)).unwrap_or_default() {
            match stored {
                Ok(stored) => run.evaluations.push(stored.into()),
                // The error has the way out.
                Err(error) => run.problems.push(error.to_string()),
            }
        }
        let provenance = run.noting("ignored", read_provenance(folder)).flatten();
        run.provenance = provenance.as_ref().map(Provenance::new);
        Ok(run)
    }

    /// Whether all its training steps are taken.
    pub fn is_done(&self) -> bool {
        self.state == RunState::Done
    }

    /// Whether the validations reach from the first to the last one, for every algorithm. Early stopping ends a run with a validation.
    fn has_complete_curves(&self) -> bool {
        let Some(status) = RunStatus::read(&self.folder).ok().flatten() else { return false };
        let every = self.recipe.eval_every.max(1);
        let is_complete = |curve: &ValidationCurve| {
            let steps = curve.points.iter().map(|point| point.step);
            steps.clone().next_back().is_some_and(|last| last + every > status.step) && steps.count() >= status.step / every
        };
        self.curves.len() == self.recipe.algorithms.len() && self.curves.iter().all(is_complete)
    }

    /// Notes an error and what follows from it.
    fn noting<T>(&mut self, consequence: &str, result: Result<T, RunError>) -> Option<T> {
        result.map_err(|error| self.problems.push(format!("{error}; {consequence}"))).ok()
    }
}
