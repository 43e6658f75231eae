use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use clrs_store::AtomicFile;
use clrs_text::Verdict;
use clrs_text::score::{Estimate, Prediction, Scores, score_file, score_lines};
use serde::Serialize;

use crate::arguments;
use crate::error::Advise;
use crate::table::Table;

/// Score predicted answers by algorithm and size
///
/// Each line of the file is a JSON object with a `question` and a `prediction`, and optionally the reference `answer` and the `size`.
/// Without an answer, the algorithm runs on the problem of the question. Exact match compares with the reference, trace included;
/// validity accepts any correct output. Intervals are bootstrap intervals of 95%.
#[derive(Args)]
pub(crate) struct Arguments {
    /// File of predictions, one JSON object per line; `-` reads from standard input
    #[arg(value_name = "PREDICTIONS.jsonl")]
    predictions: PathBuf,
    /// Write the verdict on every prediction to this file, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl")]
    examples: Option<PathBuf>,
    /// Replace an existing file of examples
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'l> {
    #[serde(flatten)]
    prediction: &'l Prediction,
    #[serde(flatten)]
    verdict: &'l Verdict,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(examples) = &arguments.examples {
        // `--force` would destroy what is being read.
        let is_same = examples.canonicalize().is_ok_and(|file| arguments.predictions.canonicalize().is_ok_and(|of| of == file));
        ensure!(!is_same, "{}: has the predictions; write the examples to another file", examples.display());
    }
    let on_existing = arguments::on_existing(arguments.force);
    let file = arguments.examples.as_ref().map(|path| AtomicFile::create(path, on_existing)).transpose().advise_force()?;
    let mut examples = file.map(BufWriter::new);
    let observe = |prediction: &Prediction, verdict: &Verdict| {
        let Some(out) = &mut examples else { return anyhow::Ok(()) };
        write_line(out, &Line { prediction, verdict }).with_context(|| out.get_ref().path().display().to_string())
    };
    let report = if arguments.predictions == Path::new("-") {
        score_lines(std::io::stdin().lock(), Path::new("standard input"), observe)?
    } else {
        score_file(&arguments.predictions, observe)?
    };
    if let Some(out) = examples {
        let path = out.get_ref().path().display().to_string();
        out.into_inner().map_err(IntoInnerError::into_error).context(path)?.commit().advise_force()?;
    }

    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        return Ok(writeln!(out)?);
    }
    let mut table = Table::new(&["algorithm", "size", "samples", "exact match", "valid", "shape", "parsed", "elements"]);
    for group in &report.groups {
        table.row([group.algorithm.clone(), group.size.to_string()].into_iter().chain(cells(&group.scores)));
    }
    if report.groups.len() > 1 {
        table.row(["all".into(), "-".into()].into_iter().chain(cells(&report.total)));
    }
    Ok(table.write(&mut out)?)
}

fn write_line(out: &mut impl Write, line: &Line<'_>) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}

fn cells(scores: &Scores) -> Vec<String> {
    let estimates = [scores.exact_match, scores.valid, scores.shape, scores.parsed, scores.element_accuracy];
    let percent = |Estimate { mean, low, high }: Estimate| {
        let [mean, low, high] = [mean, low, high].map(|fraction| 100.0 * fraction);
        if low == high { format!("{mean:.2}") } else { format!("{mean:.2} [{low:.2}, {high:.2}]") }
    };
    std::iter::once(scores.samples.to_string()).chain(estimates.map(percent)).collect()
}
