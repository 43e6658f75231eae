use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use clrs_text::{Block, Format, Formatter, Generator, write_line};
use serde_json::json;

use super::formatting::Formatting;
use crate::arguments::{self, Name, Sampling};
use crate::verbs::trace;

/// Print questions and answers as JSON lines
///
/// Each line has a `question`, its `answer`, and the identity of the trajectory: `algorithm`, `size`, `seed` and `index`. The samples
/// are those of dm-clrs's `build_sampler(ALGORITHM, num_samples=-1, seed=SEED, length=SIZE, track_max_steps=False)`, one at a time.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    #[arg(value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithm: String,
    #[command(flatten)]
    sampling: Sampling,
    /// Number of samples
    #[arg(long, default_value_t = 1)]
    count: u64,
    #[command(flatten)]
    formatting: Formatting,
    /// Format the problem in a JSON file, or from standard input (`-`), instead of samples
    #[arg(long, value_name = "FILE", conflicts_with_all = ["size", "seed", "options", "count", "decimals"])]
    problem: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    /// Rows that are generated at a time.
    const CHUNK: usize = 256;
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    let options = arguments.formatting.options(Format::default(), None)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if let Some(path) = &arguments.problem {
        let (problem, _) = trace::read_problem(path, algorithm.name())?;
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&problem, &mut recorder).with_context(|| trace::display(path))?;
        let example = Formatter::new(algorithm, options.format, options.hints).format(recorder.trajectories().get(0))?;
        let line = json!({ "algorithm": algorithm.name(), "question": example.question, "answer": example.answer });
        writeln!(out, "{line}")?;
        return Ok(out.flush()?);
    }
    ensure!(arguments.count > 0, "--count must be at least 1");
    let Sampling { size, seed, .. } = arguments.sampling;
    let block = Block { algorithm, size, seed, count: arguments.count };
    let options = options.with_sampler(arguments.sampling.options()?);
    let mut generator = Generator::blocks(&[block], &options)?;
    // One at first: a reader that wants no more need not wait for others.
    let mut chunk = 1;
    loop {
        let rows = generator.next_rows(chunk)?;
        if rows.is_empty() {
            return Ok(out.flush()?);
        }
        rows.iter().try_for_each(|row| write_line(&mut out, row))?;
        chunk = (2 * chunk).min(CHUNK);
    }
}
