use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use clrs_store::shell_quoted;
use clrs_sweep::plan::Plan;
use clrs_sweep::slurm::{jobs, queue};
use clrs_sweep::status::{self, RunProgress, State};
use serde::Serialize;

use crate::progress::{is_stopped, stop_on_signals};
use crate::table::{Table, plural};

/// Show how far the runs of a sweep are
///
/// Reads the run directories. If runs were submitted to Slurm and some are unfinished, one call of `squeue` tells which of them are
/// queued. Runs that failed are listed with their reason.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory of the sweep
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// List all runs, also those that are complete or not started
    #[arg(long)]
    all: bool,
    /// Repeat until no run is queued or running
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'r> {
    sweep: &'r str,
    /// Number of runs in each state.
    counts: serde_json::Map<String, serde_json::Value>,
    runs: &'r [RunProgress],
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.watch {
        stop_on_signals();
    }
    loop {
        let plan = Plan::read(&arguments.directory)?;
        let progress = read(&arguments.directory, &plan);
        if arguments.watch && std::io::stdout().is_terminal() {
            // Clears the screen.
            write!(std::io::stdout(), "\x1b[2J\x1b[H")?;
        }
        print(arguments, &plan, &progress)?;
        let is_active = |run: &RunProgress| matches!(run.state, State::Queued | State::Running);
        if !arguments.watch || !progress.iter().any(is_active) {
            return Ok(());
        }
        // Schedulers do not like to be asked often.
        let has_jobs = jobs::read(&arguments.directory).is_ok_and(|jobs| !jobs.is_empty());
        wait(if has_jobs { Duration::from_secs(30) } else { Duration::from_secs(2) });
        if is_stopped() {
            return Ok(());
        }
    }
}

/// Sleeps in short intervals, so that Ctrl-C ends it at once.
fn wait(duration: Duration) {
    const INTERVAL: Duration = Duration::from_millis(100);
    let mut waited = Duration::ZERO;
    while waited < duration && !is_stopped() {
        std::thread::sleep(INTERVAL);
        waited += INTERVAL;
    }
}

/// Progress from the run directories, and from Slurm if it answers.
fn read(directory: &Path, plan: &Plan) -> Vec<RunProgress> {
    let mut progress = status::read(directory, plan);
    if let Err(error) = queue::annotate(directory, &mut progress) {
        let _ = writeln!(std::io::stderr(), "clrs: note: the state of jobs is unknown: {error}");
    }
    progress
}

fn print(arguments: &Arguments, plan: &Plan, progress: &[RunProgress]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let counts = State::ALL.map(|state| (state, status::count(progress, state)));
    if arguments.json {
        let counts = counts.into_iter().map(|(state, count)| (state.name().to_string(), count.into())).collect();
        serde_json::to_writer_pretty(&mut out, &Report { sweep: &plan.name, counts, runs: progress })?;
        return Ok(writeln!(out)?);
    }
    let counted: Vec<String> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(state, count)| format!("{count} {}", state.name())).collect();
    writeln!(out, "sweep `{}`: {}: {}", plan.name, plural(plan.runs.len(), "run"), counted.join(", "))?;
    let mut table = Table::new(&["run", "state", "step", "of", "best validation", "what", "job"]);
    let labels = plan.labels();
    let is_shown = |run: &&RunProgress| arguments.all || !matches!(run.state, State::Planned | State::Complete | State::Queued);
    for run in progress.iter().filter(is_shown) {
        table.row([
            run.task.to_string(),
            run.state.name().into(),
            run.step.to_string(),
            run.steps.to_string(),
            run.best.map_or("-".into(), |best| format!("{:.2}% at step {}", 100.0 * best.score, best.step)),
            labels[run.task].clone(),
            run.job.clone().unwrap_or_default(),
        ]);
    }
    table.write(&mut out)?;
    for run in progress.iter().filter(|run| run.state == State::Failed) {
        writeln!(out, "run {} failed: {}", run.task, one_line(run.error.as_deref().unwrap_or("unknown reason")))?;
        for line in run.log_tail.iter().flat_map(|tail| tail.lines()) {
            writeln!(out, "    {line}")?;
        }
    }
    let left = progress.iter().any(|run| matches!(run.state, State::Stopped | State::Trained | State::Failed));
    if left {
        let directory = shell_quoted(&arguments.directory);
        writeln!(out, "`clrs sweep run {directory}` or `clrs sweep submit {directory} --slurm` continues what is left")?;
    }
    Ok(())
}

/// A message of several lines, such as an excerpt of a file, in one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
