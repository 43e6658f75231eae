//! `cargo xtask hashes`: pins the content hashes of the benchmark's sets, by which the library recognizes copies.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command::{clrs, output, root};

/// The report of `clrs generate --json`.
#[derive(Deserialize)]
struct Report {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    hash: String,
}

/// Rewrites the hashes; with `check`, fails if one would change.
pub(crate) fn pin(check: bool) -> Result<()> {
    for version in ["clrs30@2.0.3", "clrs30@1.0.0", "clrs30@1.0.0-unsorted"] {
        let folder = tempfile::tempdir()?;
        let mut generate = Command::new(clrs()?);
        generate.args(["generate", "--json", "--benchmark", version, "--out"]).arg(folder.path());
        let report: Report = serde_json::from_str(&output(&mut generate)?)?;
        let mut lines = String::new();
        for Set { name, hash } in report.sets {
            writeln!(lines, "{name} {hash}")?;
        }
        let path = root().join(format!("crates/clrs/hashes/{version}.txt"));
        if check {
            let pinned = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if pinned != lines {
                bail!("{} differs from what `clrs generate --benchmark {version}` generates", path.display());
            }
        } else {
            std::fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}
