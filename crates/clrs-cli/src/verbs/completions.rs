use std::io::Write;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a completion script for a shell
///
/// For bash: `source <(clrs completions bash)`. The scripts complete verbs, flags, files and names of algorithms.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Shell to print the script for
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // `generate` panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Cli::command(), "clrs", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}
