//! The test of sweeps on a real Slurm cluster, which runs on this machine.

use std::path::Path;

use anyhow::Result;

use crate::command::{cargo, install, run};

/// The controller, node daemon and client, and the authentication that they use.
const PACKAGES: [&str; 2] = ["slurm-wlm", "munge"];

/// Installs Slurm if possible, and runs the test. Without Slurm, it is skipped with a line that says so.
pub(crate) fn test() -> Result<()> {
    let is_installed = || ["/usr/sbin/slurmctld", "/usr/sbin/munged"].iter().all(|path| Path::new(path).exists());
    let has_slurm = is_installed() || (cfg!(target_os = "linux") && install(&PACKAGES)?);
    if !has_slurm {
        println!("skipped: Slurm is not installed (on Debian and Ubuntu: apt-get install {})", PACKAGES.join(" "));
        return Ok(());
    }
    let arguments = ["test", "--release", "--quiet", "--locked", "--workspace", "--test", "slurm"];
    run(cargo(&arguments).args(["--", "--ignored", "--nocapture"]))
}
