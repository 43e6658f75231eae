//! Running other programs.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The cargo that runs this command, at the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(crate::root());
    command
}

/// Runs a command whose output the user sees; fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot run `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.to_string_lossy());
    }
    text
}

/// The binary `clrs`, built. It lies where this program does.
pub(crate) fn clrs() -> Result<PathBuf> {
    // With examples, which have the dependencies of tests: others then have the same features, and are not built again.
    run(&mut cargo(&["build", "--release", "--quiet", "--locked", "--workspace", "--bin", "clrs", "--examples"]))?;
    beside("clrs")
}

/// A program that was built where this one was.
pub(crate) fn beside(name: &str) -> Result<PathBuf> {
    let here = std::env::current_exe().context("cannot say where this program lies")?;
    Ok(here.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}
