use anyhow::Result;
use clap::{Args, Subcommand};

mod formatting;
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
