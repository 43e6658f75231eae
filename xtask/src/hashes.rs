//! `cargo xtask hashes`: the content hashes of the benchmark's sets, which the library knows them by.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command::{clrs, shown};

#[derive(Deserialize)]
struct Made {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    hash: String,
}

/// Writes them, or fails where one would change.
pub(crate) fn pin(check: bool) -> Result<()> {
    for version in ["clrs30@2.0.3", "clrs30@1.0.0"] {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(clrs()?);
        command.args(["generate", "--json", "--benchmark", version, "--out"]).arg(folder.path());
        let output = command.output().with_context(|| format!("cannot run `{}`", shown(&command)))?;
        if !output.status.success() {
            bail!("`{}` failed: {}", shown(&command), String::from_utf8_lossy(&output.stderr));
        }
        let made: Made = serde_json::from_slice(&output.stdout)?;
        let mut lines = String::new();
        for Set { name, hash } in made.sets {
            writeln!(lines, "{name} {hash}")?;
        }
        let path = crate::root().join(format!("crates/clrs/hashes/{version}.txt"));
        if check {
            let pinned = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if pinned != lines {
                bail!("{} is not what `clrs generate --benchmark {version}` makes", path.display());
            }
        } else {
            std::fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}
