use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use clrs_store::{OnExisting, Progress, Set, StoreError, npz, parquet, safetensors, tfds};
use rayon::prelude::*;

use crate::arguments;

/// Write sets in a format that other programs read
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of sets, or one set
    path: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    format: Format,
    /// Folder to write to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// tfds: name of the split, where a set's name does not end in it
    #[arg(long)]
    split: Option<String>,
    /// Write over what is there
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    /// A folder of TensorFlow Datasets, as `clrs.create_dataset(DIR, 'bfs', 'train', 32)` reads it; real numbers are float32
    Tfds,
    /// A file per set with a row per sample, as `datasets.load_dataset('parquet', data_files=..)` opens it
    Parquet,
    /// Dense numpy arrays per set, padded to its longest sample
    Npz,
    /// Dense tensors per set, padded to its longest sample
    Safetensors,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.split.is_none() || arguments.format == Format::Tfds, "--split is for --format tfds");
    let mut sets = Set::open_all(&arguments::sets(&arguments.path)?)?;
    std::fs::create_dir_all(&arguments.out).with_context(|| format!("cannot make the folder {}", arguments.out.display()))?;
    let on_existing = if arguments.force { OnExisting::Replace } else { OnExisting::Fail };
    let write = |set: &mut Set| export(set, arguments, on_existing);
    // Dense arrays can be large: one set after another. TFDS and Parquet are written as they are made.
    let written: Vec<PathBuf> = match arguments.format {
        Format::Tfds | Format::Parquet => sets.par_iter_mut().map(write).collect::<Result<_, _>>()?,
        Format::Npz | Format::Safetensors => sets.iter_mut().map(write).collect::<Result<_, _>>()?,
    };
    let mut out = std::io::stdout().lock();
    Ok(writeln!(out, "{} sets in {}", written.len(), arguments.out.display())?)
}

fn export(set: &mut Set, arguments: &Arguments, on_existing: OnExisting) -> Result<PathBuf, StoreError> {
    let name = set.header().name.clone();
    let file = |extension: &str| arguments.out.join(format!("{name}.{extension}"));
    let to = |path: PathBuf, write: fn(&mut Set, &Path, OnExisting, &dyn Progress) -> Result<(), StoreError>, set: &mut Set| {
        write(set, &path, on_existing, &()).map(|()| path)
    };
    match arguments.format {
        Format::Tfds => tfds::export(set, &arguments.out, arguments.split.as_deref(), on_existing, &()),
        Format::Parquet => to(file("parquet"), parquet::export, set),
        Format::Npz => to(file("npz"), npz::export, set),
        Format::Safetensors => to(file("safetensors"), safetensors::export, set),
    }
}
