//! Arguments that several verbs share.

use anyhow::Result;
use clap::Args;
use clrs::sampling::Settings;
use clrs::{AnyAlgorithm, Registry};

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
    pub(crate) fn settings(&self) -> Result<Settings> {
        Ok(Settings::parse(self.settings.iter().map(String::as_str))?)
    }
}
