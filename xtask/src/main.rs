//! The project's own commands: `cargo xtask COMMAND`.
//!
//! `test` is the one test command. What it and the others compare with is the reference, dm-clrs, which `reference` installs
//! into an environment of its own, outside the clone. The comparisons themselves are Python, in `xtask/python`, since that is
//! where the reference lives; the commands here prepare it and start them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands talk to a terminal")]

mod command;
mod compare;
mod devices;
mod exports;
mod goldens;
mod hashes;
mod parity;
mod reference;
mod sanitize;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, lints, tests, documentation, goldens and parity with the reference: all that CI does
    Test {
        /// This stage alone
        #[arg(long)]
        only: Option<test::Stage>,
    },
    /// Time every kernel: microseconds, rate, and share of what the machine can do
    Bench {
        /// Those whose names have this in them; all if not said
        #[arg(default_value = "")]
        name: String,
        /// How long; the more, the less others on the machine matter
        #[arg(long, default_value_t = 20)]
        seconds: u32,
    },
    /// Measure ours beside the reference
    Compare {
        #[command(subcommand)]
        comparison: compare::Comparison,
    },
    /// Build for a graphics card, compare networks there with recordings of the reference, and train one
    ///
    /// Without a card, wgpu runs on a Vulkan driver in software. On Debian and its relatives, root gets one installed.
    Devices {
        /// Which device
        #[arg(long, value_enum, default_value_t = devices::Device::Wgpu)]
        device: devices::Device,
    },
    /// Write down in golden/ what the reference does
    Goldens {
        /// Which; all if none is named
        kinds: Vec<goldens::Golden>,
        /// Change nothing; fail where a file would change
        #[arg(long)]
        check: bool,
    },
    /// Open what `clrs export` writes with those it is for: the reference's client, numpy, `datasets`
    Exports {
        /// Of these algorithms, comma-separated; a few small ones if none is named
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
    },
    /// Write down the content hashes of the benchmark's sets, by which the library knows them
    Hashes {
        /// Change nothing; fail where a hash would change
        #[arg(long)]
        check: bool,
    },
    /// Compare `clrs sample` with the reference, every array
    Parity {
        /// Large sizes, other seeds, every value of every option: some minutes
        #[arg(long)]
        full: bool,
        /// Only these, comma-separated
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
    },
    /// Install the reference into an environment of its own, and say where its Python is
    Reference,
    /// Test the kernels under `AddressSanitizer` and valgrind: a quarter of an hour
    Sanitize,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Task::Test { only } => test::run_stages(only),
        Task::Bench { name, seconds } => bench(&name, seconds),
        Task::Compare { comparison } => comparison.run(),
        Task::Devices { device } => devices::compare(device),
        Task::Goldens { kinds, check } => goldens::record(&kinds, check),
        Task::Exports { algorithms } => exports::compare(&algorithms),
        Task::Hashes { check } => hashes::pin(check),
        Task::Parity { full, algorithms } => parity::compare(full, &algorithms),
        Task::Sanitize => sanitize::kernels(),
        Task::Reference => reference::Reference::prepare().map(|reference| println!("{}", reference.python().display())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Kernels have no dependencies: their package alone is built quickly, and nothing else is built anew.
fn bench(name: &str, seconds: u32) -> anyhow::Result<()> {
    let arguments = ["run", "--release", "--quiet", "--package", "clrs-kernels", "--example", "bench", "--"];
    command::run(command::cargo(&arguments).args([&seconds.to_string(), name]))
}

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}
