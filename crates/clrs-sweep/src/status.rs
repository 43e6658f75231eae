//! How far the runs of a sweep are, from their directories alone.

use std::path::{Path, PathBuf};

use clrs_nn::run::directory::{is_run, read_recipe};
use clrs_nn::run::status::{BestValidation, RunStatus, Status};
use serde::Serialize;

use crate::plan::{Plan, PlannedRun};
use crate::worker::WorkError;

/// State of a run in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// Not started.
    Planned,
    /// Waiting in the queue of a cluster.
    Queued,
    /// A process trains or evaluates it.
    Running,
    /// Stopped or killed before its end; the next execution resumes it.
    Stopped,
    /// Trained, but not evaluated.
    Trained,
    /// Trained and evaluated.
    Complete,
    /// Ended by an error.
    Failed,
}

impl State {
    /// All states, in the order in which a run passes through them.
    pub const ALL: [State; 7] =
        [State::Planned, State::Queued, State::Running, State::Stopped, State::Trained, State::Complete, State::Failed];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            State::Planned => "planned",
            State::Queued => "queued",
            State::Running => "running",
            State::Stopped => "stopped",
            State::Trained => "trained",
            State::Complete => "complete",
            State::Failed => "failed",
        }
    }
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunProgress {
    /// Task number.
    pub task: usize,
    /// Its id.
    pub id: String,
    /// Its directory, relative to that of the sweep.
    #[serde(serialize_with = "clrs_store::lossy_path")]
    pub folder: PathBuf,
    /// Its state.
    pub state: State,
    /// Training steps taken.
    pub step: usize,
    /// Training steps of the recipe.
    pub steps: usize,
    /// The best validation.
    pub best: Option<BestValidation>,
    /// Why it failed.
    pub error: Option<String>,
    /// Seconds since 1970 at which it last reported.
    pub updated: Option<u64>,
    /// The array task of a cluster that last had it, and the state of that.
    pub job: Option<String>,
    /// The last lines of that task's log, if the run failed.
    pub log_tail: Option<String>,
}

impl RunProgress {
    fn read(directory: &Path, task: usize, run: &PlannedRun) -> RunProgress {
        let folder = directory.join(&run.folder);
        let mut progress = RunProgress {
            task,
            id: run.id.clone(),
            folder: run.folder.clone(),
            state: State::Planned,
            step: 0,
            steps: run.recipe.steps,
            best: None,
            error: None,
            updated: None,
            job: None,
            log_tail: None,
        };
        let failed = |error: String, progress: RunProgress| RunProgress { state: State::Failed, error: Some(error), ..progress };
        let status = match RunStatus::read(&folder) {
            Ok(Some(status)) => status,
            // Another process is just starting it.
            Ok(None) if RunStatus::is_locked(&folder) => return RunProgress { state: State::Running, ..progress },
            Ok(None) => return progress,
            Err(error) => return failed(error.to_string(), progress),
        };
        (progress.step, progress.best, progress.updated) = (status.step, status.best, Some(status.updated));
        if status.step > 0 && !is_run(&folder) {
            return failed(WorkError::NoRecipe(run.folder.clone()).to_string(), progress);
        }
        progress.error = status.error;
        progress.state = match status.status {
            Status::Running => State::Running,
            Status::Failed => State::Failed,
            Status::Done => match run.eval.missing(&folder, &run.recipe) {
                Ok(missing) if missing.is_empty() => State::Complete,
                Ok(_) if RunStatus::is_locked(&folder) => State::Running,
                Ok(_) if progress.error.is_some() => State::Failed,
                Ok(_) => State::Trained,
                Err(error) => return failed(error.to_string(), progress),
            },
            // Stopped, or just being resumed.
            _ if RunStatus::is_locked(&folder) => State::Running,
            _ if status.step == 0 && !is_run(&folder) => State::Planned,
            _ => State::Stopped,
        };
        if is_run(&folder) && read_recipe(&folder).is_ok_and(|recipe| recipe != run.recipe) {
            return failed("the directory contains a run of another recipe".into(), progress);
        }
        progress
    }

    /// The floating-point operations of a run that are left.
    pub fn flops_left(&self, run: &PlannedRun) -> f64 {
        match self.state {
            State::Complete => 0.0,
            _ => run.flops - run.flops_at(self.step),
        }
    }
}

/// Reads how far every run is.
pub fn read(directory: &Path, plan: &Plan) -> Vec<RunProgress> {
    plan.runs.iter().enumerate().map(|(task, run)| RunProgress::read(directory, task, run)).collect()
}

/// Number of runs in a state.
pub fn count(progress: &[RunProgress], state: State) -> usize {
    progress.iter().filter(|run| run.state == state).count()
}
