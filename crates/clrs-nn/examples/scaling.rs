//! How training and evaluation scale with cores: `scaling FIXTURE training|evaluation ROUNDS THREADS,..`.
//!
//! Runs the work on one thread, records the CPU time of every task of every parallel region, and predicts from it the time on each
//! number of cores. Next to it, with as many threads: the time on the clock, if the machine has the cores, and the CPU time.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use clrs_nn::eval::evaluate::predict;
use clrs_nn::exec::parallel::{Profile, profile};
use clrs_nn::parity::fixture::ParityFixture;
use clrs_nn::train::optimizer::{Adam, AdamConfig};
use clrs_nn::{ModelBatch, Weights, train};
use rayon::ThreadPoolBuilder;

/// As in the program `clrs`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: scaling FIXTURE training|evaluation ROUNDS THREADS,..";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or(USAGE)?);
    let phase = arguments.next().ok_or(USAGE)?;
    let rounds: usize = arguments.next().ok_or(USAGE)?.parse()?;
    let threads = arguments.next().ok_or(USAGE)?;
    let threads = threads.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    let fixture = &ParityFixture::read(&path)?;
    let (device, batch) = (Device::flex(), ModelBatch::new(&fixture.dense));
    let mut work: Box<dyn FnMut() + Send> = match &phase[..] {
        "training" => {
            let config = AdamConfig { learning_rate: 1e-3, grad_clip: 1.0, freeze_processor: false };
            let (mut parameters, mut adam) = (fixture.parameters.clone(), Adam::new(&fixture.parameters));
            Box::new(move || {
                let (_, gradients) = train::gradients(&fixture.network, &parameters, 0, &batch, &device, |_| None);
                adam.update(&mut parameters, &gradients, 0, config);
            })
        }
        "evaluation" => {
            let weights = Weights::no_grad(&fixture.parameters, &device);
            Box::new(move || {
                predict(&fixture.network, &weights, 0, &batch).expect("finite logits");
            })
        }
        _ => return Err(USAGE.into()),
    };
    let mut out = std::io::stdout().lock();
    let profiles = profiles(1, rounds, &mut work)?;
    let predicted = |cores: u32| median(profiles.iter().map(|profile| profile.predict(cores)).collect());
    let serial = median(profiles.iter().map(|profile| profile.serial).collect());
    writeln!(out, "  {} parallel regions, {:.2} ms between them", profiles[0].regions.len(), milliseconds(serial))?;
    writeln!(out, "  cores  predicted, ms  speed-up  clock, ms  CPU time, ms")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for &threads in &threads {
        let clock = if threads as usize <= cores {
            format!("{:.2}", milliseconds(clock(threads, rounds, &mut work)?))
        } else {
            "-".into()
        };
        let cpu = median(self::profiles(threads, rounds, &mut work)?.iter().map(Profile::total).collect());
        let time = predicted(threads);
        let speed_up = predicted(1).as_secs_f64() / time.as_secs_f64();
        let (time, cpu) = (milliseconds(time), milliseconds(cpu));
        writeln!(out, "  {threads:>5}  {time:>13.2}  {speed_up:>7.1}x  {clock:>9}  {cpu:>12.2}")?;
    }
    Ok(())
}

/// Recorded CPU times of several runs on a number of threads.
fn profiles(threads: u32, rounds: usize, work: &mut (dyn FnMut() + Send)) -> Result<Vec<Profile>, rayon::ThreadPoolBuildError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    pool.install(&mut *work);
    Ok((0..rounds).map(|_| pool.install(|| profile(&mut *work).1)).collect())
}

/// Median time on the clock.
fn clock(threads: u32, rounds: usize, work: &mut (dyn FnMut() + Send)) -> Result<Duration, rayon::ThreadPoolBuildError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
    pool.install(&mut *work);
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        pool.install(&mut *work);
        start.elapsed()
    });
    Ok(median(times.collect()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
