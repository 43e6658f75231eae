//! `cargo xtask sanitize`: tests the kernels, whose code is unsafe, with every memory access checked.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::command::{cargo, host, run};

/// Runs the tests under the compiler's `AddressSanitizer`, on every instruction set of this machine, and under valgrind, which
/// supports all but AVX-512.
pub(crate) fn kernels() -> Result<()> {
    let host = host()?;
    let tests = ["test", "--release", "--locked", "--package", "clrs-kernels", "--lib", "--tests", "--target", &host];
    println!("== AddressSanitizer");
    // Sanitizers are unstable options. With an explicit target, build scripts are built without them.
    let sanitizer = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address")];
    run(cargo(&tests).args(["--target-dir", "target/sanitize"]).envs(sanitizer))?;

    println!("== valgrind");
    let found = Command::new("valgrind").arg("--version").output();
    ensure!(found.is_ok_and(|found| found.status.success()), "valgrind is not installed; on Debian: apt-get install valgrind");
    let runner = format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace('-', "_"));
    // Measuring the peak rate of the machine accesses no memory, and takes a thousand times as long there.
    let skip = ["--", "--skip", "flops_per_second_is_finite_and_positive"];
    run(cargo(&tests).args(skip).env(runner, "valgrind --quiet --error-exitcode=1"))
}
