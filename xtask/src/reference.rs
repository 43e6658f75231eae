//! dm-clrs, in a virtual environment.
//!
//! The environment is in a cache folder outside the clone, named by the hash of the requirements: other pins get another
//! environment. A stamp file marks complete ones; after an interruption the environment is created again. A lock file makes
//! concurrent commands wait for each other.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};

use crate::command::{cache_folder, hash, root, run};

/// The packages to install.
const REQUIREMENTS: &str = include_str!("../python/requirements.txt");
/// Minor versions of Python 3 for which every requirement has a wheel.
const MINORS: std::ops::RangeInclusive<u32> = 11..=13;

/// An environment in which `import clrs` works.
pub(crate) struct Reference {
    python: PathBuf,
}

impl Reference {
    /// Finds the environment, or creates it.
    pub(crate) fn prepare() -> Result<Reference> {
        let cache = cache_folder()?;
        fs::create_dir_all(&cache).with_context(|| format!("cannot create the cache folder {}", cache.display()))?;
        let name = format!("reference-{:016x}", hash(REQUIREMENTS));
        let (folder, lock) = (cache.join(&name), cache.join(format!("{name}.lock")));
        let lock = File::create(&lock).with_context(|| format!("cannot create {}", lock.display()))?;
        lock.lock().context("cannot lock the environment of dm-clrs")?;

        let reference = Reference { python: folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }) };
        let stamp = folder.join("complete");
        if !(stamp.exists() && version(&reference.python).is_some()) {
            if folder.exists() {
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove the incomplete {}", folder.display()))?;
            }
            reference.install(&folder)?;
            File::create(&stamp).with_context(|| format!("cannot write {}", stamp.display()))?;
        }
        Ok(reference)
    }

    /// Path of its interpreter.
    pub(crate) fn python(&self) -> &Path {
        &self.python
    }

    /// A command that runs a script of `xtask/python`.
    pub(crate) fn script(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(Path::new("xtask/python").join(name)).current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Folder with dm-clrs 2.0.1, whose formatter of texts differs. It is downloaded without dependencies, and not installed.
    pub(crate) fn version_2_0_1(&self) -> Result<PathBuf> {
        let folder = cache_folder()?.join("dm-clrs-2.0.1");
        if !folder.exists() {
            // Under another name until it is complete. Another process may be as far: both have the same files.
            let partial = folder.with_extension(format!("{}.partial", std::process::id()));
            let mut pip = Command::new(&self.python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]);
            pip.arg("--target").arg(&partial).arg("dm-clrs==2.0.1");
            run(&mut pip).context("cannot download dm-clrs 2.0.1; is a Python package index reachable?")?;
            if let Err(error) = fs::rename(&partial, &folder)
                && !folder.exists()
            {
                return Err(error).with_context(|| format!("cannot create {}", folder.display()));
            }
        }
        Ok(folder)
    }

    fn install(&self, folder: &Path) -> Result<()> {
        let base = find_python()?;
        eprintln!("installing dm-clrs into {} (takes minutes the first time)", folder.display());
        run(Command::new(base).args(["-m", "venv"]).arg(folder))?;
        let requirements = root().join("xtask/python/requirements.txt");
        let mut pip = Command::new(&self.python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
        run(&mut pip).context("cannot install dm-clrs; is a Python package index reachable?")?;
        run(self.script("reference.py").stdout(Stdio::null())).context("dm-clrs is installed but does not start")
    }
}

/// A Python that can create the environment: `$PYTHON`, or one in `$PATH`.
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
            "dm-clrs needs Python 3.{first} to 3.{last} with `venv` and `ensurepip`; install one (on Debian also \
             the package python3-venv), or set PYTHON to its path"
        )
    })
}

/// Minor version of a Python 3 that can create environments; `None` for anything else.
fn version(python: &Path) -> Option<u32> {
    const CODE: &str = "import ensurepip, sys, venv; print(sys.version_info.minor if sys.version_info.major == 3 else 0)";
    let output = Command::new(python).args(["-c", CODE]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
