//! Running other programs.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};

/// Root folder of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository").to_owned()
}

/// Folder for what is installed once and used by every clone: `$CLRS_CACHE`, or `clrs-rs` in the user's cache folder.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("CLRS_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("clrs-rs")))
        .or_else(|| Some(folder("HOME").or_else(|| folder("USERPROFILE"))?.join(".cache").join("clrs-rs")))
        .ok_or_else(|| anyhow!("no cache folder found; set CLRS_CACHE to a folder"))
}

/// A hash of what is installed into a folder, for its name.
pub(crate) fn hash(text: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest[..8].iter().fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// The cargo that runs this command, in the root folder.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command and shows its output. An exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot run `{}`", command_line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", command_line(command));
    }
    Ok(())
}

/// Runs a command and returns what it prints. An exit code other than 0 is an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run `{}`", command_line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({}): {}", command_line(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{}` is not UTF-8", command_line(command)))
}

/// A command as it would be typed.
pub(crate) fn command_line(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.to_string_lossy());
    }
    text
}

/// Builds the binary `clrs` and returns its path.
pub(crate) fn clrs() -> Result<PathBuf> {
    // Examples use the dependencies of tests: building them here too keeps the features, so nothing is built twice.
    run(&mut cargo(&["build", "--release", "--quiet", "--locked", "--workspace", "--bin", "clrs", "--examples"]))?;
    built("clrs")
}

/// Path of a program in the target folder that this program was built into.
pub(crate) fn built(name: &str) -> Result<PathBuf> {
    let this = std::env::current_exe().context("the path of this program is unknown")?;
    Ok(this.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// The target triple of this machine.
pub(crate) fn host() -> Result<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    version.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).context("`rustc -vV` prints no host")
}

/// Installs packages of Debian or Ubuntu. Returns `false` if the user may not, or on other systems.
pub(crate) fn install(packages: &[&str]) -> Result<bool> {
    let is_root = output_of("id", &["-u"]).is_some_and(|user| user.trim() == "0");
    if !is_root || output_of("apt-get", &["--version"]).is_none() {
        return Ok(false);
    }
    println!("== installing {}", packages.join(" and "));
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-qq", "--yes", "--no-install-recommends"]).args(packages);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(true)
}

/// Output of a command; `None` if it does not exist or fails.
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
