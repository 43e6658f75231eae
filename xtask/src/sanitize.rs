//! `cargo xtask sanitize`: the tests of the kernels, whose code is unsafe, where every access to memory is watched.

use anyhow::{Context, Result, ensure};

use crate::command::{cargo, run};

/// The compiler's `AddressSanitizer`, on every instruction set of this machine, and valgrind, which knows all but AVX-512.
pub(crate) fn kernels() -> Result<()> {
    let version = std::process::Command::new("rustc").arg("-vV").output().context("cannot run `rustc`")?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` names no host")?;

    let tests = ["test", "--release", "--locked", "--package", "clrs-kernels", "--lib", "--tests", "--target", host];
    println!("== AddressSanitizer");
    // A sanitizer is no stable option. A target is named, so that build scripts go without.
    let sanitized = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")];
    run(cargo(&tests).args(["--target-dir", "target/sanitize"]).envs(sanitized))?;

    println!("== valgrind");
    let found = std::process::Command::new("valgrind").arg("--version").output();
    ensure!(found.is_ok_and(|found| found.status.success()), "there is no valgrind here; on Debian: apt-get install valgrind");
    let runner = format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace('-', "_"));
    // The rate of the machine touches no memory, and takes a thousand times as long there.
    let but = ["--", "--skip", "the_rate_of_threads"];
    run(cargo(&tests).args(but).env(runner, "valgrind --quiet --error-exitcode=1"))
}
