//! Submitting the unfinished runs of a sweep.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clrs_store::{OnExisting, create_directory, write_atomic};

use super::jobs::{self, Job};
use super::queue;
use super::script::{Script, parse_time_limit};
use super::{SlurmError, output};
use crate::plan::Plan;
use crate::status::{RunProgress, State};

/// How to submit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubmitOptions {
    /// The program `clrs`, as the nodes of the cluster find it.
    pub program: PathBuf,
    /// Threads of each run.
    pub cpus_per_task: usize,
    /// Time limit of an array task, as `sbatch --time` has it; `None` for that of the partition.
    pub time: Option<String>,
    /// Array tasks at once; `None` for no limit.
    pub max_parallel: Option<usize>,
    /// Runs per array task; `None` for as many as take about [`PACKED`].
    pub runs_per_task: Option<usize>,
    /// Other arguments of `sbatch`.
    pub arguments: Vec<String>,
    /// What to do.
    pub mode: Mode,
}

/// What to do with the scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Submit them.
    #[default]
    Submit,
    /// Only write them.
    Script,
    /// Ask Slurm whether it would accept them.
    DryRun,
}

impl SubmitOptions {
    /// One thread per run, the partition's time limit, no limit on parallel tasks.
    pub fn new(program: PathBuf) -> SubmitOptions {
        let (time, max_parallel, runs_per_task) = (None, None, None);
        SubmitOptions { program, cpus_per_task: 1, time, max_parallel, runs_per_task, arguments: Vec::new(), mode: Mode::Submit }
    }
}

/// Short runs are packed into array tasks of this duration: a scheduler takes seconds for each.
pub const PACKED: Duration = Duration::from_mins(10);

/// The `MaxArraySize` of a cluster that does not set it.
const MAX_ARRAY_SIZE: usize = 1001;

/// Scripts that a sweep can have.
const MAX_SUBMISSIONS: usize = 100_000;

/// A job array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Submitted {
    /// The script.
    pub script: PathBuf,
    /// Job id, or what `sbatch --test-only` printed; `None` if the script was only written.
    pub answer: Option<String>,
    /// Number of array tasks.
    pub array_tasks: usize,
    /// Number of runs.
    pub runs: usize,
}

/// Submits the runs that are neither finished nor queued. `rate` is that of one thread, in floating-point operations per second.
///
/// # Errors
/// If files cannot be written, or Slurm does not answer or refuses.
pub fn submit(
    sweep: &Path,
    plan: &Plan,
    progress: &[RunProgress],
    rate: f64,
    options: &SubmitOptions,
) -> Result<Vec<Submitted>, SlurmError> {
    let limit = options.time.as_deref().map(parse_time_limit).transpose()?;
    let sweep = &std::path::absolute(sweep).map_err(|source| SlurmError::Io { path: sweep.into(), source })?;
    let directory = jobs::directory(sweep);
    create_directory(&directory.join("logs"))?;
    let _lock = lock(&directory)?;
    let known = jobs::read(sweep)?;
    let queued = match options.mode {
        Mode::Script => BTreeSet::default(),
        _ if known.is_empty() => BTreeSet::default(),
        _ => queue::active_runs(sweep, &known, &queue::query()?)?,
    };
    let is_left = |run: &&RunProgress| !matches!(run.state, State::Complete | State::Running) && !queued.contains(&run.task);
    let left: Vec<&RunProgress> = progress.iter().filter(is_left).collect();
    let seconds = |run: &RunProgress| run.flops_left(&plan.runs[run.task]) / (rate * options.cpus_per_task as f64);
    let packed = limit.map_or(PACKED, |limit| PACKED.min(limit / 2)).as_secs_f64();
    let array_tasks = pack(&left, seconds, packed, options.runs_per_task);
    let size = if options.mode == Mode::Script { MAX_ARRAY_SIZE } else { max_array_size() };
    let mut submitted = Vec::new();
    for tasks in array_tasks.chunks(size.max(1)) {
        submitted.push(submit_array(sweep, plan, tasks, options)?);
    }
    Ok(submitted)
}

/// Two submissions at once would submit the same runs.
fn lock(directory: &Path) -> Result<File, SlurmError> {
    let path = directory.join("lock");
    let io = |source| SlurmError::Io { path: path.clone(), source };
    let file = File::options().create(true).append(true).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(SlurmError::InUse(directory.into())),
        Err(std::fs::TryLockError::Error(source)) => Err(io(source)),
    }
}

/// Groups runs into array tasks, in the order of the plan.
fn pack(
    runs: &[&RunProgress],
    seconds: impl Fn(&RunProgress) -> f64,
    packed: f64,
    runs_per_task: Option<usize>,
) -> Vec<Vec<usize>> {
    let mut array_tasks: Vec<Vec<usize>> = Vec::new();
    let mut sum = f64::INFINITY;
    for run in runs {
        let seconds = seconds(run);
        let is_full = match (runs_per_task, array_tasks.last()) {
            (Some(count), Some(last)) => last.len() >= count.max(1),
            _ => sum + seconds > packed,
        };
        match array_tasks.last_mut() {
            Some(last) if !is_full => {
                last.push(run.task);
                sum += seconds;
            }
            _ => {
                array_tasks.push(vec![run.task]);
                sum = seconds;
            }
        }
    }
    array_tasks
}

fn max_array_size() -> usize {
    let config = output("scontrol", &["show".into(), "config".into()]).unwrap_or_default();
    let value = config.lines().find_map(|line| line.strip_prefix("MaxArraySize")?.split('=').nth(1)?.trim().parse().ok());
    value.unwrap_or(MAX_ARRAY_SIZE)
}

fn submit_array(sweep: &Path, plan: &Plan, tasks: &[Vec<usize>], options: &SubmitOptions) -> Result<Submitted, SlurmError> {
    let directory = jobs::directory(sweep);
    let name = (1..=MAX_SUBMISSIONS)
        .map(|number| format!("job-{number:03}"))
        .find(|name| !directory.join(format!("{name}.sbatch")).exists());
    let name = name.ok_or_else(|| SlurmError::TooManySubmissions(directory.clone()))?;
    let script = Script {
        program: &options.program,
        sweep,
        sweep_name: &plan.name,
        name: &name,
        array_tasks: tasks.len(),
        cpus_per_task: options.cpus_per_task,
        time: options.time.as_deref(),
        max_parallel: options.max_parallel,
        arguments: &options.arguments,
    };
    let text = script.text()?;
    let line = |tasks: &Vec<usize>| tasks.iter().map(usize::to_string).collect::<Vec<_>>().join(",") + "\n";
    let tasks_path = directory.join(format!("{name}.tasks"));
    write_atomic(&tasks_path, OnExisting::Replace, tasks.iter().map(line).collect::<String>().as_bytes())?;
    let path = directory.join(format!("{name}.sbatch"));
    write_atomic(&path, OnExisting::Replace, text.as_bytes())?;
    let mut arguments: Vec<String> = match options.mode {
        Mode::Submit => vec!["--parsable".into()],
        Mode::DryRun => vec!["--test-only".into()],
        Mode::Script => Vec::new(),
    };
    arguments.push(path.to_string_lossy().into_owned());
    let answer = match options.mode {
        Mode::Script => None,
        Mode::DryRun => {
            let answer = test_only(&arguments);
            for file in [&path, &tasks_path] {
                let _ = std::fs::remove_file(file);
            }
            Some(answer?)
        }
        Mode::Submit => {
            let submitted = output("sbatch", &arguments).and_then(|text| job_id(&text));
            if submitted.is_err() {
                // Nothing was submitted: the next attempt writes the same names.
                for file in [&path, &tasks_path] {
                    let _ = std::fs::remove_file(file);
                }
            }
            let job = Job { job: submitted?, name };
            jobs::append(sweep, &job)?;
            Some(job.job)
        }
    };
    let runs = tasks.iter().map(Vec::len).sum();
    Ok(Submitted { script: path, answer, array_tasks: tasks.len(), runs })
}

/// `sbatch --test-only` answers on standard error.
fn test_only(arguments: &[String]) -> Result<String, SlurmError> {
    let shell = ["-c".to_string(), "exec sbatch \"$@\" 2>&1".into(), "sbatch".into()];
    let answer = std::process::Command::new("sh").args(shell).args(arguments).output();
    let answer = answer.map_err(|error| SlurmError::Failed { command: "sbatch", message: error.to_string() })?;
    let text = String::from_utf8_lossy(&answer.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    match answer.status.code() {
        Some(0) => Ok(text),
        Some(127) => Err(SlurmError::NotFound("sbatch")),
        _ => Err(SlurmError::Failed { command: "sbatch", message: text }),
    }
}

/// The job id in the output of `sbatch --parsable`: `ID` or `ID;CLUSTER`. Wrappers may print other lines first.
fn job_id(text: &str) -> Result<String, SlurmError> {
    let id = |line: &str| {
        let id = line.split(';').next()?.split_whitespace().last()?;
        id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.to_string())
    };
    text.lines().rev().find_map(id).ok_or_else(|| SlurmError::NoJobId(text.trim().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_ids_are_found_in_what_sbatch_and_its_wrappers_print() {
        let id = |text: &str| job_id(text).ok();
        assert_eq!(id("123\n").as_deref(), Some("123"));
        assert_eq!(id("123;cluster\n").as_deref(), Some("123"));
        assert_eq!(id("Welcome to the cluster\nSubmitted batch job 77\n").as_deref(), Some("77"));
        assert_eq!(id("error\n"), None);
    }
}
