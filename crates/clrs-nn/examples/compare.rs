//! Our side of `cargo xtask compare training`: `compare FIXTURE training|evaluation ROUNDS [no-fused]`.
//!
//! Reads a fixture recorded from dm-clrs and prints time, peak memory and floating-point operations of the same batch, the machine's peak rate,
//! and the differences from the fixture. A training step is gradients and update. Training and evaluation run in separate processes, so that
//! each has its own peak memory.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use burn::tensor::Device;
use clrs_kernels::messages::MessageCounts;
use clrs_kernels::{Isa, peak};
use clrs_nn::eval::predict::predict;
use clrs_nn::parity::fixture::{Differences, ParityFixture};
use clrs_nn::parity::flops::Flops;
use clrs_nn::train::optimizer::{Adam, AdamConfig};
use clrs_nn::{ModelBatch, Weights, train};
use serde_json::{Value, json};

/// As in the program `clrs`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: compare FIXTURE training|evaluation ROUNDS [no-fused]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or(USAGE)?);
    let phase = arguments.next().ok_or(USAGE)?;
    let rounds: usize = arguments.next().ok_or(USAGE)?.parse()?;
    let mut fixture = ParityFixture::read(&path)?;
    fixture.network.fused = arguments.next().as_deref() != Some("no-fused");
    let report = match &phase[..] {
        "training" => training(&fixture, started, rounds)?,
        "evaluation" => evaluation(&fixture, started, rounds),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

fn training(fixture: &ParityFixture, started: Instant, rounds: usize) -> Result<Value, Box<dyn std::error::Error>> {
    let (device, batch) = (Device::flex(), ModelBatch::new(&fixture.dense));
    let config = AdamConfig { learning_rate: 1e-3, grad_clip: 1.0, freeze_processor: false };
    let (mut parameters, mut adam) = (fixture.parameters.clone(), Adam::new(&fixture.parameters));
    let measured = Measured::new(started, rounds, || {
        let (_, gradients) = train::gradients(&fixture.network, &parameters, 0, &batch, &device, |_| None);
        adam.update(&mut parameters, &gradients, 0, config);
    });
    let flops = Flops::count(&fixture.network, &batch, measured.messages);
    let mut differences = None;
    if fixture.file.tensors.contains_key("loss") {
        let mut found = Differences::default();
        fixture.compare_training(&device, &mut found)?;
        differences = Some(json!({ "loss": found.loss, "gradients": found.gradients, "worst": found.worst }));
    }
    Ok(measured.report(flops.map(|flops| flops.forward + flops.backward), differences.as_ref()))
}

fn evaluation(fixture: &ParityFixture, started: Instant, rounds: usize) -> Value {
    let (device, batch) = (Device::flex(), ModelBatch::new(&fixture.dense));
    let weights = Weights::no_grad(&fixture.parameters, &device);
    let measured = Measured::new(started, rounds, || {
        predict(&fixture.network, &weights, 0, &batch).expect("finite logits");
    });
    let flops = Flops::count(&fixture.network, &batch, measured.messages);
    let mut differences = None;
    if fixture.file.tensors.keys().any(|name| name.starts_with("eval/")) {
        let mut found = Differences::default();
        fixture.compare_evaluation(&device, &mut found);
        differences = Some(json!({ "logits": found.logits, "decisions": found.decisions }));
    }
    measured.report(flops.map(|flops| flops.forward), differences.as_ref())
}

/// Time, memory and messages of the rounds.
struct Measured {
    first_seconds: f64,
    milliseconds: Vec<f64>,
    peak_bytes: Option<u64>,
    /// Messages of one round.
    messages: MessageCounts,
}

impl Measured {
    /// Times all rounds but the first, which allocates.
    fn new(started: Instant, rounds: usize, mut round: impl FnMut()) -> Measured {
        let before = MessageCounts::total();
        round();
        let (first_seconds, messages) = (started.elapsed().as_secs_f64(), MessageCounts::total() - before);
        let mut timed = || {
            let now = Instant::now();
            round();
            now.elapsed().as_secs_f64() * 1e3
        };
        let milliseconds = (0..rounds).map(|_| timed()).collect();
        Measured { first_seconds, milliseconds, peak_bytes: peak_bytes(), messages }
    }

    /// Also measures the peak rate, with as many threads as a round has.
    fn report(&self, operations: Option<f64>, differences: Option<&Value>) -> Value {
        let threads = rayon::current_num_threads();
        json!({
            "first_seconds": self.first_seconds,
            "milliseconds": self.milliseconds,
            "peak_bytes": self.peak_bytes,
            "messages": { "sent": self.messages.forward, "won": self.messages.backward },
            "operations": operations,
            "threads": threads,
            "peak_operations_per_second": peak::flops_per_second(Isa::best(), threads),
            "isa": Isa::best().name(),
            "differences": differences,
        })
    }
}

/// Peak memory of this process; Linux only.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
