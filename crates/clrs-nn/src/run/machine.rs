//! The machine that a run was started on.

use std::fs;

use serde::{Deserialize, Serialize};

/// A description of a machine, in `provenance.json`. Neither host nor user names.
///
/// ```
/// use clrs_nn::run::machine::Machine;
///
/// assert!(Machine::detect().cores >= 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Machine {
    /// Operating system: `linux`.
    pub os: String,
    /// Architecture: `x86_64`.
    pub arch: String,
    /// Name of the processor, if the operating system tells.
    #[serde(default)]
    pub cpu: Option<String>,
    /// Number of cores that this process may use.
    pub cores: usize,
}

impl Machine {
    /// Describes the machine of this process.
    pub fn detect() -> Machine {
        Machine {
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            cpu: cpu_name(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The first processor's name, which only Linux has as a file.
fn cpu_name() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().into())
}
