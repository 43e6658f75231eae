//! Cost of a run as problems grow (`cargo xtask compare growth`). It should be proportional to the recorded bytes: nanoseconds
//! per byte stay the same or fall while the bytes grow a thousandfold.

#![expect(clippy::print_stdout, reason = "prints a table")]

use std::time::{Duration, Instant};

use clrs::sampling::Sampler;
use clrs::{Registry, SamplerOptions};

const CASES: [(&str, &[usize]); 3] =
    [("bfs", &[16, 64, 256, 1024]), ("heapsort", &[16, 64, 256, 1024]), ("floyd_warshall", &[16, 64, 256])];
/// Minimum duration of a measurement.
const MIN_DURATION: Duration = Duration::from_millis(500);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("per sample, on one thread; bytes of the recorded columns, without padding\n");
    println!(
        "{:<15} {:>5} {:>8} {:>12} {:>10} {:>10} {:>9}",
        "algorithm", "size", "steps", "row bytes", "draw ms", "run ms", "ns/byte"
    );
    for (name, sizes) in CASES {
        for &size in sizes {
            let Cost { samples, steps, bytes, draw, run } = cost(name, size)?;
            let per_sample = |total: usize| total as f64 / samples as f64;
            let milliseconds = |time: Duration| time.as_secs_f64() * 1e3 / samples as f64;
            println!(
                "{name:<15} {size:>5} {:>8.1} {:>12.0} {:>10.4} {:>10.4} {:>9.3}",
                per_sample(steps),
                per_sample(bytes),
                milliseconds(draw),
                milliseconds(run),
                run.as_secs_f64() * 1e9 / bytes as f64,
            );
        }
    }
    Ok(())
}

/// Totals over samples.
#[derive(Default)]
struct Cost {
    samples: usize,
    steps: usize,
    bytes: usize,
    draw: Duration,
    run: Duration,
}

fn cost(name: &str, size: usize) -> Result<Cost, Box<dyn std::error::Error>> {
    let algorithm = Registry::builtin().find(name)?;
    let mut sampler = Sampler::new(algorithm, size, 1, &SamplerOptions::default())?;
    let mut recorder = algorithm.recorder();
    // The first run allocates; the measured runs reuse the memory, as the generation of a set does.
    sampler.record(1, &mut recorder)?;
    let mut cost = Cost::default();
    while cost.draw + cost.run < MIN_DURATION {
        recorder.clear();
        let start = Instant::now();
        sampler.draw(1)?;
        let drawn = Instant::now();
        sampler.problems().record(0, &mut recorder)?;
        cost.run += drawn.elapsed();
        cost.draw += drawn - start;
        cost.samples += 1;
        cost.steps += recorder.trajectories().get(0).steps();
        cost.bytes += recorder.trajectories().bytes();
    }
    Ok(cost)
}
