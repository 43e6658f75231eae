//! `cargo xtask devices`: compares networks on a GPU, or on a software driver, with dm-clrs and with the CPU.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::command::{built, cargo, install, output, root, run};

/// A device other than the CPU.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// A GPU through Vulkan, Metal or DirectX
    Wgpu,
    /// An NVIDIA GPU
    Cuda,
}

/// Compares networks on a device with fixtures of dm-clrs, then trains and evaluates one there and on the CPU.
pub(crate) fn compare(device: Device) -> Result<()> {
    let name = device.to_possible_value().expect("no device is hidden").get_name().to_owned();
    if device == Device::Wgpu && cfg!(target_os = "linux") {
        ensure_vulkan()?;
    }
    // A separate target folder: builds of burn with different features would overwrite each other.
    let target = built("xtask")?.ancestors().nth(2).context("this program is not in a target folder")?.join("devices");
    println!("== building with the feature {name} into {} (takes minutes the first time)", target.display());
    let features = format!("clrs-cli/{name},clrs-nn/{name}");
    // Only binaries: examples enable the features of dev-dependencies, which rebuilds everything.
    let packages = ["--package", "clrs-cli", "--package", "clrs-nn", "--bin", "clrs", "--bin", "parity_fixtures"];
    let mut build = cargo(&["build", "--release", "--quiet", "--locked", "--features", &features]);
    run(build.args(packages).arg("--target-dir").arg(&target))?;
    let program = |name: &str| target.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));

    println!("== fixtures");
    run(Command::new(program("parity_fixtures")).arg(&name).args(fixtures()?))?;
    println!("== training");
    train_and_compare(&program("clrs"), &name)
}

/// The fixtures that contain a network and its batch.
fn fixtures() -> Result<Vec<PathBuf>> {
    let folder = root().join("golden/networks");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    // These two contain updates.
    files.retain(|file| !["optimizer", "training"].iter().any(|other| file.file_stem().is_some_and(|stem| stem == *other)));
    files.sort();
    Ok(files)
}

/// Training steps of the small network.
const STEPS: usize = 10;
/// Largest relative difference of a loss: rounding differs, and the differences accumulate from step to step.
const LOSS_TOLERANCE: f64 = 1e-4;
/// Largest difference of the scores: a decision with close logits may differ.
const SCORE_TOLERANCE: f64 = 5e-3;

/// Trains the same network on the device and on the CPU, and compares losses and scores.
fn train_and_compare(clrs: &Path, device: &str) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let (mut losses, mut scores) = (Vec::new(), Vec::new());
    for device in ["cpu", device] {
        let run_folder = folder.path().join(device);
        let mut train = Command::new(clrs);
        train.args(["train", "--quiet", "--algorithms", "bfs", "--device", device, "--set", &format!("steps={STEPS}")]);
        for setting in ["hidden=16", "batch_size=16", "lengths=8", "val_samples=16", "eval_every=5"] {
            train.args(["--set", setting]);
        }
        run(train.arg("--out").arg(&run_folder))?;
        scores.push(score(clrs, &run_folder, device)?);
        losses.push(read_losses(&run_folder.join("metrics.jsonl"))?);
    }
    let [cpu, other] = &losses[..] else { unreachable!("two devices") };
    ensure!(cpu.len() == STEPS && other.len() == STEPS, "{STEPS} steps logged {} and {} losses", cpu.len(), other.len());
    let difference = cpu.iter().zip(other).map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max);
    println!("largest relative difference of {STEPS} losses from the CPU's: {difference:.1e} (limit {LOSS_TOLERANCE:.0e})");
    ensure!(difference <= LOSS_TOLERANCE, "losses on {device} differ from those on the CPU: {other:?}, expected {cpu:?}");
    let [cpu, other] = scores[..] else { unreachable!("two devices") };
    println!("score on {device} {other}, on the CPU {cpu}");
    ensure!((cpu - other).abs() <= SCORE_TOLERANCE, "the score on {device} is {other}, on the CPU {cpu}");
    Ok(())
}

/// Score of a run on samples of 16 nodes.
fn score(clrs: &Path, run_folder: &Path, device: &str) -> Result<f64> {
    let mut eval = Command::new(clrs);
    eval.args(["eval", "--quiet", "--json", "--sizes", "16", "--device", device]).arg(run_folder);
    let report: serde_json::Value = serde_json::from_str(&output(&mut eval)?).context("`clrs eval --json` printed no JSON")?;
    report["results"][0]["score"].as_f64().context("`clrs eval --json` printed no score")
}

fn read_losses(metrics: &Path) -> Result<Vec<f64>> {
    let text = fs::read_to_string(metrics).with_context(|| format!("cannot read {}", metrics.display()))?;
    let lines = text.lines().map(serde_json::from_str::<serde_json::Value>).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().filter_map(|line| line["loss"].as_f64()).collect())
}

/// Installs a software Vulkan driver if there is no driver and the user may install packages.
fn ensure_vulkan() -> Result<()> {
    const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];
    if has_vulkan() {
        return Ok(());
    }
    if !install(&PACKAGES)? {
        bail!(
            "no Vulkan driver found; install your GPU's, or a software one (on Debian and Ubuntu: apt-get install {})",
            PACKAGES.join(" ")
        );
    }
    ensure!(has_vulkan(), "{} is installed, but no Vulkan driver was found", PACKAGES[0]);
    Ok(())
}

/// Whether a driver exists where Vulkan's loader looks for one.
fn has_vulkan() -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value: OsString| !value.is_empty());
    let has_file = |folder: &&str| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(is_set)
        || ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().any(has_file)
}
