//! `cargo xtask exports`: reads exported files with the programs they are for: dm-clrs's client, `NumPy`, `datasets`,
//! `TensorBoard`.

use std::process::Command;

use anyhow::Result;

use crate::command::{clrs, run};
use crate::reference::Reference;

/// Algorithms with small sets, whose probes together have every location and kind.
const QUICK: &str = "bfs,insertion_sort,lcs_length";

/// Exports sets of the benchmark and compares them with dm-clrs; without names, a few small ones. Then trains a small
/// network and compares its `TensorBoard` events with its metrics.
pub(crate) fn compare(algorithms: &[String]) -> Result<()> {
    let reference = Reference::prepare()?;
    let program = clrs()?;
    let folder = tempfile::tempdir()?;
    let native = folder.path().join("native");
    let algorithms = if algorithms.is_empty() { QUICK.to_owned() } else { algorithms.join(",") };
    run(Command::new(&program)
        .args(["generate", "--quiet", "--benchmark", "clrs30", "--algorithms", &algorithms, "--out"])
        .arg(&native))?;
    for (format, folder_name) in
        [("npz", "npz"), ("safetensors", "safetensors"), ("parquet", "parquet"), ("tfds", "CLRS30_v1.0.0")]
    {
        let out = folder.path().join(folder_name);
        run(Command::new(&program).arg("export").arg(&native).args(["--format", format, "--out"]).arg(out))?;
    }
    run(reference.script("check_exports.py").arg(folder.path()))?;

    let run_folder = folder.path().join("run");
    let mut train = Command::new(&program);
    train.args(["train", "--quiet", "--algorithms", "bfs,insertion_sort", "--out"]).arg(&run_folder);
    for setting in ["steps=6", "hidden=8", "batch_size=4", "lengths=4,5", "val_samples=4", "eval_every=3"] {
        train.args(["--set", setting]);
    }
    run(&mut train)?;
    run(reference.script("check_tensorboard.py").arg(&run_folder))
}
