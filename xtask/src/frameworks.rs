//! Packages that the Python package has modules for: `PyTorch`, `PyTorch` Geometric and others.
//!
//! They are gigabytes, and only tests of the Python package need them. So they are not part of the environment of dm-clrs, but
//! in a folder of their own next to it, which `PYTHONPATH` adds.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{cache_folder, hash, root, run};
use crate::reference::Reference;

/// The packages to install.
const REQUIREMENTS: &str = include_str!("../python/frameworks.txt");

/// Finds the folder with the packages, or creates it. Its name is the hash of the requirements and of the version of Python.
pub(crate) fn prepare(reference: &Reference) -> Result<PathBuf> {
    let name = format!("frameworks-{:016x}", hash(&format!("{}\n{REQUIREMENTS}", reference.version()?)));
    let cache = cache_folder()?;
    let (folder, lock) = (cache.join(&name), cache.join(format!("{name}.lock")));
    let lock = File::create(&lock).with_context(|| format!("cannot create {}", lock.display()))?;
    lock.lock().context("cannot lock the folder of Python packages")?;

    let stamp = folder.join("complete");
    if !stamp.exists() {
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove the incomplete {}", folder.display()))?;
        }
        eprintln!("installing PyTorch and others into {} (takes minutes and 4 GB the first time)", folder.display());
        let mut pip = Command::new(reference.python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps", "--target"]);
        pip.arg(&folder).arg("--requirement").arg(root().join("xtask/python/frameworks.txt"));
        run(&mut pip).context("cannot install PyTorch and others; is a Python package index reachable?")?;
        let imports = "import torch, torch_geometric, reasoning_gym, verifiers.v1, nbclient, ipykernel";
        let mut check = Command::new(reference.python());
        check.args(["-W", "ignore", "-c", imports]).env("PYTHONPATH", &folder).env("PYTHONDONTWRITEBYTECODE", "1");
        run(&mut check).context("PyTorch and others are installed but do not start")?;
        File::create(&stamp).with_context(|| format!("cannot write {}", stamp.display()))?;
    }
    Ok(folder)
}
