//! Arguments that several verbs share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[cfg(feature = "networks")]
use anyhow::bail;
use anyhow::{Context, Result, ensure};
use clap::Args;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clrs::sampling::SamplerOptions;
use clrs::{AnyAlgorithm, Family, Registry};
#[cfg(feature = "networks")]
use clrs_nn::{
    Registries,
    eval::trained::{Checkpoint, OpenModelError, TrainedModel},
    exec::device::{self, Device},
    exec::isa::Isa,
    run::error::RunError,
};
use clrs_store::OnExisting;
use serde::Serializer;

/// Looks up an algorithm.
pub(crate) fn algorithm(name: &str) -> Result<&'static dyn AnyAlgorithm> {
    Registry::builtin().find(name).map_err(|unknown| {
        let list = if unknown.suggestion.is_none() { "; `clrs list` prints all names" } else { "" };
        anyhow::anyhow!("{unknown}{list}")
    })
}

/// Parses names of which shells can complete the known ones. Others pass too: the verb rejects them with a suggestion, in one
/// line.
#[derive(Clone)]
pub(crate) struct Name(fn() -> Vec<&'static str>);

impl Name {
    pub(crate) fn algorithm() -> Name {
        Name(|| Registry::builtin().iter().map(AnyAlgorithm::name).collect())
    }

    pub(crate) fn family() -> Name {
        Name(|| Family::ALL.map(Family::name).to_vec())
    }
}

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Which problems to sample.
#[derive(Args)]
pub(crate) struct Sampling {
    /// Problem size: the number of nodes for most algorithms
    #[arg(short = 'n', long, default_value_t = 16)]
    pub(crate) size: usize,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u32,
    /// Set an option of the distribution (`clrs show ALGORITHM` lists them); lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    options: Vec<String>,
}

impl Sampling {
    pub(crate) fn options(&self) -> Result<SamplerOptions> {
        sampler_options(&self.options)
    }
}

/// Parses the values of `--set`.
pub(crate) fn sampler_options(texts: &[String]) -> Result<SamplerOptions> {
    Ok(SamplerOptions::parse(texts.iter().map(String::as_str))?)
}

/// Files of sets: all of a directory by name, or the given one.
pub(crate) fn set_files(path: &Path) -> Result<Vec<PathBuf>> {
    let cannot_read = || format!("cannot read {}", path.display());
    let metadata = path.metadata().with_context(cannot_read)?;
    if metadata.is_file() {
        return Ok(vec![path.into()]);
    }
    ensure!(metadata.is_dir(), "{}: neither a regular file nor a directory", path.display());
    let mut files = Vec::new();
    for entry in path.read_dir().with_context(cannot_read)? {
        let file = entry.with_context(cannot_read)?.path();
        let is_hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && file.extension().is_some_and(|extension| extension == "arrow") {
            files.push(file);
        }
    }
    files.sort();
    ensure!(!files.is_empty(), "no sets (*.arrow) in {}; `clrs generate --out {0}` creates some", path.display());
    Ok(files)
}

/// What `--force` means.
pub(crate) fn on_existing(force: bool) -> OnExisting {
    if force { OnExisting::Replace } else { OnExisting::Fail }
}

/// Serializes a path that may not be UTF-8.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Rejects to write to an existing file in the directory of a run: `--force` would destroy what is being read.
#[cfg(feature = "networks")]
pub(crate) fn ensure_outside_run(path: &Path, run: &Path) -> Result<()> {
    let Ok(file) = path.canonicalize() else { return Ok(()) };
    let is_inside = run.canonicalize().is_ok_and(|run| file.starts_with(run));
    if is_inside {
        bail!("{}: belongs to the run in {}; write to another file", path.display(), run.display());
    }
    Ok(())
}

/// Opens the network of a run.
#[cfg(feature = "networks")]
pub(crate) fn open_model(run: &Path, checkpoint: &Checkpoint, device: &Device) -> Result<TrainedModel> {
    match TrainedModel::open_with(run, checkpoint, &Registries::builtin(), device) {
        Err(error @ OpenModelError::Run(RunError::Format(_))) if matches!(checkpoint, Checkpoint::File(_)) => {
            bail!("{error}; parameters without a checkpoint are for `clrs train --weights`")
        }
        model => Ok(model?),
    }
}

/// Where to compute.
#[cfg(feature = "networks")]
#[derive(Args)]
pub(crate) struct Compute {
    /// Device to compute on
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

#[cfg(feature = "networks")]
impl Compute {
    /// Opens the device and starts the threads.
    pub(crate) fn open(&self) -> Result<Device> {
        Isa::from_env().context("CLRS_ISA")?;
        if self.threads > 0 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into()).build_global();
            pool.context("cannot start threads")?;
        }
        Ok(device::open(&self.device)?)
    }
}
