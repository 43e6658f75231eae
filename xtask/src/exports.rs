//! `cargo xtask exports`: what `clrs export` writes, opened by those it is for: the reference's own client, numpy, `datasets`.

use std::process::Command;

use anyhow::Result;

use crate::command::{clrs, run};
use crate::reference::Reference;

/// Algorithms whose probes have every location and kind between them, and small sets.
const QUICK: &str = "bfs,insertion_sort,lcs_length";

/// Exports sets of the benchmark and compares them; without names a few small ones.
pub(crate) fn compare(algorithms: &[String]) -> Result<()> {
    let reference = Reference::prepare()?;
    let program = clrs()?;
    let folder = tempfile::tempdir()?;
    let native = folder.path().join("native");
    let algorithms = if algorithms.is_empty() { QUICK.to_owned() } else { algorithms.join(",") };
    run(Command::new(&program)
        .args(["generate", "--quiet", "--benchmark", "clrs30", "--algorithms", &algorithms, "--out"])
        .arg(&native))?;
    for (format, place) in [("npz", "npz"), ("safetensors", "safetensors"), ("parquet", "parquet"), ("tfds", "CLRS30_v1.0.0")] {
        let out = folder.path().join(place);
        run(Command::new(&program).arg("export").arg(&native).args(["--format", format, "--out"]).arg(out))?;
    }
    run(reference.script("check_exports.py").arg(folder.path()))
}
