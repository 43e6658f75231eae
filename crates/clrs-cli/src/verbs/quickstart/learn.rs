use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Parser;
use clrs_nn::tensors::NamedArrays;

use crate::verbs::Verb;

/// Words as one would type them after `clrs`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

/// Trains a network and judges it, as one would by hand.
pub(super) fn learn(folder: &Path, algorithm: &str) -> Result<()> {
    let run = folder.join("run");
    let run = run.to_str().context("the folder's name is no text")?;
    let mut train = vec!["train", "paper-2022", "--algorithms", algorithm, "--set", "steps=300", "--set", "eval_every=50"];
    let is_begun = Path::new(run).join("config.toml").exists();
    if is_begun {
        train = vec!["train", "--resume"];
    }
    train.extend(["--out", run]);
    let is_done = || {
        let last = NamedArrays::read(&Path::new(run).join("last.safetensors")).ok()?;
        last.metadata.get("clrs.checkpoint")?.contains("\"step\":300").then_some(())
    };
    let show = |words: &[&str]| writeln!(std::io::stdout(), "\n$ clrs {}", words.join(" "));
    writeln!(
        std::io::stdout(),
        "\nNow a message-passing network learns it from the benchmark's training set, a thousand samples like these."
    )?;
    if is_begun && is_done().is_some() {
        writeln!(std::io::stdout(), "It has learnt it before: {run}")?;
    } else {
        show(&train)?;
        clrs(&train)?;
    }
    let eval = ["eval", run, "--sizes", "16,64"];
    show(&eval)?;
    clrs(&eval)?;
    writeln!(
        std::io::stdout(),
        "\nThe network saw 16 nodes and was asked about 64 too. Its recipe, metrics and checkpoints are in {run}."
    )?;
    Ok(())
}

fn clrs(words: &[&str]) -> Result<()> {
    Line::try_parse_from(words)?.verb.run()
}
