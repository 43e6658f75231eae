//! `cargo xtask test`: everything that CI checks, cheapest first.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::command::{cargo, run};
use crate::goldens::{self, Golden};
use crate::{exports, modules, package, parity, python, slurm, text, ui};

/// A stage of the test command.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The code is formatted
    Format,
    /// The modules of each crate have no cyclic dependencies
    Modules,
    /// Every crate can be packaged, with the files it needs
    Package,
    /// clippy has no warnings
    Lints,
    /// Unit, contract, golden and documentation tests
    Tests,
    /// The documentation builds without warnings
    Docs,
    /// The goldens agree with dm-clrs
    Goldens,
    /// `clrs sample` agrees with dm-clrs
    Parity,
    /// `clrs text` agrees with dm-clrs
    Text,
    /// Other programs read exported files and training metrics
    Exports,
    /// The Python package: types, tests, equality with dm-clrs
    Python,
    /// A sweep survives a real Slurm cluster
    Slurm,
    /// The page of the explorer: types, unit tests, the committed bundle, and every algorithm in a browser
    Ui,
}

impl Stage {
    fn name(self) -> String {
        self.to_possible_value().expect("no stage is hidden").get_name().to_owned()
    }

    // The release profile everywhere: numeric code is slow without it, and dependencies are built once.
    fn run(self) -> Result<()> {
        match self {
            Stage::Format => run(&mut cargo(&["fmt", "--all", "--check"])),
            Stage::Modules => modules::check(),
            Stage::Package => package::check(),
            Stage::Lints => {
                let clippy = |of: &[&str]| {
                    run(cargo(&["clippy", "--release", "--quiet", "--locked"]).args(of).args(["--", "--deny", "warnings"]))
                };
                clippy(&["--workspace", "--all-targets"])?;
                clippy(&["--package", "clrs-cli", "--no-default-features"])
            }
            Stage::Tests => run(&mut cargo(&["test", "--release", "--quiet", "--locked", "--workspace"])),
            Stage::Docs => {
                let arguments = ["doc", "--release", "--quiet", "--locked", "--workspace", "--no-deps"];
                run(cargo(&arguments).env("RUSTDOCFLAGS", "--deny warnings"))
            }
            Stage::Goldens => goldens::record(&Golden::QUICK, true),
            Stage::Parity => parity::compare(false, &[]),
            Stage::Text => text::compare(false, &[]),
            Stage::Exports => exports::compare(&[]),
            Stage::Python => python::test(&[]),
            Stage::Slurm => slurm::test(),
            Stage::Ui => ui::test(),
        }
    }
}

/// Runs all stages, or one; stops at the first failure.
pub(crate) fn run_stages(only: Option<Stage>) -> Result<()> {
    let mut times: Vec<(String, Duration)> = Vec::new();
    for stage in Stage::value_variants().iter().copied().filter(|&stage| only.is_none_or(|only| only == stage)) {
        let name = stage.name();
        println!("== {name}");
        let start = Instant::now();
        stage.run().with_context(|| format!("{name} failed (to repeat only this stage: cargo xtask test --only {name})"))?;
        println!("== {name}: {:.1} s", start.elapsed().as_secs_f64());
        times.push((name, start.elapsed()));
    }
    let total: Duration = times.iter().map(|(_, time)| time).sum();
    let times: Vec<String> = times.iter().map(|(name, time)| format!("{name} {:.0} s", time.as_secs_f64())).collect();
    println!("== all stages passed in {:.0} s: {}", total.as_secs_f64(), times.join(", "));
    Ok(())
}
