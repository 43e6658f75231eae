//! One run of a sweep: train or resume it, then evaluate it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clrs_nn::Registries;
use clrs_nn::data::sets::SetCache;
use clrs_nn::eval::evaluate::EvalOptions;
use clrs_nn::eval::metrics::EvalError;
use clrs_nn::eval::trained::{Checkpoint, OpenModelError, TrainedModel};
use clrs_nn::exec::device::Device;
use clrs_nn::run::directory::{RunDir, RunLock, is_run, read_recipe};
use clrs_nn::run::error::RunError;
use clrs_nn::run::status::{RunStatus, Status};
use clrs_nn::train::plan::{PlanError, TrainPlan};
use clrs_nn::train::trainer::{Event, StopReason, TrainError, Trainer};
use serde_json::json;

use crate::eval_plan::CheckpointName;
use crate::plan::PlannedRun;

/// Exit code of a process whose run was stopped with a checkpoint, so that a scheduler can start it again: `EX_TEMPFAIL`.
pub const STOPPED_EXIT_CODE: u8 = 75;

/// What runs of a sweep have in common.
#[derive(Clone)]
#[non_exhaustive]
pub struct Worker {
    /// Directory of the sweep.
    pub directory: PathBuf,
    /// Algorithms and processors.
    pub registries: Registries,
    /// Sets of the benchmark, shared by the runs of a process.
    pub sets: SetCache,
    /// Where to compute.
    pub device: Device,
}

/// How the execution of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is trained and evaluated.
    Completed,
    /// It was trained and evaluated before.
    AlreadyComplete,
    /// The event handler stopped it. It can be resumed.
    Stopped,
    /// Another process executes it.
    InUse,
}

/// What happens in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// Training starts or resumes after a step.
    Started {
        /// Steps taken before.
        step: usize,
    },
    /// A training step ended.
    Step {
        /// Its number.
        step: usize,
        /// Mean loss over the algorithms.
        loss: f64,
    },
    /// A part of a validation or an evaluation ended.
    Working,
    /// A validation ended.
    Validated {
        /// Its mean score.
        score: f64,
    },
    /// An evaluation of the trained network ended.
    Evaluated {
        /// Evaluations that are done.
        done: usize,
        /// All evaluations.
        total: usize,
    },
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum WorkError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Open(#[from] OpenModelError),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error("{}: contains a run of another recipe than planned; move it away, and the planned run starts anew", .0.display())]
    OtherRecipe(PathBuf),
    #[error("{}: has files of a run, but no config.toml; move it away, and the planned run starts anew", .0.display())]
    NoRecipe(PathBuf),
}

impl Worker {
    /// A worker with the built-in algorithms and processors.
    pub fn new(directory: &Path, device: Device) -> Worker {
        Worker { directory: directory.into(), registries: Registries::builtin(), sets: SetCache::default(), device }
    }

    /// Trains and evaluates a run, from where it is. Does nothing if it is complete, or if another process executes it.
    ///
    /// # Errors
    /// If it cannot be trained or evaluated, or its directory cannot be written.
    pub fn execute(&self, run: &PlannedRun, on_event: &mut dyn FnMut(RunEvent) -> ControlFlow<()>) -> Result<Outcome, WorkError> {
        match self.try_execute(run, on_event) {
            Err(WorkError::Run(RunError::InUse(_))) => Ok(Outcome::InUse),
            Err(WorkError::Run(RunError::Occupied(_))) => Err(WorkError::NoRecipe(self.directory.join(&run.folder))),
            outcome => outcome,
        }
    }

    fn try_execute(&self, run: &PlannedRun, on_event: &mut dyn FnMut(RunEvent) -> ControlFlow<()>) -> Result<Outcome, WorkError> {
        let folder = self.directory.join(&run.folder);
        // Complete runs may be on a file system that cannot be written.
        if is_trained(run, &folder)? && run.eval.missing(&folder, &run.recipe)?.is_empty() {
            return Ok(Outcome::AlreadyComplete);
        }
        // One lock from here to the end: another process must not begin between training and evaluation.
        let mut lock = RunLock::create(&folder)?;
        if !is_trained(run, &folder)? {
            let (reason, kept) = self.train(run, lock, on_event)?;
            if reason == StopReason::Stopped {
                return Ok(Outcome::Stopped);
            }
            lock = kept;
        }
        let outcome = self.evaluate(run, lock.path(), on_event);
        let error = outcome.as_ref().err().map(ToString::to_string);
        RunStatus::set_error(&folder, error)?;
        outcome
    }

    fn train(
        &self,
        run: &PlannedRun,
        lock: RunLock,
        on_event: &mut dyn FnMut(RunEvent) -> ControlFlow<()>,
    ) -> Result<(StopReason, RunLock), WorkError> {
        let plan = TrainPlan::new(run.recipe.clone(), &self.registries)?.with_sets(&self.sets);
        let mut trainer = Trainer::new(plan, &self.device)?;
        let mut directory = if is_run(lock.path()) {
            trainer.resume(lock.path())?;
            RunDir::open(lock, trainer.state().step)?
        } else {
            RunDir::create_locked(lock, &provenance(run))?
        };
        if on_event(RunEvent::Started { step: trainer.state().step }).is_break() && trainer.state().step > 0 {
            return Ok((StopReason::Stopped, directory.into_lock()));
        }
        let reason = trainer.run(&mut directory, &mut |event| match event {
            Event::Step(report) => on_event(RunEvent::Step { step: report.step, loss: report.loss() }),
            Event::Validation { report, .. } => on_event(RunEvent::Validated { score: report.score }),
            _ => on_event(RunEvent::Working),
        });
        Ok((reason?, directory.into_lock()))
    }

    /// Evaluates what is missing. An evaluation that fails does not stop the others.
    fn evaluate(
        &self,
        run: &PlannedRun,
        folder: &Path,
        on_event: &mut dyn FnMut(RunEvent) -> ControlFlow<()>,
    ) -> Result<Outcome, WorkError> {
        let missing = run.eval.missing(folder, &run.recipe)?;
        let (total, mut done, mut failed) = (missing.len(), 0, None);
        for checkpoint in [CheckpointName::Best, CheckpointName::Last] {
            let tasks: Vec<_> = missing.iter().filter(|task| task.checkpoint == checkpoint).collect();
            if tasks.is_empty() {
                continue;
            }
            let file = match checkpoint {
                CheckpointName::Best => Checkpoint::Best,
                CheckpointName::Last => Checkpoint::Last,
            };
            let model = TrainedModel::open_with(folder, &file, &self.registries, &self.device)?.with_sets(&self.sets);
            for task in tasks {
                let options = EvalOptions::default().steps(task.steps).hints(task.hints);
                let report = model.evaluate(&task.algorithm, &task.set, &options, &mut |_| on_event(RunEvent::Working));
                match report {
                    Err(EvalError::Stopped) => return Ok(Outcome::Stopped),
                    Err(error) => failed = failed.or(Some(error)),
                    Ok(report) => model.store(&task.algorithm, &task.set, &report)?,
                }
                done += 1;
                if on_event(RunEvent::Evaluated { done, total }).is_break() && done < total {
                    return Ok(Outcome::Stopped);
                }
            }
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(Outcome::Completed),
        }
    }
}

/// Whether a directory contains the run, with all its training steps.
fn is_trained(run: &PlannedRun, folder: &Path) -> Result<bool, WorkError> {
    if !is_run(folder) {
        return Ok(false);
    }
    if read_recipe(folder)? != run.recipe {
        return Err(WorkError::OtherRecipe(folder.into()));
    }
    Ok(RunStatus::read(folder)?.is_some_and(|status| status.status == Status::Done))
}

/// Contents of `provenance.json`.
fn provenance(run: &PlannedRun) -> serde_json::Value {
    let variable = |name: &str| std::env::var(name).ok();
    json!({
        "program": concat!("clrs ", env!("CARGO_PKG_VERSION")),
        "sweep_run": run.id,
        "slurm_job": variable("SLURM_JOB_ID"),
        "host": variable("SLURMD_NODENAME").or_else(|| variable("HOSTNAME")),
        "started_at": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    })
}
