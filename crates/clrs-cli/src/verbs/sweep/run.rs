use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs_store::shell_quoted;
use clrs_sweep::local::{self, LocalOptions, Observer, RunEnd};
use clrs_sweep::plan::Plan;
use clrs_sweep::status::{self, State};
use clrs_sweep::worker::{Outcome, RunEvent, STOPPED_EXIT_CODE, Worker};

use super::view::View;
use crate::arguments::Compute;
use crate::error::Stopped;
use crate::progress::{StepBar, is_stopped, stop_on_signals};
use crate::table::plural;

/// Execute the runs of a sweep: train, then evaluate
///
/// Without `--task`, all unfinished runs are executed on this machine: `--jobs` at a time, each on one thread. A run
/// that fails does not stop the others. Ctrl-C saves a checkpoint of each; executing again resumes them, and retries those that failed.
///
/// With `--task`, only the runs with these numbers are executed, one after another, on `--threads` threads; this is what job arrays
/// call. The number may also come from SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX (Kubernetes) or HQ_ENTRY (HyperQueue), unless
/// `--jobs` is given. TERM, USR1 and USR2 save a checkpoint and end with exit code 75, after which the same command resumes. A run that
/// is complete, or that another process executes, is left alone.
///
/// Exit codes: 0 if nothing is left to do here, 2 if a run failed, 75 if runs were stopped, by Ctrl-C, a signal or `--until`, and can be
/// resumed.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory of the sweep
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Runs at a time [default: one per core]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "task")]
    jobs: Option<u16>,
    /// Order in which runs start
    #[arg(long, value_enum, default_value_t = Order::Longest, conflicts_with = "task")]
    order: Order,
    /// Stop in time, with checkpoints: 90m, 2h, 1h30m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    until: Option<Duration>,
    /// Execute only these runs, comma-separated: their numbers in the plan, from 0
    #[arg(long, value_name = "K,..", value_delimiter = ',')]
    task: Vec<usize>,
    #[command(flatten)]
    compute: Compute,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// The most work first: the sweep ends earliest
    Longest,
    /// The least work first: most runs are complete if it is stopped
    Shortest,
    /// As planned
    Plan,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // A deadline beyond what the clock can represent is none.
    let deadline = arguments.until.and_then(|duration| Instant::now().checked_add(duration));
    stop_on_signals();
    let plan = Plan::read(&arguments.directory)?;
    let from_scheduler = if arguments.task.is_empty() && arguments.jobs.is_none() { scheduler_task()? } else { None };
    let tasks: Vec<usize> = arguments.task.iter().copied().chain(from_scheduler).collect();
    if let Some(task) = tasks.iter().find(|task| **task >= plan.runs.len()) {
        bail!("there is no run {task}: the plan has {}, numbered from 0", plural(plan.runs.len(), "run"));
    }
    if tasks.is_empty() { run_all(arguments, &plan, deadline) } else { run_tasks(arguments, &plan, &tasks, deadline) }
}

/// Variables in which schedulers put the number of a task.
const TASK_VARIABLES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "HQ_ENTRY"];

fn scheduler_task() -> Result<Option<usize>> {
    for name in TASK_VARIABLES {
        if let Ok(value) = std::env::var(name) {
            let task = value.trim().parse().ok();
            return Ok(Some(task.with_context(|| format!("{name} is `{value}`, not the number of a run"))?));
        }
    }
    Ok(None)
}

fn run_all(arguments: &Arguments, plan: &Plan, deadline: Option<Instant>) -> Result<()> {
    let directory = &arguments.directory;
    let progress = status::read(directory, plan);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.map_or_else(cores, usize::from);
    let worker = Worker::new(directory, arguments.compute.open()?);
    let view = View::new(plan, &progress, deadline, arguments.quiet);
    let order = match arguments.order {
        Order::Longest => local::Order::Longest,
        Order::Shortest => local::Order::Shortest,
        Order::Plan => local::Order::Plan,
    };
    let ends = local::execute(&worker, plan, &progress, LocalOptions::new(jobs).order(order), &view)?;
    view.finish();

    let progress = status::read(directory, plan);
    let (complete, runs) = (status::count(&progress, State::Complete), plan.runs.len());
    let failed = ends.iter().filter(|(_, end)| matches!(end, RunEnd::Failed(_))).count();
    let directory = shell_quoted(directory);
    let with_failures = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    let summary = format!("{complete} of {} complete{with_failures}", plural(runs, "run"));
    if view.is_stopped() && complete + failed < runs {
        bail!(Stopped(format!("stopped: {summary}; `clrs sweep run {directory}` continues")));
    }
    ensure!(failed == 0, "{summary}; the same command tries again");
    let mut out = std::io::stdout();
    if progress.iter().any(|run| run.state == State::Running) {
        return Ok(writeln!(out, "{summary}; other processes execute the rest, `clrs sweep status {directory}` shows them")?);
    }
    ensure!(complete == runs, "{summary}; the same command continues");
    Ok(writeln!(out, "{summary}; `clrs report {directory} --out FOLDER` writes tables and figures")?)
}

fn run_tasks(arguments: &Arguments, plan: &Plan, tasks: &[usize], deadline: Option<Instant>) -> Result<()> {
    let worker = Worker::new(&arguments.directory, arguments.compute.open()?);
    let is_due = || is_stopped() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let (mut failed, labels) = (Vec::new(), plan.labels());
    for &task in tasks {
        let run = &plan.runs[task];
        let about = format!("run {task} ({})", labels[task]);
        let outcome = if is_due() { Ok(Outcome::Stopped) } else { execute(&worker, run, arguments.quiet, is_due) };
        let mut out = std::io::stdout();
        match outcome {
            Ok(Outcome::Stopped) => {
                let code = STOPPED_EXIT_CODE;
                bail!(Stopped(format!("{about}: stopped with a checkpoint (exit code {code}); the same command resumes it")))
            }
            Ok(Outcome::InUse) => writeln!(out, "{about}: another process executes it")?,
            Ok(Outcome::AlreadyComplete) => writeln!(out, "{about}: was complete")?,
            Ok(_) => writeln!(out, "{about}: complete")?,
            Err(error) if tasks.len() == 1 => return Err(error.context(about)),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "clrs: {about}: {}", crate::error::one_line(&error));
                failed.push(task);
            }
        }
    }
    ensure!(failed.is_empty(), "{} of {} failed", failed.len(), plural(tasks.len(), "run"));
    Ok(())
}

fn execute(worker: &Worker, run: &clrs_sweep::PlannedRun, quiet: bool, is_due: impl Fn() -> bool) -> Result<Outcome> {
    let mut bar: Option<StepBar> = None;
    let outcome = worker.execute(run, &mut |event| {
        match (event, &mut bar) {
            (RunEvent::Started { step }, bar) => *bar = Some(StepBar::new(step, run.recipe.steps, quiet)),
            (RunEvent::Step { step, loss }, Some(bar)) => bar.step(step, loss),
            (RunEvent::Validated { score }, Some(bar)) => bar.validated(score),
            _ => {}
        }
        if is_due() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Some(bar) = bar {
        bar.finish();
    }
    Ok(outcome?)
}

/// Parses `90m`, `2h`, `1h30m`, `45s`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let invalid = || format!("`{text}` is not a duration such as 90m, 2h or 1h30m");
    let (mut seconds, mut number) = (0u64, String::new());
    for c in text.chars() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86400,
            _ => return Err(invalid()),
        };
        let value: u64 = number.parse().map_err(|_| invalid())?;
        seconds = value.checked_mul(unit).and_then(|value| seconds.checked_add(value)).ok_or_else(invalid)?;
        number.clear();
    }
    if seconds == 0 || !number.is_empty() { Err(invalid()) } else { Ok(Duration::from_secs(seconds)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let seconds = |text: &str| parse_duration(text).ok().map(|duration| duration.as_secs());
        assert_eq!(["90m", "2h", "1h30m", "45s", "1d"].map(seconds), [Some(5400), Some(7200), Some(5400), Some(45), Some(86400)]);
        assert_eq!(["", "90", "m", "1x", "0s", "999999999999999999999h"].map(seconds), [None; 6]);
    }
}
