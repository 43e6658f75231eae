//! `cargo xtask compare`: how fast, and how large, beside the reference.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

use crate::command::{cargo, clrs, run};
use crate::reference::Reference;

#[derive(Subcommand)]
pub(crate) enum Comparison {
    /// Make the benchmark's ninety sets with both programs: equal, how fast, how large
    Generation {
        /// Only these, comma-separated
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
        /// Write the numbers there, too
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Time and bytes of ours as problems grow: bfs, heapsort and `floyd_warshall`
    Scaling,
}

impl Comparison {
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Comparison::Generation { algorithms, json } => generation(algorithms, json.as_ref()),
            Comparison::Scaling => run(&mut cargo(&["run", "--release", "--quiet", "--package", "clrs", "--example", "scaling"])),
        }
    }
}

fn generation(algorithms: &[String], json: Option<&PathBuf>) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script("compare_generation.py");
    script.arg("--clrs").arg(clrs()?);
    if !algorithms.is_empty() {
        script.arg("--algorithms").arg(algorithms.join(","));
    }
    if let Some(json) = json {
        // The script runs at the root, the file is meant from here.
        script.arg("--json").arg(std::path::absolute(json)?);
    }
    run(&mut script)
}
