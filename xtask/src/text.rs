//! `cargo xtask text`: compares `clrs text` with dm-clrs, string by string.

use anyhow::Result;

use crate::command::{clrs, run};
use crate::reference::Reference;

/// Compares the small matrix of `text_parity.py`, or the full one.
pub(crate) fn compare(full: bool, algorithms: &[String]) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script("text_parity.py");
    script.arg("--clrs").arg(clrs()?).arg("--old").arg(reference.version_2_0_1()?);
    if full {
        script.arg("--full");
    }
    if !algorithms.is_empty() {
        script.arg("--algorithms").arg(algorithms.join(","));
    }
    run(&mut script)
}
