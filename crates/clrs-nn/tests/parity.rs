//! Against recordings of dm-clrs: the same parameters and batch give the same loss, gradients and predictions.

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use clrs_nn::processors;
use clrs_nn::recording::Recording;

/// Of the loss, relative.
const LOSS: f64 = 1e-5;
/// Of all gradients together, relative to their norm.
const GRADIENTS: f64 = 1e-4;
/// Of a logit.
const LOGITS: f64 = 1e-4;

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/networks");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("goldens").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn networks_equal_the_reference() {
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for path in recordings() {
        let name = name(&path);
        if ["optimizer", "training"].contains(&&*name) {
            continue;
        }
        let recording = Recording::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = recording.compare(&Device::flex()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let near = found.loss <= LOSS && found.gradients <= GRADIENTS && found.logits <= LOGITS && found.decisions == 0;
        if !near {
            wrong.push(format!("{name}: {found:?}"));
        }
        seen.push(recording.network.settings().processor.clone());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<_> = processors::RECIPES.iter().filter(|recipe| !seen.iter().any(|seen| seen == recipe.name)).collect();
    assert!(missing.is_empty(), "no recording of {}", missing[0].name);
}
