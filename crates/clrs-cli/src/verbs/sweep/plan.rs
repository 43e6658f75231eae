use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use clrs_nn::Registries;
use clrs_nn::train::plan::PlanError;
use clrs_store::shell_quoted;
use clrs_sweep::file::{SHIPPED, SweepFile, SweepFileError};
use clrs_sweep::plan::{Plan, PlanFileError};
use clrs_sweep::{cost, status};
use serde::Serialize;

use super::view::duration;
use crate::error::advise_generate;
use crate::table::plural;

/// Resolve and check every run of a sweep, without executing any
///
/// A sweep is a TOML file (docs/sweeps.md), or one that comes with the program: `quick`, `paper-2022`, `paper-2022-figure-3`,
/// `generalist-2022`. The plan is written to DIR. Planning again after the file has grown adds runs; existing ones keep their numbers
/// and directories.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Sweep: a shipped name or a TOML file
    #[arg(value_name = "NAME|FILE")]
    sweep: String,
    /// Directory of the sweep
    #[arg(long, value_name = "DIR", required_unless_present = "show")]
    out: Option<PathBuf>,
    /// Print the sweep file, without planning
    #[arg(long)]
    show: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    sweep: String,
    runs: usize,
    added: usize,
    unfinished: usize,
    /// Estimated floating-point operations of what is left.
    flops: f64,
    /// Estimated time on all cores of this machine.
    seconds: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sweep = SweepFile::open(&arguments.sweep).map_err(|error| match error {
        SweepFileError::UnknownSweep { suggestion: None, .. } => {
            let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            anyhow!("{error}: neither a file nor one of {}", names.join(", "))
        }
        error @ (SweepFileError::UnknownSweep { .. } | SweepFileError::Read(_)) => error.into(),
        error => anyhow!(error).context(arguments.sweep.clone()),
    })?;
    let mut out = std::io::stdout().lock();
    if arguments.show {
        return Ok(out.write_all(sweep.text.as_bytes())?);
    }
    let directory = arguments.out.as_deref().context("--out DIR is missing")?;
    let (plan, added) = Plan::update(directory, &sweep, &Registries::builtin()).map_err(|error| match error {
        PlanFileError::Run { cell, source } => match *source {
            PlanError::Data(error) => advise_generate(error).context(cell),
            error => anyhow!(error).context(cell),
        },
        error => error.into(),
    })?;
    let sweep_cells = sweep.cells.len();
    let progress = status::read(directory, &plan);
    let flops: f64 = plan.runs.iter().zip(&progress).map(|(run, progress)| progress.flops_left(run)).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(plan.runs.len());
    let report = Report {
        runs: plan.runs.len(),
        added,
        unfinished: progress.iter().filter(|run| run.state != status::State::Complete).count(),
        flops,
        seconds: cost::measure_rate().map(|rate| flops / rate / cores as f64),
        sweep: plan.name,
    };
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        return Ok(writeln!(out)?);
    }
    let Report { sweep, runs, added, unfinished, seconds, .. } = report;
    let (runs, directory) = (plural(runs, "run"), shell_quoted(directory));
    let new = if added > 0 { format!(", {added} of them new") } else { String::new() };
    let time = seconds.map(|seconds| {
        let on = if cores == 1 { "one core".into() } else { format!("{cores} cores") };
        format!(", about {} on {on} of this machine", duration(seconds))
    });
    let time = time.unwrap_or_default();
    writeln!(out, "{directory}: sweep `{sweep}` has {runs}{new}; {unfinished} unfinished ({flops:.1e} FLOPs{time})")?;
    // Every cell of the file is in the plan.
    let others = progress.len() - sweep_cells;
    if others > 0 {
        writeln!(
            out,
            "{} of the plan {} not in the sweep file, and stay in the plan",
            plural(others, "run"),
            if others == 1 { "is" } else { "are" }
        )?;
    }
    if unfinished > 0 {
        writeln!(out, "`clrs sweep run {directory}` executes them here, `clrs sweep submit {directory} --slurm` on a cluster")?;
    }
    Ok(())
}
