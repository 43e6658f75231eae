//! One file per verb: its arguments, and their translation into calls of the libraries.

mod completions;
#[cfg(feature = "networks")]
mod eval;
mod export;
mod generate;
mod import;
mod list;
mod quickstart;
#[cfg(feature = "networks")]
mod report;
mod sample;
mod serve;
mod show;
mod stats;
#[cfg(feature = "networks")]
mod sweep;
mod text;
mod trace;
#[cfg(feature = "networks")]
mod train;
mod verify;
#[cfg(feature = "networks")]
mod weights;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Verb {
    Quickstart(quickstart::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Trace(trace::Arguments),
    Serve(serve::Arguments),
    Sample(sample::Arguments),
    Generate(generate::Arguments),
    Verify(verify::Arguments),
    Stats(stats::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Text(text::Arguments),
    #[cfg(feature = "networks")]
    Train(train::Arguments),
    #[cfg(feature = "networks")]
    Weights(weights::Arguments),
    #[cfg(feature = "networks")]
    Eval(eval::Arguments),
    #[cfg(feature = "networks")]
    Sweep(sweep::Arguments),
    #[cfg(feature = "networks")]
    Report(report::Arguments),
    Completions(completions::Arguments),
}

impl Verb {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Verb::Quickstart(arguments) => quickstart::run(&arguments),
            Verb::List(arguments) => list::run(&arguments),
            Verb::Show(arguments) => show::run(&arguments),
            Verb::Trace(arguments) => trace::run(&arguments),
            Verb::Serve(arguments) => serve::run(arguments),
            Verb::Sample(arguments) => sample::run(&arguments),
            Verb::Generate(arguments) => generate::run(&arguments),
            Verb::Verify(arguments) => verify::run(&arguments),
            Verb::Stats(arguments) => stats::run(&arguments),
            Verb::Export(arguments) => export::run(&arguments),
            Verb::Import(arguments) => import::run(&arguments),
            Verb::Text(arguments) => text::run(&arguments),
            #[cfg(feature = "networks")]
            Verb::Train(arguments) => train::run(&arguments),
            #[cfg(feature = "networks")]
            Verb::Weights(arguments) => weights::run(&arguments),
            #[cfg(feature = "networks")]
            Verb::Eval(arguments) => eval::run(&arguments),
            #[cfg(feature = "networks")]
            Verb::Sweep(arguments) => sweep::run(&arguments),
            #[cfg(feature = "networks")]
            Verb::Report(arguments) => report::run(&arguments),
            Verb::Completions(arguments) => completions::run(&arguments),
        }
    }
}
