//! One file per verb: its arguments, and what it does with them.

mod completions;
mod list;
mod show;
mod trace;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Verb {
    List(list::Arguments),
    Show(show::Arguments),
    Trace(trace::Arguments),
    Completions(completions::Arguments),
}

impl Verb {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Verb::List(arguments) => list::run(&arguments),
            Verb::Show(arguments) => show::run(&arguments),
            Verb::Trace(arguments) => trace::run(&arguments),
            Verb::Completions(arguments) => {
                completions::run(&arguments);
                Ok(())
            }
        }
    }
}
