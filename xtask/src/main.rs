//! The project's commands: `cargo xtask COMMAND`.
//!
//! `test` is the command that CI runs. Comparisons are with dm-clrs, which `reference` installs into a virtual
//! environment outside the clone. Their Python part is in `xtask/python`; the commands here prepare the environment and run it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "these commands print to a terminal")]

mod command;
mod compare;
mod devices;
mod exports;
mod frameworks;
mod fuzz;
mod goldens;
mod hashes;
mod modules;
mod package;
mod parity;
mod python;
mod reference;
mod sanitize;
mod slurm;
mod test;
mod text;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run everything that CI runs: formatting, lints, tests, documentation, comparisons with dm-clrs
    Test {
        /// Run only this stage
        #[arg(long)]
        only: Option<test::Stage>,
    },
    /// Time every kernel: microseconds, rate, and fraction of the machine's peak
    Bench {
        /// Only kernels whose names contain this
        #[arg(default_value = "")]
        name: String,
        /// Total time; longer is less sensitive to other load on the machine
        #[arg(long, default_value_t = 20)]
        seconds: u32,
    },
    /// Measure time and memory next to those of dm-clrs
    Compare {
        #[command(subcommand)]
        comparison: compare::Comparison,
    },
    /// Build for a GPU, compare networks there with fixtures of dm-clrs, and train one
    ///
    /// Without a GPU, wgpu runs on a software Vulkan driver. On Debian and Ubuntu, it is installed if the user is root.
    Devices {
        /// The device
        #[arg(long, value_enum, default_value_t = devices::Device::Wgpu)]
        device: devices::Device,
    },
    /// Record results of dm-clrs in golden/
    Goldens {
        /// Kinds of goldens [default: all]
        kinds: Vec<goldens::Golden>,
        /// Change nothing; fail if a file would change
        #[arg(long)]
        check: bool,
    },
    /// Read exported files with the programs they are for: dm-clrs's client, `NumPy`, `datasets`, `TensorBoard`
    Exports {
        /// Algorithms, comma-separated [default: a few small ones]
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
    },
    /// Fuzz a reader of untrusted input with libFuzzer
    Fuzz {
        /// The reader
        reader: fuzz::Reader,
        /// How long
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
        /// Then minimize the inputs found into fuzz/corpus
        #[arg(long)]
        update: bool,
    },
    /// Pin the content hashes of the benchmark's sets
    Hashes {
        /// Change nothing; fail if a hash would change
        #[arg(long)]
        check: bool,
    },
    /// Compare `clrs sample` with dm-clrs, array by array
    Parity {
        /// Large sizes, more seeds, every value of every option; takes minutes
        #[arg(long)]
        full: bool,
        /// Only these algorithms, comma-separated
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
    },
    /// Build the Python package, check its types, and test it next to dm-clrs
    Python {
        /// Only these tests: arguments of pytest [default: all]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        tests: Vec<String>,
    },
    /// Install dm-clrs into a virtual environment and print the path of its Python
    Reference,
    /// Check the page of the explorer: types, unit tests, and whether its bundle is what its sources give
    Ui {
        /// Update the bundle in crates/clrs-web/bundle
        #[arg(long)]
        write: bool,
        /// Test the page in Chromium instead, with arguments such as `-- --only network`
        #[arg(long, conflicts_with = "write")]
        browser: bool,
        /// Arguments of crates/clrs-web/ui/browser/run.mjs
        #[arg(last = true, requires = "browser")]
        arguments: Vec<String>,
    },
    /// Test the kernels under `AddressSanitizer` and valgrind; takes 15 minutes
    Sanitize,
    /// Compare `clrs text` with dm-clrs, string by string
    Text {
        /// All sizes of the benchmark, more seeds, long streams, complete files; takes ten minutes
        #[arg(long)]
        full: bool,
        /// Only samples of these algorithms, comma-separated
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Task::Test { only } => test::run_stages(only),
        Task::Bench { name, seconds } => bench(&name, seconds),
        Task::Compare { comparison } => comparison.run(),
        Task::Devices { device } => devices::compare(device),
        Task::Goldens { kinds, check } => goldens::record(&kinds, check),
        Task::Exports { algorithms } => exports::compare(&algorithms),
        Task::Fuzz { reader, minutes, update } => fuzz::fuzz(reader, minutes, update),
        Task::Hashes { check } => hashes::pin(check),
        Task::Parity { full, algorithms } => parity::compare(full, &algorithms),
        Task::Python { tests } => python::test(&tests),
        Task::Ui { browser: true, arguments, .. } => ui::browse(&arguments),
        Task::Ui { write, .. } => ui::check(write),
        Task::Sanitize => sanitize::kernels(),
        Task::Text { full, algorithms } => text::compare(full, &algorithms),
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

/// Builds only the package of the kernels, which has no dependencies, and runs its benchmarks.
fn bench(name: &str, seconds: u32) -> anyhow::Result<()> {
    let arguments = ["run", "--release", "--quiet", "--package", "clrs-kernels", "--example", "bench", "--"];
    command::run(command::cargo(&arguments).args([&seconds.to_string(), name]))
}
