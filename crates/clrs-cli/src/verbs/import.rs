use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clrs::Registry;
use clrs_store::{OnExisting, tfds};

/// Read a folder of TensorFlow Datasets, such as the published archive, into sets
///
/// Real numbers there have been rounded to float32, and stay so. Where that makes two of them equal, `clrs verify` may find
/// that an answer is no longer right.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The dataset's root (`CLRS30_v1.0.0`), or any folder in it
    path: PathBuf,
    /// Folder to write to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write over what is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let on_existing = if arguments.force { OnExisting::Replace } else { OnExisting::Fail };
    let made = tfds::import(&arguments.path, &arguments.out, &Registry::builtin(), on_existing, &())?;
    clrs_store::sync(made.iter().map(|set| set.path.as_path()))?;
    let samples: u64 = made.iter().map(|set| set.summary.samples).sum();
    let mut out = std::io::stdout().lock();
    Ok(writeln!(out, "{} sets, {samples} samples in {}", made.len(), arguments.out.display())?)
}
