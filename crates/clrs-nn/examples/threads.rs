//! How training and evaluation scale with cores: `threads FIXTURE training|evaluation ROUNDS THREADS,..`.
//!
//! Records the CPU time of every task of every parallel region, predicts the time on each number of cores from it, and measures the
//! time on the clock with as many threads as the machine has cores. Prints JSON.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use clrs_nn::eval::evaluate::predict;
use clrs_nn::exec::parallel::{Profile, profile};
use clrs_nn::parity::fixture::ParityFixture;
use clrs_nn::train::optimizer::{Adam, AdamConfig};
use clrs_nn::{ModelBatch, Weights, train};
use serde_json::json;

/// As in the program `clrs`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: threads FIXTURE training|evaluation ROUNDS THREADS,..";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or(USAGE)?);
    let phase = arguments.next().ok_or(USAGE)?;
    let rounds: usize = arguments.next().ok_or(USAGE)?.parse()?;
    let threads = arguments.next().ok_or(USAGE)?;
    let threads = threads.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    let fixture = ParityFixture::read(&path)?;
    let (device, batch) = (Device::flex(), ModelBatch::new(&fixture.dense));
    let mut work: Box<dyn FnMut() + Send> = match &phase[..] {
        "training" => {
            let config = AdamConfig { learning_rate: 1e-3, grad_clip: 1.0, freeze_processor: false };
            let (mut parameters, mut adam) = (fixture.parameters.clone(), Adam::new(&fixture.parameters));
            let fixture = &fixture;
            Box::new(move || {
                let (_, gradients) = train::gradients(&fixture.network, &parameters, 0, &batch, &device, |_| None);
                adam.update(&mut parameters, &gradients, 0, config);
            })
        }
        "evaluation" => {
            let (weights, fixture) = (Weights::no_grad(&fixture.parameters, &device), &fixture);
            Box::new(move || {
                predict(&fixture.network, &weights, 0, &batch).expect("finite logits");
            })
        }
        _ => return Err(USAGE.into()),
    };
    work();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Vec::new();
    for &threads in &threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
        pool.install(&mut work);
        let times = (0..rounds).map(|_| {
            let start = Instant::now();
            pool.install(&mut work);
            start.elapsed()
        });
        let wall = median(times.collect());
        // Tasks of more threads than cores interrupt one another, which their CPU time hardly shows.
        let profiles: Vec<Profile> = (0..rounds).map(|_| pool.install(|| profile(&mut work).1)).collect();
        let total = median(profiles.iter().map(Profile::total).collect());
        rows.push(json!({
            "threads": threads,
            "milliseconds": (threads as usize <= cores).then(|| milliseconds(wall)),
            "cpu_milliseconds": milliseconds(total),
        }));
        if threads == 1 {
            let serial = median(profiles.iter().map(|profile| profile.serial).collect());
            let cores = [1, 2, 4, 8, 16, 32].map(|cores| {
                let predicted = median(profiles.iter().map(|profile| profile.predict(cores)).collect());
                json!({ "cores": cores, "milliseconds": milliseconds(predicted) })
            });
            rows.push(
                json!({ "serial_milliseconds": milliseconds(serial), "regions": profiles[0].regions.len(), "predicted": cores }),
            );
        }
    }
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&rows)?)?;
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
