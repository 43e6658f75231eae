use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use clrs::Registry;
use clrs_store::{StoreError, StoreErrorKind, tfds};

use crate::arguments;
use crate::error::{Advise, Interrupted};
use crate::progress::SampleBar;
use crate::table::plural;

/// Import sets from a TensorFlow Datasets directory, such as the published archive
///
/// Real numbers were rounded to float32 there, and stay rounded. Where that makes two of them equal, `clrs verify` may report
/// an answer that is no longer correct.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Root of the dataset (`CLRS30_v1.0.0`), or any directory in it
    path: PathBuf,
    /// Directory to write to; created if necessary
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace existing sets
    #[arg(long)]
    force: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let bar = SampleBar::new(None, arguments.quiet);
    let on_existing = arguments::on_existing(arguments.force);
    let imported = tfds::import(&arguments.path, &arguments.out, &Registry::builtin(), on_existing, &bar);
    bar.finish();
    if let Err(StoreError { kind: StoreErrorKind::Cancelled, .. }) = imported {
        let complete = plural(bar.sets(), "set");
        bail!(Interrupted(format!("stopped; {complete} complete. Repeat the command with --force to import all of them")));
    }
    let imported = imported.advise_force()?;
    clrs_store::sync(imported.iter().map(|set| set.path.as_path()))?;
    let samples: u64 = imported.iter().map(|set| set.summary.samples).sum();
    let out = arguments.out.display();
    Ok(writeln!(std::io::stdout(), "Imported {} with {samples} samples to {out}", plural(imported.len(), "set"))?)
}
