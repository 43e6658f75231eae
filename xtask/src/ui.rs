//! `cargo xtask ui`: the page of the explorer. Checks its types, runs its unit tests, builds the bundle that `clrs-web` embeds, and tests
//! the page in Chromium.
//!
//! The packages it needs are installed into the cache folder, named by the hash of the lock file, and linked into the clone. Node.js
//! and Chromium are installed from Debian's packages if they are missing and the user may.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::command::{cache_folder, cargo, clrs, hash, install as install_packages, root, run};

/// Files of the bundle.
const BUNDLE: [&str; 4] = ["early.js", "app.js", "picture.css", "page.css"];
/// Oldest version of Node.js that runs the tools.
const NODE: u32 = 20;
/// Debian's packages of Node.js, and of Chromium with the fonts of the kept pictures.
const NODE_PACKAGES: [&str; 2] = ["nodejs", "npm"];
const CHROMIUM_PACKAGES: [&str; 3] = ["chromium", "fonts-dejavu-core", "fonts-liberation"];

/// Checks the sources and the bundle; `write` updates the bundle instead of comparing it.
pub(crate) fn check(write: bool) -> Result<()> {
    let ui = Ui::prepare()?;
    run(&mut ui.node("node_modules/typescript/bin/tsc"))?;
    let traces = tempfile::tempdir().context("cannot create a temporary folder")?;
    let example = ["run", "--release", "--quiet", "--package", "clrs-web", "--no-default-features", "--example", "traces"];
    run(cargo(&example).arg(traces.path()))?;
    run(ui.node("node_modules/vitest/vitest.mjs").args(["run", "--silent", "--reporter=dot"]).env("CLRS_TRACES", traces.path()))?;
    let built = tempfile::tempdir().context("cannot create a temporary folder")?;
    run(ui.node("build.mjs").arg(built.path()))?;
    let committed = root().join("crates/clrs-web/bundle");
    for name in BUNDLE {
        let (new, old) = (fs::read(built.path().join(name))?, fs::read(committed.join(name)).unwrap_or_default());
        if write && new != old {
            fs::create_dir_all(&committed)?;
            fs::write(committed.join(name), &new)?;
            println!("{name} updated");
        }
        ensure!(
            write || new == old,
            "crates/clrs-web/bundle/{name} is not what its sources give; `cargo xtask ui --write` updates it"
        );
    }
    Ok(())
}

/// Everything: [`check`], and the tests in a browser with the program that has just been built.
pub(crate) fn test() -> Result<()> {
    check(false)?;
    browse(&[])
}

/// Tests the page in Chromium, with trained networks. Without Chromium, prints that this was skipped.
pub(crate) fn browse(arguments: &[String]) -> Result<()> {
    let ui = Ui::prepare()?;
    let Some(chromium) = chromium()? else {
        println!(
            "skipped: the tests in a browser; Chromium is not installed (on Debian: apt-get install {})",
            CHROMIUM_PACKAGES.join(" ")
        );
        return Ok(());
    };
    run(ui.node("browser/run.mjs").args(arguments).env("CLRS", clrs()?).env("CHROMIUM", chromium))
}

/// Path of Chromium: `$CHROMIUM`, or where Debian and other systems have it. Installed if it is missing and the user may.
fn chromium() -> Result<Option<PathBuf>> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let find = || {
        let given = std::env::var_os("CHROMIUM").map(PathBuf::from);
        given.or_else(|| names.map(|name| Path::new("/usr/bin").join(name)).into_iter().find(|path| path.exists()))
    };
    if let Some(found) = find() {
        return Ok(Some(found));
    }
    Ok(if cfg!(target_os = "linux") && install_packages(&CHROMIUM_PACKAGES)? { find() } else { None })
}

/// The sources of the page, with the packages they need.
pub(crate) struct Ui {
    folder: PathBuf,
}

impl Ui {
    /// Installs the packages.
    pub(crate) fn prepare() -> Result<Ui> {
        if node_version().is_none() && cfg!(target_os = "linux") {
            install_packages(&NODE_PACKAGES)?;
        }
        match node_version() {
            Some(version) if version >= NODE => {}
            Some(version) => bail!("the tools of the page need Node.js {NODE} or newer, found {version}"),
            None => bail!("the tools of the page need Node.js {NODE} or newer with npm (on Debian: apt-get install npm)"),
        }
        let folder = root().join("crates/clrs-web/ui");
        let modules = folder.join("node_modules");
        let installed = install(&folder)?;
        // A folder that someone installed by hand stays.
        if modules.is_symlink() || !modules.exists() {
            link(&installed, &modules)?;
        }
        Ok(Ui { folder })
    }

    /// A command that runs a script with Node.js in the folder of the page.
    pub(crate) fn node(&self, script: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(script).current_dir(&self.folder).env("NO_COLOR", "1");
        command
    }
}

/// Installs the packages of the lock file into the cache folder, once.
fn install(folder: &Path) -> Result<PathBuf> {
    let lock_file = fs::read_to_string(folder.join("package-lock.json")).context("cannot read package-lock.json")?;
    let cache = cache_folder()?;
    let target = cache.join(format!("ui-{:016x}", hash(&lock_file)));
    fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
    let lock = File::create(target.join("lock")).context("cannot create a lock file")?;
    lock.lock().context("cannot lock the packages of the page")?;
    let stamp = target.join("complete");
    if !stamp.exists() {
        for name in ["package.json", "package-lock.json"] {
            fs::copy(folder.join(name), target.join(name)).with_context(|| format!("cannot copy {name}"))?;
        }
        println!("installing the packages of the page into {}", target.display());
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let mut command = Command::new(npm);
        // Not `npm ci`: it refuses lock files without the optional packages of other platforms, which npm leaves out of them.
        command.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&target);
        run(&mut command).context("cannot install the packages of the page; is an npm registry reachable?")?;
        File::create(&stamp).context("cannot mark the packages as complete")?;
    }
    Ok(target.join("node_modules"))
}

fn link(target: &Path, link: &Path) -> Result<()> {
    if link.is_symlink() {
        fs::remove_file(link).with_context(|| format!("cannot replace {}", link.display()))?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, link).with_context(|| format!("cannot create {}", link.display()))?;
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(target, link).with_context(|| format!("cannot create {}", link.display()))?;
    Ok(())
}

/// Major version of Node.js, if npm is there too.
fn node_version() -> Option<u32> {
    let output = |program: &str| {
        let output = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    output(if cfg!(windows) { "npm.cmd" } else { "npm" })?;
    output("node")?.strip_prefix('v')?.split('.').next()?.parse().ok()
}
