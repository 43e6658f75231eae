//! Arguments that several verbs share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use clrs::sampling::SamplerOptions;
use clrs::{AnyAlgorithm, Registry};
#[cfg(feature = "networks")]
use clrs_nn::device::{self, Device};

/// An algorithm by name.
pub(crate) fn algorithm(name: &str) -> Result<&'static dyn AnyAlgorithm> {
    Registry::builtin().find(name).map_err(|unknown| {
        let list = if unknown.suggestion.is_none() { "; `clrs list` names them all" } else { "" };
        anyhow::anyhow!("{unknown}{list}")
    })
}

/// Which problems to draw.
#[derive(Args)]
pub(crate) struct Drawing {
    /// Size of the problems: the number of nodes for most algorithms
    #[arg(short = 'n', long, default_value_t = 16)]
    pub(crate) size: usize,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u32,
    /// Option of the distribution (`clrs show ALGORITHM` lists them); lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    pub(crate) settings: Vec<String>,
}

impl Drawing {
    pub(crate) fn settings(&self) -> Result<SamplerOptions> {
        Ok(SamplerOptions::parse(self.settings.iter().map(String::as_str))?)
    }
}

/// The sets of a folder by name, or the one set that is meant.
pub(crate) fn sets(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.into()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && file.extension().is_some_and(|extension| extension == "arrow") {
            files.push(file);
        }
    }
    files.sort();
    ensure!(!files.is_empty(), "no sets (*.arrow) in {}: `clrs generate --out {0}` makes some", path.display());
    Ok(files)
}

/// Where networks are computed.
#[cfg(feature = "networks")]
#[derive(Args)]
pub(crate) struct Computing {
    /// Device to compute on
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// Threads to compute on; 0 for all cores
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

#[cfg(feature = "networks")]
impl Computing {
    /// The device, ready.
    pub(crate) fn open(&self) -> Result<Device> {
        if self.threads > 0 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into()).build_global();
            pool.context("cannot start threads")?;
        }
        Ok(device::open(&self.device)?)
    }
}
