use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clrs::Trace;
use clrs::trace::Prediction;
use clrs_store::{StoreErrorKind, read_regular, write_atomic};
use clrs_web::document::Saved;
use clrs_web::page;
use serde_json::Value;

use crate::arguments::{self, Name, Sampling, on_existing};
use crate::error::Advise;

pub(super) mod render;

/// Run an algorithm and show every step
///
/// The problem is sampled, or read as JSON from a file or from standard input. The output of `--json` can be read back with
/// `--problem`, as can a line of `clrs eval --trajectories`, whose predictions are shown in the page of `--html`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    #[arg(value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithm: String,
    #[command(flatten)]
    sampling: Sampling,
    /// Read the problem from a JSON file, or from standard input (`-`); `clrs trace ALGORITHM --json` prints one as `problem`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["size", "seed", "options"])]
    problem: Option<PathBuf>,
    /// Print JSON: the problem, every probe at every step, and the source line of every step
    #[arg(long)]
    json: bool,
    /// Write a page with pictures of every step, which needs no other file and no server
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Replace an existing page
    #[arg(long, requires = "html")]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    let trace = if let Some(path) = &arguments.problem {
        let (problem, predictions) = read_problem(path, algorithm.name())?;
        let mut trace = Trace::record(algorithm, &problem).with_context(|| display(path))?;
        trace.predictions = predictions;
        trace
    } else {
        let Sampling { size, seed, .. } = arguments.sampling;
        Trace::sample(algorithm, size, seed, &arguments.sampling.options()?)?
    };
    if let Some(path) = &arguments.html {
        let page = page::standalone(&Saved::new(algorithm, trace));
        return write_atomic(path, on_existing(arguments.force), page.as_bytes()).advise_force();
    }
    if arguments.json {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, &trace)?;
        return Ok(writeln!(out)?);
    }
    let colors = std::io::stdout().is_terminal();
    let mut out = anstream::stdout().lock();
    Ok(render::trace(&mut out, &trace, algorithm.source(), colors)?)
}

/// Largest problem that is read. Problems that can be recorded are smaller.
const MAX_PROBLEM_BYTES: u64 = 256 << 20;

/// Reads a problem, or a trace that contains one and perhaps predictions of a network.
pub(super) fn read_problem(path: &Path, algorithm: &str) -> Result<(String, Option<Vec<Prediction>>)> {
    let text = if path == Path::new("-") { read_stdin()? } else { read_file(path)? };
    let Ok(Value::Object(mut trace)) = serde_json::from_str::<Value>(&text) else {
        // The algorithm reports what is wrong with it.
        return Ok((text, None));
    };
    let Some(problem) = trace.remove("problem") else { return Ok((text, None)) };
    let of = trace.get("algorithm").and_then(Value::as_str).unwrap_or(algorithm);
    ensure!(of == algorithm, "{}: a trace of {of}, not of {algorithm}", display(path));
    let predictions = trace.remove("predictions").map(serde_json::from_value).transpose();
    Ok((problem.to_string(), predictions.with_context(|| format!("{}: predictions", display(path)))?))
}

pub(super) fn display(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

fn read_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_PROBLEM_BYTES + 1).read_to_end(&mut bytes).context("cannot read standard input")?;
    ensure!(bytes.len() as u64 <= MAX_PROBLEM_BYTES, "standard input is larger than {MAX_PROBLEM_BYTES} bytes");
    String::from_utf8(bytes).context("standard input is not UTF-8")
}

fn read_file(path: &Path) -> Result<String> {
    let bytes = match read_regular(path, MAX_PROBLEM_BYTES) {
        Err(error) if matches!(error.kind, StoreErrorKind::NotAFile) => {
            bail!("{error}; `--problem -` reads from standard input")
        }
        bytes => bytes?,
    };
    String::from_utf8(bytes).with_context(|| format!("{}: not UTF-8", path.display()))
}
