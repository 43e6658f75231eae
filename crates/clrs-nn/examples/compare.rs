//! Our side of `cargo xtask compare training`: reads a recording of dm-clrs, says how far our network is from it, and how long
//! it takes for the same batch: a step of training (gradients and update), and an evaluation.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use burn::tensor::Device;
use clrs_nn::optimise::{Adam, Rule};
use clrs_nn::recording::Recording;
use clrs_nn::{Batch, evaluate, train};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which recording?")?);
    let rounds: usize = arguments.next().map_or(Ok(0), |rounds| rounds.parse())?;
    let mut recording = Recording::read(&path)?;
    recording.network.fused = arguments.next().as_deref() != Some("no-fused");
    let device = Device::flex();
    let batch = Batch::new(&recording.dense);

    let mut steps = Vec::new();
    let mut first = 0.0;
    let rule = Rule { learning_rate: 1e-3, grad_clip: 1.0, freeze_processor: false };
    let (mut parameters, mut adam) = (recording.parameters.clone(), Adam::new(&recording.parameters));
    for round in 0..=rounds {
        let now = Instant::now();
        let (_, gradients) = train::gradients(&recording.network, &parameters, 0, &batch, &device, |_| None);
        adam.update(&mut parameters, &gradients, 0, rule);
        if round == 0 {
            first = started.elapsed().as_secs_f64();
        } else {
            steps.push(now.elapsed().as_secs_f64() * 1e3);
        }
    }
    let peak = peak_bytes();
    let weights = recording.parameters.fixed(&device);
    let mut evaluations = Vec::new();
    for round in 0..=rounds {
        let now = Instant::now();
        evaluate::predict_parts(&recording.network, &weights, 0, &batch);
        if round > 0 {
            evaluations.push(now.elapsed().as_secs_f64() * 1e3);
        }
    }
    let report = json!({
        "differences": recording.compare(&device)?,
        "first_step_seconds": first,
        "train_ms": steps,
        "eval_ms": evaluations,
        "train_peak_bytes": peak,
        "peak_bytes": peak_bytes(),
    });
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// The most memory this process has held, where Linux tells it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
