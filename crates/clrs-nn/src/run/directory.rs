//! The directory of a training run.
//!
//! - `config.toml`: the complete recipe.
//! - `metrics.jsonl`: a line per step and algorithm (`loss`, `grad_norm`) and per validation (`val`, `validity`, `exact_match`).
//! - `events.out.tfevents.STEP.clrs`: the same values for `TensorBoard`; a resumed run starts another file.
//! - `last.safetensors`: parameters, optimizer and recurrent state; a run resumes from it.
//! - `best.safetensors`: parameters of the best validation.
//! - `status.json`: whether the run is running, stopped, done or failed, and how far it is.
//! - `provenance.json`: program, arguments and machine.
//! - `evals/`: results of evaluations ([`stored`](crate::eval::stored)).
//! - `lock`: held by the process that trains.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clrs_store::{OnExisting, open_regular, read_regular, write_atomic_durable};
use serde_json::{Value, json};

use super::checkpoint::{CheckpointContext, CheckpointFile, OptimizerState, RecurrentStates, RunState};
use super::error::{RunError, at};
use super::machine::Machine;
use super::status::{FILE as STATUS, LOCK, RunStatus, Status};
use super::tensorboard::EventFile;
use crate::config::recipe::Recipe;
use crate::exec::parameters::Parameters;

/// A run directory, locked by this process.
pub struct RunDir {
    lock: RunLock,
    metrics: File,
    events: EventFile,
}

/// A lock on a run directory, released when dropped: no other process trains in it.
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

/// File names.
const CONFIG: &str = "config.toml";
pub(super) const METRICS: &str = "metrics.jsonl";
const PROVENANCE: &str = "provenance.json";
/// The last checkpoint of a run.
pub const LAST: &str = "last.safetensors";
/// The checkpoint of the best validation.
pub const BEST: &str = "best.safetensors";

/// Largest recipe or provenance that is read.
const MAX_CONFIG: u64 = 1 << 20;

impl RunDir {
    /// Checks that a new run in a directory would overwrite nothing. Creates and changes nothing.
    ///
    /// # Errors
    /// [`RunError::Exists`] if it contains a run, [`RunError::Occupied`] if it contains a file that a run would overwrite.
    pub fn ensure_free(path: &Path) -> Result<(), RunError> {
        if path.join(CONFIG).symlink_metadata().is_ok() {
            return Err(RunError::Exists(path.into()));
        }
        // A run of ours that was killed before its first checkpoint was complete.
        if RunStatus::read(path).is_ok_and(|status| status.is_some_and(|status| status.step == 0)) {
            return Ok(());
        }
        // Files that the run would overwrite.
        for name in [LAST, BEST, METRICS, PROVENANCE, STATUS, &events_name(0)] {
            let file = path.join(name);
            if file.symlink_metadata().is_ok_and(|existing| !existing.is_file() || existing.len() > 0) {
                return Err(RunError::Occupied(file));
            }
        }
        Ok(())
    }

    /// Starts a new run. The directory counts as a run once it has a recipe, which is written after the first checkpoint. The
    /// machine is added to an object of provenance.
    ///
    /// # Errors
    /// Those of [`RunDir::ensure_free`]; [`RunError::InUse`] if another process trains in it; or if it cannot be written.
    pub fn create(path: &Path, provenance: &Value) -> Result<RunDir, RunError> {
        // Before the lock, so that a directory of other files is left as it is, and after it, in case of a concurrent start.
        RunDir::ensure_free(path)?;
        RunDir::create_locked(RunLock::create(path)?, provenance)
    }

    /// [`RunDir::create`] in a directory that is locked already.
    ///
    /// # Errors
    /// Those of [`RunDir::ensure_free`], or if the directory cannot be written.
    pub fn create_locked(lock: RunLock, provenance: &Value) -> Result<RunDir, RunError> {
        let path = lock.path();
        RunDir::ensure_free(path)?;
        RunStatus::new(Status::Running, RunState::default(), 0, None).write(path)?;
        let metrics_path = path.join(METRICS);
        let metrics = File::create(&metrics_path).map_err(at(&metrics_path))?;
        let mut provenance = provenance.clone();
        if let Value::Object(fields) = &mut provenance {
            fields.insert("machine".into(), json!(Machine::detect()));
        }
        let text = serde_json::to_string_pretty(&provenance).expect("JSON") + "\n";
        write_atomic_durable(&path.join(PROVENANCE), OnExisting::Replace, text.as_bytes())?;
        RunDir::with(lock, metrics, 0)
    }

    /// Reopens a run to resume from a step. Metrics of later steps are dropped.
    ///
    /// # Errors
    /// If the metrics cannot be read or written.
    pub fn open(lock: RunLock, step: usize) -> Result<RunDir, RunError> {
        let path = lock.path.join(METRICS);
        let metrics = metrics_until(&path, step)?;
        write_atomic_durable(&path, OnExisting::Replace, metrics.as_bytes()).map_err(at_step(step))?;
        let metrics = OpenOptions::new().append(true).open(&path).map_err(at(&path))?;
        RunDir::with(lock, metrics, step)
    }

    fn with(lock: RunLock, metrics: File, step: usize) -> Result<RunDir, RunError> {
        let path = lock.path.join(events_name(step));
        let events = EventFile::create(&path).map_err(at(&path))?;
        Ok(RunDir { lock, metrics, events })
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.lock.path
    }

    /// Ends logging and keeps the directory locked.
    pub fn into_lock(self) -> RunLock {
        self.lock
    }

    /// Writes the recipe. It is written after the first checkpoint, so a directory with a recipe can be resumed.
    pub(crate) fn save_recipe(&self, recipe: &Recipe) -> Result<(), RunError> {
        Ok(write_atomic_durable(&self.path().join(CONFIG), OnExisting::Replace, recipe.to_toml().as_bytes())?)
    }

    /// Appends metrics of a step and an algorithm.
    pub fn log_metrics(&mut self, step: usize, algorithm: &str, metrics: &[(&str, f64)]) -> Result<(), RunError> {
        let mut line = json!({"step": step, "algorithm": algorithm});
        for &(name, value) in metrics {
            line[name] = json!(value);
        }
        let path = self.path().join(METRICS);
        self.metrics.write_all(format!("{line}\n").as_bytes()).map_err(at(&path))?;
        let scalars = metrics.iter().map(|&(name, value)| (format!("{algorithm}/{name}"), value));
        self.events.write(step, scalars).map_err(at(self.events.path()))
    }

    /// Writes everything that a run needs to resume.
    pub(crate) fn save_last(
        &self,
        parameters: &Parameters,
        context: &CheckpointContext<'_>,
        optimizer: &OptimizerState,
        recurrent: &RecurrentStates,
    ) -> Result<(), RunError> {
        self.save(LAST, &CheckpointFile::new(parameters, context).with_optimizer(parameters, optimizer, recurrent))
    }

    /// Writes the parameters of the best validation.
    pub(crate) fn save_best(&self, parameters: &Parameters, context: &CheckpointContext<'_>) -> Result<(), RunError> {
        self.save(BEST, &CheckpointFile::new(parameters, context))
    }

    fn save(&self, name: &str, checkpoint: &CheckpointFile) -> Result<(), RunError> {
        let bytes = checkpoint.to_bytes();
        let written = write_atomic_durable(&self.path().join(name), OnExisting::Replace, &bytes);
        written.map_err(at_step(checkpoint.state().step))
    }

    /// Writes the status.
    pub(crate) fn save_status(
        &self,
        status: Status,
        state: RunState,
        steps: usize,
        error: Option<String>,
    ) -> Result<(), RunError> {
        RunStatus::new(status, state, steps, error).write(self.path())
    }
}

/// Name of the event file of a run that starts or resumes at a step.
fn events_name(step: usize) -> String {
    format!("events.out.tfevents.{step:010}.clrs")
}

/// Whether a directory contains a run.
pub fn is_run(path: &Path) -> bool {
    path.join(CONFIG).exists()
}

/// Reads the recipe of a run.
///
/// # Errors
/// If the directory contains no run, or its recipe cannot be read.
pub fn read_recipe(run: &Path) -> Result<Recipe, RunError> {
    let path = run.join(CONFIG);
    if !is_run(run) {
        return Err(RunError::NoRun(run.into()));
    }
    let bytes = read_regular(&path, MAX_CONFIG)?;
    let text = String::from_utf8(bytes).map_err(|error| at(&path)(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    Recipe::parse(&text, &[]).map_err(|source| RunError::Recipe { path, source })
}

/// Reads what a run was started with: program, arguments and machine. `None` if the directory has no such file.
///
/// # Errors
/// If the file cannot be read or is not JSON.
pub fn read_provenance(run: &Path) -> Result<Option<Value>, RunError> {
    let path = run.join(PROVENANCE);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read_regular(&path, MAX_CONFIG)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| at(&path)(error.into()))
}

/// How long a lock may be held by others before it counts as that of a worker.
const PROBE_TIME: Duration = Duration::from_millis(100);

impl RunLock {
    /// Locks a directory.
    ///
    /// # Errors
    /// [`RunError::InUse`] if another process has locked it.
    pub fn acquire(path: &Path) -> Result<RunLock, RunError> {
        let lock = path.join(LOCK);
        // Not truncated: a file of that name may belong to another program.
        let file = OpenOptions::new().create(true).append(true).open(&lock).map_err(at(&lock))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(RunLock { path: path.into(), _file: file }),
                // Whoever reads the status of a run holds its lock for a moment.
                Err(std::fs::TryLockError::WouldBlock) if start.elapsed() < PROBE_TIME => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(RunError::InUse(path.into())),
                Err(std::fs::TryLockError::Error(source)) => return Err(RunError::Io { path: lock, source }),
            }
        }
    }

    /// Locks a directory, which is created if necessary.
    ///
    /// # Errors
    /// If it cannot be created, or another process has locked it.
    pub fn create(path: &Path) -> Result<RunLock, RunError> {
        std::fs::create_dir_all(path).map_err(at(path))?;
        RunLock::acquire(path)
    }

    /// Path of the run.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lines of a file of metrics up to a step. An incomplete last line is dropped.
fn metrics_until(path: &Path, step: usize) -> Result<String, RunError> {
    let mut lines = String::new();
    for line in BufReader::new(open_regular(path)?).lines() {
        let line = line.map_err(at(path))?;
        let logged = serde_json::from_str::<Value>(&line).ok().and_then(|value| value.get("step")?.as_u64());
        if logged.is_some_and(|logged| logged <= step as u64) {
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    Ok(lines)
}

fn at_step(step: usize) -> impl Fn(clrs_store::StoreError) -> RunError {
    move |source| RunError::Write { step, source }
}
