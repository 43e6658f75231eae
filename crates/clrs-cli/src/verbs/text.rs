use anyhow::Result;
use clap::{Args, Subcommand};
use clrs_text::{Format, TextOptions};

mod generate;
mod sample;
mod score;

/// Questions and answers for language models (CLRS-Text): print, generate, score
///
/// Every trajectory is a question (the problem) and an answer (the output), with a trace of the algorithm's steps if asked for. Texts
/// equal those of dm-clrs. `clrs text score` accepts any correct answer, not only that of the algorithm.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: TextCommand,
}

#[derive(Subcommand)]
enum TextCommand {
    Sample(sample::Arguments),
    Generate(generate::Arguments),
    Score(score::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        TextCommand::Sample(arguments) => sample::run(arguments),
        TextCommand::Generate(arguments) => generate::run(arguments),
        TextCommand::Score(arguments) => score::run(arguments),
    }
}

/// How trajectories become text.
#[derive(Args)]
struct Formatting {
    /// Trace the steps of the algorithm: the first in the question, the others in the answer
    #[arg(long)]
    hints: bool,
    /// Truncate numbers to this many decimals before the algorithm runs on them; 0 for all decimals
    #[arg(long, value_name = "D")]
    decimals: Option<u32>,
    /// The format: text@2.0.3 [default], text@2.0.1 (numbers with three significant digits) or text@1 (names and numbered steps)
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
}

impl Formatting {
    /// Options with a format and decimals for those that are not set.
    fn options(&self, format: Format, decimals: Option<u32>) -> Result<TextOptions> {
        let format = self.format.as_deref().map_or(Ok(format), str::parse)?;
        let decimals = self.decimals.or(decimals).filter(|&decimals| decimals > 0);
        Ok(TextOptions::new(format, self.hints, decimals))
    }
}
