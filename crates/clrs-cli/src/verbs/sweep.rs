use anyhow::Result;
use clap::{Args, Subcommand};

mod cluster;
mod plan;
mod run;
mod status;
mod view;

/// Plan and execute many runs: on this machine, on Slurm, or on other clusters
///
/// `clrs sweep plan quick --out sweeps/quick` resolves all runs of a sweep file into a directory, `clrs sweep run sweeps/quick` executes
/// them on all cores, `clrs sweep submit sweeps/quick --slurm` on a cluster. `clrs sweep status` shows how far they are, `clrs report`
/// writes tables and figures. Executing again continues where the runs are; nothing is done twice.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: SweepCommand,
}

#[derive(Subcommand)]
enum SweepCommand {
    Plan(plan::Arguments),
    Run(run::Arguments),
    Status(status::Arguments),
    Submit(cluster::SubmitArguments),
    Cancel(cluster::CancelArguments),
    Manifest(cluster::ManifestArguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        SweepCommand::Plan(arguments) => plan::run(arguments),
        SweepCommand::Run(arguments) => run::run(arguments),
        SweepCommand::Status(arguments) => status::run(arguments),
        SweepCommand::Submit(arguments) => cluster::submit(arguments),
        SweepCommand::Cancel(arguments) => cluster::cancel(arguments),
        SweepCommand::Manifest(arguments) => cluster::manifest(arguments),
    }
}
