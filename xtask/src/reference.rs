//! The reference, dm-clrs, in an environment of its own.
//!
//! The environment lies in a cache folder outside the clone and is named after the hash of the requirements: other pins make
//! another environment. A stamp is written when it is whole, so one that was interrupted is made anew. Two commands at once
//! wait for each other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256};

use crate::command::run;

/// What is installed.
const REQUIREMENTS: &str = include_str!("../python/requirements.txt");
/// The minor versions of Python 3 for which every requirement has a wheel.
const MINORS: std::ops::RangeInclusive<u32> = 11..=13;

/// An environment in which `import clrs` works.
pub(crate) struct Reference {
    python: PathBuf,
}

impl Reference {
    /// Finds the environment, or makes it.
    pub(crate) fn prepare() -> Result<Reference> {
        let cache = cache_folder()?;
        fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache folder {}", cache.display()))?;
        let name = format!("reference-{:016x}", hash(REQUIREMENTS));
        let (folder, lock) = (cache.join(&name), cache.join(format!("{name}.lock")));
        let lock = File::create(&lock).with_context(|| format!("cannot make {}", lock.display()))?;
        lock.lock().context("cannot wait for another command that prepares the reference")?;

        let reference = Reference { python: folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }) };
        let stamp = folder.join("complete");
        if !(stamp.exists() && version(&reference.python).is_some()) {
            if folder.exists() {
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove the unfinished {}", folder.display()))?;
            }
            reference.install(&folder)?;
            File::create(&stamp).with_context(|| format!("cannot write {}", stamp.display()))?;
        }
        Ok(reference)
    }

    /// Its interpreter.
    pub(crate) fn python(&self) -> &Path {
        &self.python
    }

    /// One of the scripts in `xtask/python`.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(Path::new("xtask/python").join(name)).current_dir(crate::root()).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn install(&self, folder: &Path) -> Result<()> {
        let base = find_python()?;
        eprintln!("installing the reference into {} (some minutes, once)", folder.display());
        run(Command::new(base).args(["-m", "venv"]).arg(folder))?;
        let requirements = crate::root().join("xtask/python/requirements.txt");
        let mut pip = Command::new(&self.python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
        run(&mut pip).context("the reference cannot be installed; is there a way to a Python package index?")?;
        run(self.script("reference.py").stdout(Stdio::null())).context("the reference was installed but does not start")
    }
}

/// `$CLRS_CACHE`, or `clrs-rs` where the system keeps caches.
fn cache_folder() -> Result<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("CLRS_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("clrs-rs")))
        .or_else(|| Some(folder("HOME").or_else(|| folder("USERPROFILE"))?.join(".cache").join("clrs-rs")))
        .ok_or_else(|| anyhow!("no place for the reference: set CLRS_CACHE to a folder"))
}

/// A Python that can make the environment: `$PYTHON`, else one on the path.
fn find_python() -> Result<PathBuf> {
    let (first, last) = (MINORS.start(), MINORS.end());
    if let Some(chosen) = std::env::var_os("PYTHON").map(PathBuf::from) {
        if version(&chosen).is_some_and(|minor| MINORS.contains(&minor)) {
            return Ok(chosen);
        }
        bail!("PYTHON is {}, which is not a Python 3.{first} to 3.{last} with `venv` and `ensurepip`", chosen.display());
    }
    let names = std::iter::once("python3".to_owned()).chain(MINORS.map(|minor| format!("python3.{minor}")));
    names.map(PathBuf::from).find(|name| version(name).is_some_and(|minor| MINORS.contains(&minor))).ok_or_else(|| {
        anyhow!(
            "the reference needs Python 3.{first} to 3.{last} with `venv` and `ensurepip`: install one (on Debian also \
                 the package python3-venv), or set PYTHON to its path"
        )
    })
}

/// The minor version of a Python 3 that can make environments; `None` if it is not there, or cannot.
fn version(python: &Path) -> Option<u32> {
    const ASK: &str = "import ensurepip, sys, venv; print(sys.version_info.minor if sys.version_info.major == 3 else 0)";
    let answer = Command::new(python).args(["-c", ASK]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(answer.stdout).ok()?.trim().parse().ok()
}

fn hash(text: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest[..8].iter().fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}
