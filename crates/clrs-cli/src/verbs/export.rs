use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs_store::{
    ExportFormat, OnExisting, Progress, Set, StoreError, StoreErrorKind, create_directory, estimate_export_bytes, npz, parquet,
    safetensors, tfds,
};
use rayon::prelude::*;

use crate::arguments;
use crate::error::{Advise, Interrupted};
use crate::progress::SampleBar;
use crate::table::plural;

/// Export sets to a format that other programs read
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory of sets, or one set
    path: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    format: Format,
    /// Directory to write to; created if necessary
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// With tfds: name of the split, if the names of sets do not end in one
    #[arg(long)]
    split: Option<String>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// A TensorFlow Datasets directory that `clrs.create_dataset(DIR, 'bfs', 'train', 32)` reads; real numbers become float32
    Tfds,
    /// One file per set with one row per sample, for `datasets.load_dataset('parquet', data_files=..)`
    Parquet,
    /// Dense NumPy arrays per set, padded to its longest sample
    Npz,
    /// Dense tensors per set, padded to its longest sample
    Safetensors,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> ExportFormat {
        match format {
            Format::Tfds => ExportFormat::Tfds,
            Format::Parquet => ExportFormat::Parquet,
            Format::Npz => ExportFormat::Npz,
            Format::Safetensors => ExportFormat::Safetensors,
        }
    }
}

/// Exports are announced from this size on.
const LARGE_BYTES: u64 = 1_000_000_000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.split.is_none() || arguments.format == Format::Tfds, "--split applies to --format tfds only");
    let mut sets = Set::open_all(&Set::files(&arguments.path)?)?;
    warn_if_large(&mut sets, arguments.format.into())?;
    create_directory(&arguments.out)?;
    let samples = sets.iter().map(Set::samples).sum::<u64>();
    let bar = SampleBar::new(usize::try_from(samples).ok(), arguments.quiet);
    let write = |set: &mut Set| export(set, arguments, &bar);
    // Dense arrays can be large: one set after another.
    let written: Result<Vec<PathBuf>, StoreError> = match arguments.format {
        Format::Tfds | Format::Parquet => sets.par_iter_mut().map(write).collect(),
        Format::Npz | Format::Safetensors => sets.iter_mut().map(write).collect(),
    };
    bar.finish();
    match written {
        Err(StoreError { kind: StoreErrorKind::Cancelled, .. }) => bail!(Interrupted(format!(
            "stopped; {} of {} complete. Repeat the command with --force to export all of them",
            bar.sets(),
            plural(sets.len(), "set")
        ))),
        Err(StoreError { kind: StoreErrorKind::NoSplit(name), path, .. }) => {
            bail!("{}: {}; name it with --split", path.display(), StoreErrorKind::NoSplit(name))
        }
        written => {
            let written = written.advise_force()?;
            Ok(writeln!(std::io::stdout(), "Exported {} to {}", plural(written.len(), "set"), arguments.out.display())?)
        }
    }
}

/// Dense formats can be a hundred times larger than the sets.
fn warn_if_large(sets: &mut [Set], format: ExportFormat) -> Result<()> {
    let mut bytes = 0;
    for set in sets {
        bytes += estimate_export_bytes(set, format)?;
    }
    if bytes > LARGE_BYTES {
        let compressed = match format {
            ExportFormat::Npz | ExportFormat::Parquet => " before compression",
            _ => "",
        };
        let gigabytes = bytes as f64 / 1e9;
        // A closed standard error is no reason to stop.
        let _ = writeln!(std::io::stderr(), "clrs: warning: the export takes about {gigabytes:.1} GB{compressed}");
    }
    Ok(())
}

fn export(set: &mut Set, arguments: &Arguments, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
    type Export = fn(&mut Set, &Path, OnExisting, &dyn Progress) -> Result<(), StoreError>;
    let on_existing = arguments::on_existing(arguments.force);
    let (extension, export): (&str, Export) = match arguments.format {
        Format::Tfds => {
            return tfds::export(set, &arguments.out, arguments.split.as_deref(), on_existing, progress);
        }
        Format::Parquet => ("parquet", parquet::export),
        Format::Npz => ("npz", npz::export),
        Format::Safetensors => ("safetensors", safetensors::export),
    };
    let path = arguments.out.join(format!("{}.{extension}", set.header().name));
    export(set, &path, on_existing, progress)?;
    Ok(path)
}
