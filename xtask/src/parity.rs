//! `cargo xtask parity`: `clrs sample` against the reference, every array of many sets.

use anyhow::Result;

use crate::command::{clrs, run};
use crate::reference::Reference;

/// Compares; `full` takes the large matrix.
pub(crate) fn compare(full: bool, algorithms: &[String]) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script("parity.py");
    script.arg("--clrs").arg(clrs()?);
    if full {
        script.arg("--full");
    }
    if !algorithms.is_empty() {
        script.arg("--algorithms").arg(algorithms.join(","));
    }
    run(&mut script)
}
