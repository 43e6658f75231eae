//! The status of a run, which other processes read from its directory.

use std::fs::File;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use clrs_store::{OnExisting, read_regular, write_atomic};
use serde::{Deserialize, Serialize};

use super::checkpoint::RunState;
use super::error::RunError;

/// Status of a run, in `status.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// State of the run.
    pub status: Status,
    /// Training steps taken.
    pub step: usize,
    /// Training steps of the recipe.
    pub steps: usize,
    /// Step and score of the best validation.
    pub best: Option<BestValidation>,
    /// Error message, if it failed, or if it is done but cannot be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Seconds since 1970 at which this was written.
    pub updated: u64,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// A process is training.
    Running,
    /// Stopped or killed before its end; can be resumed.
    Stopped,
    /// All steps taken, or early stopping ended the run.
    Done,
    /// Ended by an error; resuming repeats it unless its cause was outside the run.
    Failed,
}

/// The best validation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BestValidation {
    /// Training steps before it.
    pub step: usize,
    /// Mean score over the algorithms, from 0 to 1.
    pub score: f64,
}

/// File name.
pub(super) const FILE: &str = "status.json";
/// The file that a training process locks.
pub(super) const LOCK: &str = "lock";

/// Largest status file that is read.
const MAX_BYTES: u64 = 1 << 16;

impl RunStatus {
    pub(crate) fn new(status: Status, state: RunState, steps: usize, error: Option<String>) -> RunStatus {
        let updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let best = state.best.map(|(step, score)| BestValidation { step, score });
        RunStatus { status, step: state.step, steps, best, error, updated }
    }

    /// Reads the status of a run; `None` if its directory has none. A run that claims to be running but whose lock is free was killed, and
    /// is [`Status::Stopped`].
    ///
    /// # Errors
    /// If the file cannot be read or is not a status.
    pub fn read(run: &Path) -> Result<Option<RunStatus>, RunError> {
        let path = run.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = read_regular(&path, MAX_BYTES)?;
        let mut status: RunStatus = serde_json::from_slice(&bytes).map_err(|_| RunError::Status(path))?;
        if status.status == Status::Running && !RunStatus::is_locked(run) {
            status.status = Status::Stopped;
        }
        Ok(Some(status))
    }

    /// Notes why a trained run cannot be evaluated, or that it can (`None`).
    ///
    /// # Errors
    /// If the status cannot be read or written.
    pub fn set_error(run: &Path, error: Option<String>) -> Result<(), RunError> {
        match RunStatus::read(run)? {
            Some(status) if status.error != error => RunStatus { error, ..status }.write(run),
            _ => Ok(()),
        }
    }

    /// Whether a process trains in a directory, or evaluates its run for a sweep.
    pub fn is_locked(run: &Path) -> bool {
        let Ok(lock) = File::open(run.join(LOCK)) else { return false };
        // A shared lock: two readers at once must not take each other for a training process.
        matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
    }

    pub(crate) fn write(&self, run: &Path) -> Result<(), RunError> {
        let text = serde_json::to_string(self).expect("plain data") + "\n";
        Ok(write_atomic(&run.join(FILE), OnExisting::Replace, text.as_bytes())?)
    }
}
