//! `cargo xtask parity`: compares `clrs sample` with dm-clrs, array by array.

use anyhow::Result;

use crate::command::{clrs, run};
use crate::reference::Reference;

/// Compares all cases of `cases.py`: the small matrix, or the full one.
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
