use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a script that completes `clrs` commands in a shell
#[derive(Args)]
pub(crate) struct Arguments {
    /// Shell to complete in
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) {
    clap_complete::generate(arguments.shell, &mut crate::Cli::command(), "clrs", &mut std::io::stdout().lock());
}
