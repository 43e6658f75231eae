use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, ensure};
use clap::Args;
use clrs_nn::run::error::RunError;
use clrs_report::tables::{Format, Table};
use clrs_report::{Report, ReportError, ReportRun, archive};
use clrs_sweep::plan::{self, Plan};

use crate::arguments::on_existing;
use crate::error::one_line;
use crate::table::plural;

/// Make tables and figures from evaluated runs, beside the paper's
///
/// Reads what `clrs sweep run`, or `clrs train` and `clrs eval`, left in run directories; evaluates nothing. Runs that differ only in their seeds are one
/// model: mean and standard deviation (n - 1) over seeds. The report has the paper's tables (families, all algorithms, wins, ties
/// and losses, validation), validity, exact match and the score without the true number of steps, and validation curves; score by
/// size and hint accuracy where they are evaluated (`clrs eval --sizes 16,64,256`, `clrs eval --hints`).
///
/// Only finished runs count. What is missing is marked and counted, so a report can be made at any time.
///
/// `--out` writes a page that needs no other file (`index.html`), every table as text, Markdown, CSV, LaTeX and JSON (`tables/`),
/// every figure as SVG and PDF with its data (`figures/`), and all that was read from the runs (`runs.jsonl`), from which the
/// report can be made again without them. The same runs give the same bytes. docs/report.md describes it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The directory of a sweep, whose runs that have not started count as missing; run directories; or files `runs.jsonl` of
    /// other reports
    #[arg(value_name = "SWEEP|RUN|FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Directory to write the report to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the files of an existing report
    #[arg(long, requires = "out")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let on_existing = on_existing(arguments.force);
    if let Some(out) = &arguments.out {
        Report::ensure_free(out, on_existing).map_err(advise)?;
    }
    let (runs, unreadable) = read(&arguments.paths)?;
    let report = Report::new(&runs);
    for problem in &report.problems {
        let _ = writeln!(std::io::stderr(), "clrs: warning: {problem}");
    }
    if let Some(out) = &arguments.out {
        report.write(out, on_existing).map_err(advise)?;
    }
    print(&report, arguments)?;
    ensure!(unreadable == 0, "{unreadable} of {} left out", plural(arguments.paths.len(), "path"));
    Ok(())
}

/// Reads the runs. If there are several paths, one that cannot be read is reported and left out. Also the number of these.
fn read(paths: &[PathBuf]) -> Result<(Vec<ReportRun>, usize)> {
    let (mut runs, mut unreadable) = (Vec::new(), 0);
    for path in paths {
        match read_path(path) {
            Ok(read) => runs.extend(read),
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "clrs: {}", one_line(&error));
                unreadable += 1;
            }
        }
    }
    ensure!(!runs.is_empty(), "none of {} is a run or a sweep", plural(paths.len(), "path"));
    Ok((runs, unreadable))
}

/// All planned runs of a sweep, one run, or those of another report.
fn read_path(path: &Path) -> Result<Vec<ReportRun>> {
    if path.is_file() {
        return Ok(archive::read(path)?);
    }
    if !path.join(plan::FILE).exists() {
        return ReportRun::read(path, None).map(|run| vec![run]).map_err(|error| explain(path, error));
    }
    let planned = Plan::read(path)?.runs.into_iter().map(|run| ReportRun::read(&path.join(&run.folder), Some(run.recipe)));
    Ok(planned.collect::<Result<_, _>>()?)
}

/// Adds the way out to the error of a directory that contains runs.
fn explain(path: &Path, error: RunError) -> Error {
    let is_run =
        |entry: &std::io::Result<std::fs::DirEntry>| entry.as_ref().is_ok_and(|of| of.path().join("config.toml").exists());
    if matches!(error, RunError::NoRun(_)) && path.read_dir().is_ok_and(|mut entries| entries.any(|entry| is_run(&entry))) {
        return anyhow::anyhow!("{error}; it contains some: `clrs report {}/*`", path.display());
    }
    error.into()
}

fn advise(error: ReportError) -> Error {
    match error {
        ReportError::Exists(_) => anyhow::anyhow!("{error}; --force replaces the files of a report in it"),
        error => error.into(),
    }
}

fn print(report: &Report<'_>, arguments: &Arguments) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report.to_json())?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "{}", report.headline())?;
    for note in &report.notes {
        writeln!(out, "{note}")?;
    }
    let is_short = |table: &&Table| ["families", "algorithms", "win-tie-loss"].contains(&table.name);
    let has_results = |table: &&Table| table.rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.text.is_empty());
    for table in report.tables.iter().filter(is_short).filter(has_results) {
        write!(out, "\n{}", table.to_text(Format::Terminal))?;
    }
    match &arguments.out {
        Some(path) => writeln!(out, "\n{}", path.join("index.html").display())?,
        None => writeln!(out, "\n`--out DIR` writes all tables, figures and a page.")?,
    }
    Ok(())
}
