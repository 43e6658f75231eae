//! Evaluations that are kept in a run directory, so that reports need not repeat them.
//!
//! A file `evals/ALGORITHM.SET.STEPS.CHECKPOINT.json` holds the metrics of one evaluation. It is valid for one checkpoint: after more
//! training, it is out of date and gets replaced by the next evaluation.

use std::path::{Path, PathBuf};

use clrs_store::{OnExisting, create_directory, read_regular, write_atomic};
use serde::{Deserialize, Serialize};

use super::evaluate::{EvalOptions, EvalReport, Steps};
use super::trained::{Checkpoint, Origin, TrainedModel};
use crate::config::data_source::DataSource;
use crate::data::eval_set::EvalSet;
use crate::run::checkpoint::fingerprint;
use crate::run::directory::read_recipe;
use crate::run::error::RunError;
use crate::run::status::RunStatus;

/// An evaluation that is kept in a run directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredEval {
    format: u32,
    /// Program that evaluated, with its version.
    pub program: String,
    /// Fingerprint of the run's recipe.
    pub recipe: String,
    /// The checkpoint: `best` or `last`.
    pub checkpoint: String,
    /// Training steps before the checkpoint.
    pub step: usize,
    /// Hash of the checkpoint.
    pub checksum: String,
    /// The algorithm.
    pub algorithm: String,
    /// The set.
    pub set: EvalSet,
    /// The result.
    pub report: EvalReport,
}

/// Format that is written and read.
const FORMAT: u32 = 1;
/// Directory within a run directory.
const DIRECTORY: &str = "evals";
/// Largest file that is read: hint scores of long trajectories take a few hundred kilobytes.
const MAX_BYTES: u64 = 16 << 20;

impl TrainedModel {
    /// The kept result of an evaluation with this checkpoint, if there is one that has what `options` ask for.
    pub fn stored(&self, algorithm: &str, set: &EvalSet, options: &EvalOptions) -> Option<EvalReport> {
        if options.dump || !options.trajectories.is_empty() {
            return None;
        }
        let path = self.stored_path(algorithm, set, options.steps)?;
        let origin = self.origin.as_ref()?;
        // A damaged file is as good as none: the evaluation replaces it.
        let stored = StoredEval::read(&path).ok()?;
        let mut report = stored.report;
        let is_current = stored.checksum == origin.checksum && stored.set == *set && stored.algorithm == algorithm;
        if !is_current || (options.hints && report.hints.is_none()) {
            return None;
        }
        report.hints = report.hints.filter(|_| options.hints);
        Some(report)
    }

    /// Keeps the result of an evaluation in the run directory. Does nothing if that was deleted, for checkpoints from other files, and
    /// for sets from a directory, whose contents may change.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn store(&self, algorithm: &str, set: &EvalSet, report: &EvalReport) -> Result<(), RunError> {
        let (Some(path), Some(Origin { run, checkpoint, checksum })) =
            (self.stored_path(algorithm, set, report.steps), &self.origin)
        else {
            return Ok(());
        };
        if !run.is_dir() {
            return Ok(());
        }
        let stored = StoredEval {
            format: FORMAT,
            program: concat!("clrs ", env!("CARGO_PKG_VERSION")).into(),
            recipe: fingerprint(&self.recipe),
            checkpoint: checkpoint.to_string(),
            step: self.step,
            checksum: checksum.clone(),
            algorithm: algorithm.into(),
            set: set.clone(),
            report: report.clone(),
        };
        create_directory(&run.join(DIRECTORY))?;
        let text = serde_json::to_string(&stored).expect("plain data") + "\n";
        Ok(write_atomic(&path, OnExisting::Replace, text.as_bytes())?)
    }

    /// Where the result of an evaluation is kept, if it is.
    fn stored_path(&self, algorithm: &str, set: &EvalSet, steps: Steps) -> Option<PathBuf> {
        let origin = self.origin.as_ref()?;
        let checkpoint = match &origin.checkpoint {
            Checkpoint::File(_) => return None,
            checkpoint => checkpoint,
        };
        let set = match set {
            EvalSet::Fixed { data: data @ DataSource::Benchmark(_), split } => format!("{data}-{}", split.name()),
            EvalSet::Fixed { .. } => return None,
            EvalSet::Sampled { size, count, seed, options } => {
                let count = count.map(|count| format!("-count{count}")).unwrap_or_default();
                // Values may contain any character.
                let options = options.to_string();
                let options = if options.is_empty() { options } else { format!("-{}", short_hash(&options)) };
                format!("n{size}-seed{seed}{count}{options}")
            }
        };
        let name = format!("{algorithm}.{set}.{}.{checkpoint}.json", steps.name());
        Some(origin.run.join(DIRECTORY).join(name))
    }
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].into()
}

impl StoredEval {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or has another format.
    pub fn read(path: &Path) -> Result<StoredEval, RunError> {
        let damaged = || RunError::StoredEval(path.into());
        let stored: StoredEval = serde_json::from_slice(&read_regular(path, MAX_BYTES)?).map_err(|_| damaged())?;
        if stored.format == FORMAT { Ok(stored) } else { Err(damaged()) }
    }
}

/// All evaluations of a run in the order of their file names, without those that are out of date: of another recipe, or of an earlier
/// checkpoint than the run has now. A file that cannot be read is an error of its own.
///
/// # Errors
/// If the directory contains no run, or cannot be listed.
pub fn read_all(run: &Path) -> Result<Vec<Result<StoredEval, RunError>>, RunError> {
    let directory = run.join(DIRECTORY);
    let recipe = fingerprint(&read_recipe(run)?);
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let status = RunStatus::read(run)?;
    let is_current = |stored: &StoredEval| {
        let step = status.as_ref().and_then(|status| match &*stored.checkpoint {
            "best" => status.best.map(|best| best.step),
            _ => Some(status.step),
        });
        stored.recipe == recipe && step.is_none_or(|step| step == stored.step)
    };
    let unreadable = |source| RunError::Io { path: directory.clone(), source };
    let entries = std::fs::read_dir(&directory).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let evals = paths.iter().map(|path| StoredEval::read(path));
    Ok(evals.filter(|stored| stored.as_ref().map_or(true, is_current)).collect())
}
