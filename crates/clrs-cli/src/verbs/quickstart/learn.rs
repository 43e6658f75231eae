use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::Parser;
use clrs_nn::run::status::{RunStatus, Status};

use crate::verbs::Verb;

/// A command line without the name of the program.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

/// Trains a network and evaluates it, with the commands that a user would type.
pub(super) fn learn(dir: &Path, algorithm: &str) -> Result<()> {
    let run = dir.join("run");
    writeln!(
        std::io::stdout(),
        "\nA message-passing network learns the algorithm from the benchmark's training set, which has 1000 samples like these."
    )?;
    match RunStatus::read(&run)?.map(|status| status.status) {
        Some(Status::Done) => writeln!(std::io::stdout(), "It is already trained: {}", run.display())?,
        Some(_) if run.join("config.toml").exists() => clrs(&["train", "--resume", "--out"], &run, &[])?,
        _ => {
            let recipe = ["--set", "steps=300", "--set", "eval_every=50"];
            clrs(&["train", "paper-2022", "--algorithms", algorithm, "--out"], &run, &recipe)?;
        }
    }
    clrs(&["eval"], &run, &["--sizes", "16,64"])?;
    writeln!(
        std::io::stdout(),
        "\nThe network was trained on 16 nodes; 64 nodes show how it generalizes. Its recipe, metrics and checkpoints are in {}.",
        run.display()
    )?;
    Ok(())
}

/// Prints a command and runs it.
fn clrs(words: &[&str], run: &Path, more: &[&str]) -> Result<()> {
    let words = words.iter().map(OsStr::new);
    let line: Vec<&OsStr> = words.chain([run.as_os_str()]).chain(more.iter().map(OsStr::new)).collect();
    let text: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
    writeln!(std::io::stdout(), "\n$ clrs {}", text.join(" "))?;
    CommandLine::try_parse_from(line)?.verb.run()
}
