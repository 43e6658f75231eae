//! `cargo xtask devices`: networks on a graphics card, or on a driver that does as if there were one.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::command::{beside, cargo, run};

/// A device that is not the CPU.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// Through Vulkan, Metal or DirectX
    Wgpu,
    /// An NVIDIA card
    Cuda,
}

/// Compares recordings of dm-clrs with networks on a device, and trains and judges one there and on the CPU.
pub(crate) fn compare(device: Device) -> Result<()> {
    let name = device.to_possible_value().expect("no device is hidden").get_name().to_owned();
    if device == Device::Wgpu && cfg!(target_os = "linux") {
        ensure_vulkan()?;
    }
    // A folder of its own: with other features burn is another build, and the two would take turns in one.
    let target = beside("xtask")?.ancestors().nth(2).context("this program lies in no target folder")?.join("devices");
    println!("== building with the feature {name} into {} (some minutes, once)", target.display());
    let features = format!("clrs-cli/{name},clrs-nn/{name}");
    // Binaries alone: an example would bring what tests depend on, and with it another build of everything.
    let packages = ["--package", "clrs-cli", "--package", "clrs-nn", "--bin", "clrs", "--bin", "recordings"];
    let mut build = cargo(&["build", "--release", "--quiet", "--locked", "--features", &features]);
    run(build.args(packages).arg("--target-dir").arg(&target))?;
    let built = |program: &str| target.join("release").join(format!("{program}{}", std::env::consts::EXE_SUFFIX));

    println!("== recordings");
    run(Command::new(built("recordings")).arg(&name).args(recordings()?))?;
    println!("== training");
    learn(&built("clrs"), &name)
}

/// The recordings of whole networks.
fn recordings() -> Result<Vec<PathBuf>> {
    let folder = crate::root().join("golden/networks");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    // These hold updates, not a network and its batch.
    files.retain(|file| !["optimizer", "training"].iter().any(|other| file.file_stem().is_some_and(|stem| stem == *other)));
    files.sort();
    Ok(files)
}

/// Updates of a small network, and how far apart their losses may be, relative: what is rounded otherwise is carried on.
const STEPS: usize = 10;
const LOSS: f64 = 1e-4;
/// How far apart their scores may be, where a decision was close.
const SCORE: f64 = 5e-3;

/// Trains a network on the device and on the CPU, with the same chance, and judges both.
fn learn(clrs: &Path, device: &str) -> Result<()> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
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
    ensure!(cpu.len() == STEPS && other.len() == STEPS, "{} and {} losses of {STEPS} steps", cpu.len(), other.len());
    let apart = cpu.iter().zip(other).map(|(a, b)| (a - b).abs() / a).fold(0.0, f64::max);
    println!("losses of {STEPS} steps on {device} and on the CPU are {apart:.1e} apart, relative; {LOSS:.0e} is allowed");
    ensure!(apart <= LOSS, "training on {device} departs from that on the CPU: {other:?}, not {cpu:?}");
    let [cpu, other] = scores[..] else { unreachable!("two devices") };
    println!("they score {other} on {device} and {cpu} on the CPU");
    ensure!((cpu - other).abs() <= SCORE, "a network that was trained on {device} scores {other}, on the CPU {cpu}");
    Ok(())
}

/// What a run scores on samples of 16 nodes.
fn score(clrs: &Path, run_folder: &Path, device: &str) -> Result<f64> {
    let mut eval = Command::new(clrs);
    eval.args(["eval", "--quiet", "--json", "--sizes", "16", "--device", device]).arg(run_folder);
    let done = eval.stderr(Stdio::inherit()).output().context("`clrs eval` does not start")?;
    ensure!(done.status.success(), "`clrs eval` on {device}: {}", done.status);
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).context("`clrs eval --json` gave no JSON")?;
    report["results"][0]["score"].as_f64().context("`clrs eval --json` gave no score")
}

fn read_losses(metrics: &Path) -> Result<Vec<f64>> {
    let text = fs::read_to_string(metrics).with_context(|| format!("cannot read {}", metrics.display()))?;
    let lines = text.lines().map(serde_json::from_str::<serde_json::Value>).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().filter_map(|line| line["loss"].as_f64()).collect())
}

/// Makes sure that there is a Vulkan driver: one in software will do.
fn ensure_vulkan() -> Result<()> {
    const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];
    if has_vulkan() {
        return Ok(());
    }
    let is_root = answer("id", &["-u"]).is_some_and(|user| user.trim() == "0");
    if !is_root || answer("apt-get", &["--version"]).is_none() {
        bail!(
            "there is no Vulkan driver; install that of your card, or one in software (on Debian and Ubuntu: apt-get install {})",
            PACKAGES.join(" ")
        );
    }
    println!("== installing {}", PACKAGES.join(" and "));
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get").args(["install", "-qq", "--yes"]).args(PACKAGES).env("DEBIAN_FRONTEND", "noninteractive"))?;
    ensure!(has_vulkan(), "{} is installed, but no Vulkan driver is to be found", PACKAGES[0]);
    Ok(())
}

/// Whether there is a driver where Vulkan's loader looks for one.
fn has_vulkan() -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value: OsString| !value.is_empty());
    let has_file = |folder: &&str| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(is_set)
        || ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().any(has_file)
}

/// What a command prints, if it is there and does not fail.
fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
