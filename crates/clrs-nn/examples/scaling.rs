//! How training and evaluation scale with cores: `scaling FIXTURE training|evaluation ROUNDS THREADS,..`.
//!
//! Runs the work on one thread, records the CPU time of every task of every parallel region, and predicts from it the time on each
//! number of cores. Next to it, with as many threads: the time on the clock, if the machine has the cores, and the CPU time. Each is the
//! minimum over the rounds: other load on the machine only adds to a time.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use clrs_nn::eval::predict::predict;
use clrs_nn::exec::parallel::profile;
use clrs_nn::parity::fixture::ParityFixture;
use clrs_nn::train::optimizer::{Adam, AdamConfig};
use clrs_nn::{ModelBatch, Weights, train};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

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
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let one = ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut measured = threads.iter().map(|&threads| Measured::new(threads, cores)).collect::<Result<Vec<_>, _>>()?;
    one.install(&mut *work);
    for measured in &measured {
        measured.pool.install(&mut *work);
    }
    // Prediction and clock alternate: the speed of a machine changes over time.
    let mut profiles = Vec::new();
    for _ in 0..rounds {
        profiles.push(one.install(|| profile(&mut *work).1));
        for measured in &mut measured {
            measured.round(&mut *work);
        }
    }

    let mut out = std::io::stdout().lock();
    let predicted = |cores: u32| fastest(profiles.iter().map(|profile| profile.predict(cores)));
    let serial = fastest(profiles.iter().map(|profile| profile.serial));
    writeln!(out, "  {} parallel regions, {:.2} ms between them", profiles[0].regions.len(), milliseconds(serial))?;
    writeln!(out, "  cores  predicted, ms  speed-up  clock, ms  CPU time, ms")?;
    for Measured { threads, clock, cpu, .. } in measured {
        let clock = if clock.is_empty() { "-".into() } else { format!("{:.2}", milliseconds(fastest(clock))) };
        let time = predicted(threads);
        let speed_up = predicted(1).as_secs_f64() / time.as_secs_f64();
        let (time, cpu) = (milliseconds(time), milliseconds(fastest(cpu)));
        writeln!(out, "  {threads:>5}  {time:>13.2}  {speed_up:>7.1}x  {clock:>9}  {cpu:>12.2}")?;
    }
    Ok(())
}

/// Times on a number of threads, one per round.
struct Measured {
    threads: u32,
    pool: ThreadPool,
    has_cores: bool,
    /// On the clock, if the machine has the cores.
    clock: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Measured {
    fn new(threads: u32, cores: usize) -> Result<Measured, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build()?;
        Ok(Measured { threads, pool, has_cores: threads as usize <= cores, clock: Vec::new(), cpu: Vec::new() })
    }

    fn round(&mut self, work: &mut (dyn FnMut() + Send)) {
        if self.has_cores {
            let start = Instant::now();
            self.pool.install(&mut *work);
            self.clock.push(start.elapsed());
        }
        self.cpu.push(self.pool.install(|| profile(work).1.total()));
    }
}

fn fastest(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
