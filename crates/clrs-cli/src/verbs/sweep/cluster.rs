use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use clrs_sweep::manifest::{self, KubernetesOptions};
use clrs_sweep::plan::Plan;
use clrs_sweep::slurm::queue;
use clrs_sweep::slurm::submit::{Mode, SubmitOptions, submit as submit_arrays};
use clrs_sweep::{cost, status};

use crate::program;
use crate::table::plural;

/// Submit the unfinished runs of a sweep to Slurm as a job array
///
/// Runs that are complete or already queued are left out, so calling it again is safe. The script, the logs and the job ids are in
/// DIR/slurm. Short runs are packed into one array task, and an array that is larger than the cluster allows is split. Before the time
/// limit, and when it is preempted, a task saves a checkpoint and requeues itself. What follows `--` is passed to `sbatch`:
/// `clrs sweep submit DIR --slurm --time 4:00:00 -- --partition=cpu --account=me`.
#[derive(Args)]
pub(crate) struct SubmitArguments {
    /// Directory of the sweep, on a file system that all nodes share
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Submit to Slurm
    #[arg(long, required = true)]
    slurm: bool,
    /// CPUs, and threads, of each task
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cpus_per_task: u16,
    /// Time limit of a task, as `sbatch --time` has it [default: that of the partition]
    #[arg(long, value_name = "T")]
    time: Option<String>,
    /// Tasks at once
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    max_parallel: Option<u32>,
    /// Runs per task [default: as many as take about ten minutes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs_per_task: Option<u32>,
    /// Only write the script
    #[arg(long, conflicts_with = "dry_run")]
    script: bool,
    /// Only ask whether Slurm would accept the script
    #[arg(long)]
    dry_run: bool,
    /// Other arguments of `sbatch`
    #[arg(last = true, value_name = "SBATCH ARGUMENTS")]
    arguments: Vec<String>,
}

pub(crate) fn submit(arguments: &SubmitArguments) -> Result<()> {
    let directory = &arguments.directory;
    let plan = Plan::read(directory)?;
    let progress = status::read(directory, &plan);
    let mut options = SubmitOptions::new(program::path().context("the path of this program is unknown")?.to_owned());
    options.cpus_per_task = arguments.cpus_per_task.into();
    options.time.clone_from(&arguments.time);
    options.max_parallel = arguments.max_parallel.map(|count| count as usize);
    options.runs_per_task = arguments.runs_per_task.map(|count| count as usize);
    options.arguments.clone_from(&arguments.arguments);
    options.mode = match (arguments.script, arguments.dry_run) {
        (true, _) => Mode::Script,
        (_, true) => Mode::DryRun,
        _ => Mode::Submit,
    };
    // Without a rate, runs are not packed.
    let rate = cost::measure_rate().unwrap_or(f64::MIN_POSITIVE);
    let submitted = submit_arrays(directory, &plan, &progress, rate, &options)?;
    let mut out = std::io::stdout().lock();
    if submitted.is_empty() {
        return Ok(writeln!(out, "nothing to submit: every run is complete, running or queued")?);
    }
    for array in submitted {
        let what = format!("{} in {}", plural(array.runs, "run"), plural(array.array_tasks, "array task"));
        let script = array.script.display();
        match (options.mode, array.answer) {
            (Mode::Submit, Some(job)) => writeln!(out, "submitted job {job}: {what}")?,
            (_, Some(answer)) => writeln!(out, "{what}: {answer}")?,
            (_, None) => writeln!(out, "{script}: {what}")?,
        }
    }
    if options.mode == Mode::Submit {
        writeln!(out, "`clrs sweep status {}` shows how far it is", directory.display())?;
    }
    Ok(())
}

/// Cancel the jobs of a sweep that are queued or running
///
/// Running tasks save a checkpoint. `clrs sweep submit` continues them.
#[derive(Args)]
pub(crate) struct CancelArguments {
    /// Directory of the sweep
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn cancel(arguments: &CancelArguments) -> Result<()> {
    Plan::read(&arguments.directory)?;
    let jobs = queue::cancel(&arguments.directory)?;
    let mut out = std::io::stdout();
    if jobs.is_empty() {
        return Ok(writeln!(out, "no job of this sweep is queued or running")?);
    }
    Ok(writeln!(out, "cancelled {} {}", if jobs.len() == 1 { "job" } else { "jobs" }, jobs.join(", "))?)
}

/// Print the tasks of a sweep for another scheduler
///
/// `clrs sweep manifest DIR --for kubernetes --image IMAGE --claim CLAIM | kubectl apply -f -` starts an Indexed Job. `--for
/// hyperqueue` prints the numbers of unfinished runs for `hq submit --from-json FILE -- clrs sweep run DIR`.
#[derive(Args)]
pub(crate) struct ManifestArguments {
    /// Directory of the sweep
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The scheduler
    #[arg(long = "for", value_enum, value_name = "SCHEDULER")]
    scheduler: Scheduler,
    /// Kubernetes: container image with the program `clrs`
    #[arg(long, required_if_eq("scheduler", "kubernetes"))]
    image: Option<String>,
    /// Kubernetes: persistent volume claim that contains the directory of the sweep
    #[arg(long, required_if_eq("scheduler", "kubernetes"))]
    claim: Option<String>,
    /// Kubernetes: pods at once
    #[arg(long, default_value_t = 16)]
    parallelism: usize,
    /// Kubernetes: CPUs, and threads, of each pod
    #[arg(long, default_value_t = 1)]
    cpus: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    Kubernetes,
    Hyperqueue,
}

pub(crate) fn manifest(arguments: &ManifestArguments) -> Result<()> {
    let plan = Plan::read(&arguments.directory)?;
    let text = match arguments.scheduler {
        Scheduler::Hyperqueue => manifest::hyperqueue(&status::read(&arguments.directory, &plan)),
        Scheduler::Kubernetes => {
            let (image, claim) = (arguments.image.clone().unwrap_or_default(), arguments.claim.clone().unwrap_or_default());
            let mut options = KubernetesOptions::new(image, claim, arguments.parallelism);
            options.cpus = arguments.cpus;
            manifest::kubernetes(&plan.name, &std::path::absolute(&arguments.directory)?, plan.runs.len(), &options)
        }
    };
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
