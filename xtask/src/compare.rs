//! `cargo xtask compare`: measures time and memory next to those of dm-clrs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::command::{built, clrs, output, run};
use crate::reference::Reference;

#[derive(Subcommand)]
pub(crate) enum Comparison {
    /// Generate the benchmark's 90 sets with both programs; compare values, time and memory
    Generation {
        /// Only these algorithms, comma-separated
        #[arg(long, value_delimiter = ',')]
        algorithms: Vec<String>,
        /// Write the results to FILE as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Time questions and answers of `clrs text` and of dm-clrs
    Text {
        /// Write the results to FILE as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Run the same network on the same batch in both programs; compare values, time and memory
    Training(TrainingArguments),
    /// Measure time and recorded bytes of bfs, heapsort and `floyd_warshall` as problems grow
    Growth,
    /// Predict the time of training steps and evaluations on more cores than this machine has
    Scaling(ScalingArguments),
}

#[derive(Args)]
pub(crate) struct ScalingArguments {
    /// Algorithms, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "bfs,insertion_sort,heapsort,floyd_warshall")]
    algorithms: Vec<String>,
    /// Processor
    #[arg(long, default_value = "mpnn")]
    processor: String,
    /// Training steps at 16 nodes or evaluations at 64 nodes
    #[arg(long, default_value = "training", value_parser = ["training", "evaluation"])]
    phase: String,
    /// Numbers of threads and cores, comma-separated
    #[arg(long, default_value = "1,2,4,8,16,32")]
    threads: String,
    /// Number of steps or evaluations of which the fastest counts
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

impl ScalingArguments {
    fn run(&self) -> Result<()> {
        let reference = Reference::prepare()?;
        clrs()?;
        let fixtures = tempfile::tempdir()?;
        for algorithm in &self.algorithms {
            let fixture = fixtures.path().join(algorithm);
            let size = if self.phase == "training" { 16 } else { 64 };
            let case = format!(
                r#"{{"algorithm":"{algorithm}","processor":"{}","size":{size},"hidden":128,"batch":32,"seed":42,"data":"canonical"}}"#,
                self.processor
            );
            let mut record = reference.script("record_networks.py");
            output(record.args(["--case", &case, "--no-outcome", "--out"]).arg(&fixture))?;
            println!("{algorithm}, {}, {size} nodes, {}:", self.processor, self.phase);
            let mut scaling = Command::new(built("examples/scaling")?);
            run(scaling.arg(&fixture).args([&self.phase, &self.rounds.to_string(), &self.threads]))?;
            let memory = self.threads.split(',').map(|threads| self.peak_memory(&fixture, threads));
            println!("  peak memory: {}", memory.collect::<Result<Vec<_>>>()?.join(", "));
        }
        Ok(())
    }

    /// Measured in a process for each number of threads.
    fn peak_memory(&self, fixture: &Path, threads: &str) -> Result<String> {
        let mut compare = Command::new(built("examples/compare")?);
        let report = output(compare.arg(fixture).args([&self.phase, "2"]).env("RAYON_NUM_THREADS", threads))?;
        let report: serde_json::Value = serde_json::from_str(&report)?;
        let megabytes = report["peak_bytes"].as_f64().map_or("unknown".into(), |bytes| format!("{:.0} MB", bytes / 1e6));
        Ok(format!("{megabytes} with {threads}"))
    }
}

#[derive(Args)]
pub(crate) struct TrainingArguments {
    /// Algorithms, comma-separated
    #[arg(long, default_value = "bfs")]
    algorithms: String,
    /// Processors, comma-separated
    #[arg(long, default_value = "mpnn")]
    processors: String,
    /// Number of nodes
    #[arg(long, default_value_t = 16)]
    size: usize,
    /// Size of hidden vectors
    #[arg(long, default_value_t = 128)]
    hidden: usize,
    /// Samples per batch
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Seed of the batch and of the parameters
    #[arg(long, default_value_t = 42)]
    seed: u32,
    /// Number of timed training steps and evaluations
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Samples drawn on the fly as for the generalist, or those of the benchmark (its training set at 16 nodes, its test set at 64)
    #[arg(long, default_value = "generalist", value_parser = ["generalist", "canonical"])]
    data: String,
    /// Only training or only evaluation; training at 64 nodes takes dm-clrs minutes and many GB
    #[arg(long, value_parser = ["training", "evaluation"])]
    only: Option<String>,
    /// Seeds to try for a case without near-ties; 0 takes the seed as it is, and differences may then be ties
    #[arg(long, default_value_t = 20)]
    tries: usize,
    /// Memory limit of dm-clrs in GB [default: four fifths of the available memory]
    #[arg(long, value_name = "GB")]
    memory: Option<f64>,
    /// Run ours without fused operations
    #[arg(long)]
    no_fused: bool,
    /// Write the results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Comparison {
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Comparison::Generation { algorithms, json } => programs("compare_generation.py", algorithms, json.as_deref()),
            Comparison::Text { json } => programs("compare_text.py", &[], json.as_deref()),
            Comparison::Training(arguments) => arguments.run(),
            Comparison::Growth => {
                clrs()?;
                run(&mut Command::new(built("examples/growth")?))
            }
            Comparison::Scaling(arguments) => arguments.run(),
        }
    }
}

/// Runs a script that compares the program with dm-clrs.
fn programs(script: &str, algorithms: &[String], json: Option<&Path>) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script(script);
    script.arg("--clrs").arg(clrs()?);
    if !algorithms.is_empty() {
        script.arg("--algorithms").arg(algorithms.join(","));
    }
    if let Some(json) = json {
        // The script runs in the root folder; the path is relative to the current one.
        script.arg("--json").arg(std::path::absolute(json)?);
    }
    run(&mut script)
}

impl TrainingArguments {
    fn run(&self) -> Result<()> {
        let reference = Reference::prepare()?;
        clrs()?;
        let mut script = reference.script("compare_training.py");
        script.arg("--ours").arg(built("examples/compare")?);
        for (name, value) in [("--algorithms", &self.algorithms), ("--processors", &self.processors), ("--data", &self.data)] {
            script.arg(name).arg(value);
        }
        let numbers = [
            ("--size", self.size),
            ("--hidden", self.hidden),
            ("--batch", self.batch),
            ("--rounds", self.rounds),
            ("--tries", self.tries),
        ];
        for (name, value) in numbers {
            script.arg(name).arg(value.to_string());
        }
        script.arg("--seed").arg(self.seed.to_string());
        if let Some(only) = &self.only {
            script.arg("--only").arg(only);
        }
        if let Some(memory) = self.memory {
            script.arg("--memory").arg(memory.to_string());
        }
        if self.no_fused {
            script.arg("--no-fused");
        }
        if let Some(json) = &self.json {
            script.arg("--json").arg(std::path::absolute(json)?);
        }
        run(&mut script)
    }
}
