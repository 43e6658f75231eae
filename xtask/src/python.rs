//! `cargo xtask python`: builds the Python package, checks its types, and tests it next to dm-clrs.
//!
//! The wheel is installed into a folder of `target`, which `PYTHONPATH` adds to the environment of dm-clrs: several clones
//! share the environment, and each tests its own package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{root, run};
use crate::frameworks;
use crate::reference::Reference;

/// Maximum size of the wheel in bytes.
const MAX_WHEEL_BYTES: u64 = 20_000_000;

/// Builds, checks and tests. `tests` are arguments of pytest; without them, everything is tested.
pub(crate) fn test(tests: &[String]) -> Result<()> {
    let reference = Reference::prepare()?;
    let frameworks = frameworks::prepare(&reference)?;
    let package = install(&reference)?;
    let path = std::env::join_paths([&package, &frameworks])?;
    let python = || {
        let mut python = Command::new(reference.python());
        python.current_dir(root()).env("PYTHONPATH", &path).env("PYTHONDONTWRITEBYTECODE", "1");
        python
    };
    let pytest = || {
        let mut pytest = python();
        pytest.args(["-m", "pytest", "--quiet", "--no-header", "-p", "no:cacheprovider"]);
        pytest
    };
    if !tests.is_empty() {
        return run(pytest().args(tests));
    }
    run(python().args(["-m", "mypy", "--cache-dir", "target/mypy", "--package", "clrs_rs"]))?;
    run(python().args(["-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "clrs_rs._core"]))?;
    run(pytest().arg("crates/clrs-py/tests"))?;
    // Modules of `_src` raise when they are imported: what they stand for does not exist here.
    let missing = package.join("clrs_rs/_src/[!_]*.py");
    run(pytest().arg("--doctest-modules").arg("--ignore-glob").arg(missing).args(["--pyargs", "clrs_rs"]))
}

/// Builds the wheel and installs it. Returns the folder that contains the package.
pub(crate) fn install(reference: &Reference) -> Result<PathBuf> {
    let (wheels, package) = (root().join("target/wheels"), root().join("target/python"));
    for folder in [&wheels, &package] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    // As `pip install .` does: the wheel is for this machine.
    let arguments = ["-m", "maturin", "build", "--quiet", "--release", "--locked", "--compatibility", "linux", "--out"];
    run(Command::new(reference.python()).current_dir(root()).args(arguments).arg(&wheels))?;
    let wheel = only_file(&wheels)?;
    let bytes = wheel.metadata().with_context(|| format!("cannot read {}", wheel.display()))?.len();
    ensure!(bytes <= MAX_WHEEL_BYTES, "the wheel has {bytes} bytes, more than {MAX_WHEEL_BYTES}");
    println!("{}: {:.1} MB", wheel.file_name().unwrap_or_default().display(), bytes as f64 / 1e6);
    let mut pip = Command::new(reference.python());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target"]);
    run(pip.arg(&package).arg(&wheel))?;
    Ok(package)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let [file] = &files[..] else { bail!("{} has {} files instead of one", folder.display(), files.len()) };
    Ok(file.path())
}
