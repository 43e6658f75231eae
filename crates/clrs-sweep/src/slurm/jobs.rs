//! The jobs of a sweep, in `slurm/jobs.jsonl`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clrs_store::read_regular;
use serde::{Deserialize, Serialize};

use super::SlurmError;

/// A job array that was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Job {
    /// Job id.
    pub job: String,
    /// Name of its files: `NAME.sbatch`, `NAME.tasks`.
    pub name: String,
}

/// Directory within that of the sweep.
pub(super) const DIRECTORY: &str = "slurm";
const FILE: &str = "jobs.jsonl";
/// A line per submission.
const MAX_BYTES: u64 = 64 << 20;

/// Directory of scripts and logs.
pub fn directory(sweep: &Path) -> PathBuf {
    sweep.join(DIRECTORY)
}

/// All jobs of a sweep, in the order of their submission.
///
/// # Errors
/// If the list is damaged.
pub fn read(sweep: &Path) -> Result<Vec<Job>, SlurmError> {
    let path = directory(sweep).join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = read_regular(&path, MAX_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let job = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|_| SlurmError::Damaged { path: path.clone(), line: index + 1 })
    };
    text.lines().enumerate().map(job).collect()
}

/// Adds a job.
pub(super) fn append(sweep: &Path, job: &Job) -> Result<(), SlurmError> {
    let path = directory(sweep).join(FILE);
    let line = serde_json::to_string(job).expect("plain data") + "\n";
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|source| SlurmError::Io { path, source })
}

impl Job {
    /// The task numbers of the plan that each array task executes.
    ///
    /// # Errors
    /// If the file of its tasks cannot be read.
    pub fn tasks(&self, sweep: &Path) -> Result<Vec<Vec<usize>>, SlurmError> {
        let path = directory(sweep).join(format!("{}.tasks", self.name));
        let bytes = read_regular(&path, MAX_BYTES)?;
        let text = String::from_utf8_lossy(&bytes);
        let parse = |(index, line): (usize, &str)| {
            let tasks = line.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
            tasks.map_err(|_| SlurmError::Damaged { path: path.clone(), line: index + 1 })
        };
        text.lines().enumerate().map(parse).collect()
    }

    /// Log of an array task.
    pub fn log(&self, sweep: &Path, array_task: usize) -> PathBuf {
        directory(sweep).join("logs").join(format!("{}_{array_task}.log", self.job))
    }
}

/// The last array task that each run was part of.
pub(super) fn last_array_tasks(sweep: &Path, jobs: &[Job]) -> Result<BTreeMap<usize, (usize, usize)>, SlurmError> {
    let mut last = BTreeMap::new();
    for (number, job) in jobs.iter().enumerate() {
        for (array_task, tasks) in job.tasks(sweep)?.into_iter().enumerate() {
            last.extend(tasks.into_iter().map(|task| (task, (number, array_task))));
        }
    }
    Ok(last)
}
