//! What Slurm knows about the jobs of a sweep.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::jobs::{self, Job};
use super::{SlurmError, output};
use crate::status::{RunProgress, State};

/// State of array tasks by job id and index, of those that Slurm still knows.
pub(super) type ArrayTasks = BTreeMap<(String, usize), String>;

/// Asks for the user's jobs with a single call.
pub(super) fn query() -> Result<ArrayTasks, SlurmError> {
    let arguments = ["--noheader", "--array", "--me", "--states=all", "--format=%F %K %T"].map(String::from);
    Ok(parse(&output("squeue", &arguments)?))
}

fn parse(text: &str) -> ArrayTasks {
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let (job, index, state) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        Some(((job.to_string(), index), state.to_string()))
    };
    text.lines().filter_map(entry).collect()
}

/// Whether a job in this state is waiting, running, or ending.
fn is_active(state: &str) -> bool {
    const ACTIVE: [&str; 12] = [
        "PENDING",
        "RUNNING",
        "SUSPENDED",
        "COMPLETING",
        "CONFIGURING",
        "REQUEUED",
        "REQUEUE_FED",
        "REQUEUE_HOLD",
        "SPECIAL_EXIT",
        "STAGE_OUT",
        "STOPPED",
        "SIGNALING",
    ];
    ACTIVE.contains(&state)
}

/// Runs of the sweep that are queued or running.
pub(super) fn active_runs(sweep: &Path, jobs: &[Job], queue: &ArrayTasks) -> Result<BTreeSet<usize>, SlurmError> {
    let mut runs = BTreeSet::new();
    for job in jobs {
        for (index, tasks) in job.tasks(sweep)?.into_iter().enumerate() {
            if queue.get(&(job.job.clone(), index)).is_some_and(|state| is_active(state)) {
                runs.extend(tasks);
            }
        }
    }
    Ok(runs)
}

/// Adds what Slurm knows to the progress of runs: whether a run is queued, and the state of the job that it was last part of.
///
/// # Errors
/// If the list of jobs cannot be read, or Slurm does not answer.
pub fn annotate(sweep: &Path, progress: &mut [RunProgress]) -> Result<(), SlurmError> {
    let jobs = jobs::read(sweep)?;
    if jobs.is_empty() || progress.iter().all(|run| run.state == State::Complete) {
        return Ok(());
    }
    let queue = query()?;
    let active = active_runs(sweep, &jobs, &queue)?;
    let last = jobs::last_array_tasks(sweep, &jobs)?;
    for run in progress.iter_mut().filter(|run| run.state != State::Complete) {
        if let Some(&(number, index)) = last.get(&run.task) {
            let job = &jobs[number];
            let state = queue.get(&(job.job.clone(), index)).map_or("", String::as_str);
            run.job = Some(format!("{}_{index} {}", job.job, state.to_lowercase()).trim_end().into());
            run.log_tail = if run.state == State::Failed { tail(&job.log(sweep, index)) } else { None };
        }
        if active.contains(&run.task) && !matches!(run.state, State::Running | State::Failed) {
            run.state = State::Queued;
        }
    }
    Ok(())
}

/// The last lines of a log.
fn tail(path: &Path) -> Option<String> {
    const BYTES: u64 = 2000;
    const LINES: usize = 5;
    let mut file = std::fs::File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Some(lines[lines.len().saturating_sub(LINES)..].join("\n"))
}

/// Cancels all jobs of a sweep that are queued or running, and returns their ids.
///
/// # Errors
/// If the list of jobs cannot be read, or Slurm refuses.
pub fn cancel(sweep: &Path) -> Result<Vec<String>, SlurmError> {
    let jobs = jobs::read(sweep)?;
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let queue = query()?;
    let is_active = |job: &Job| queue.iter().any(|((id, _), state)| *id == job.job && is_active(state));
    let ids: Vec<String> = jobs.into_iter().filter(is_active).map(|job| job.job).collect();
    if !ids.is_empty() {
        output("scancel", &ids)?;
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_tasks_are_found_in_the_output_of_squeue() {
        let tasks = parse("12 0 RUNNING\n12 1 PENDING\n13 N/A RUNNING\n\n");
        assert_eq!(tasks.len(), 2, "a job without an array is none of ours");
        assert_eq!(tasks[&("12".into(), 1)], "PENDING");
        assert!(is_active("PENDING") && !is_active("CANCELLED"));
    }
}
