//! Arguments that several verbs share.

use std::ffi::OsStr;
#[cfg(feature = "networks")]
use std::path::Path;

use anyhow::Result;
#[cfg(feature = "networks")]
use anyhow::{Context, bail, ensure};
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
    run::directory,
    run::error::RunError,
    run::status::{RunStatus, Status},
};
use clrs_store::OnExisting;

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

/// What `--force` means.
pub(crate) fn on_existing(force: bool) -> OnExisting {
    if force { OnExisting::Replace } else { OnExisting::Fail }
}

/// Rejects an existing file in the directory of a run as output: `--force` would destroy what is being read.
#[cfg(feature = "networks")]
pub(crate) fn ensure_outside_run(path: &Path, run: &Path) -> Result<()> {
    let Ok(file) = path.canonicalize() else { return Ok(()) };
    let is_inside = run.canonicalize().is_ok_and(|run| file.starts_with(run));
    if is_inside {
        bail!("{}: belongs to the run in {}; write to another file", path.display(), run.display());
    }
    Ok(())
}

/// Rejects a checkpoint that is neither `best` nor `last` nor a file.
#[cfg(feature = "networks")]
pub(crate) fn ensure_checkpoint_exists(checkpoint: &Checkpoint) -> Result<()> {
    if let Checkpoint::File(path) = checkpoint {
        ensure!(path.exists(), "--checkpoint {}: neither `best` nor `last` nor a file", path.display());
    }
    Ok(())
}

/// Opens the network of a run.
#[cfg(feature = "networks")]
pub(crate) fn open_model(run: &Path, checkpoint: &Checkpoint, device: &Device) -> Result<TrainedModel> {
    match TrainedModel::open_with(run, checkpoint, &Registries::builtin(), device) {
        Err(error @ OpenModelError::NoCheckpoint { .. }) => Err(match RunStatus::read(run) {
            Ok(Some(RunStatus { status: Status::Failed, step, error, .. })) => {
                let reason = error.map(|reason| format!(" ({reason})")).unwrap_or_default();
                let last = run.join(directory::LAST).exists() && *checkpoint == Checkpoint::Best;
                let advice = if last { "; `--checkpoint last` selects its last checkpoint" } else { "" };
                let run = run.display();
                anyhow::anyhow!("{run}: no {checkpoint} checkpoint, the run failed after step {step}{reason}{advice}")
            }
            _ => error.into(),
        }),
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
