//! How fast sets are written and read, and how large they are: `store_speed [size] [samples]`.

use std::time::Instant;

use clrs::sampling::Sampler;
use clrs::{Registry, SamplerOptions};
use clrs_store::{Header, OnExisting, Provenance, SetReader, SetWriter};

#[expect(clippy::print_stdout, reason = "its purpose")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let size = arguments.next().map_or(Ok(64), |size| size.parse())?;
    let samples = arguments.next().map_or(Ok(32), |samples| samples.parse())?;
    let folder = tempfile::tempdir()?;
    let (mut memory, mut disk, mut seconds) = (0, 0, [0.0; 5]);
    println!("{:32} {:>8} {:>8} {:>7} | seconds: run, hash, write, read, verify", "algorithm", "MB", "MB file", "ratio");
    for algorithm in Registry::builtin().iter() {
        let mut times = [0.0; 5];
        let mut sampler = Sampler::new(algorithm, size, 3, &SamplerOptions::default())?;
        let mut recorder = algorithm.recorder();
        let (result, time) = timed(|| sampler.record(samples, &mut recorder));
        result?;
        times[0] = time;
        let runs = recorder.into_trajectories();
        times[1] = timed(|| runs.iter().map(|run| clrs::ContentHash::of_sample(&run)).collect::<Vec<_>>()).1;

        let header = Header {
            name: algorithm.name().into(),
            algorithm: algorithm.name().into(),
            max_nodes: runs.get(0).nodes(),
            provenance: Provenance::default(),
            spec: runs.spec().clone(),
        };
        let path = folder.path().join(algorithm.name());
        let (summary, time) = timed(|| {
            let mut writer = SetWriter::create(&path, &header, OnExisting::Fail)?;
            writer.write(&runs)?;
            writer.finish()
        });
        let summary = summary?;
        times[2] = time;
        times[3] = timed(|| SetReader::open(&path)?.batches().try_for_each(|runs| runs.map(drop))).1;
        let (verified, time) = timed(|| SetReader::open(&path)?.verify());
        verified?;
        times[4] = time;

        let mb = |bytes: u64| bytes as f64 / 1e6;
        let bytes = runs.bytes() as u64;
        let [run, hash, write, read, verify] = times;
        println!(
            "{:32} {:8.2} {:8.3} {:7.1} | {run:.3} {hash:.3} {write:.3} {read:.3} {verify:.3}",
            algorithm.name(),
            mb(bytes),
            mb(summary.bytes),
            bytes as f64 / summary.bytes as f64
        );
        memory += bytes;
        disk += summary.bytes;
        seconds.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        std::fs::remove_file(&path)?;
    }
    let rates = seconds.map(|seconds| memory as f64 / 1e6 / seconds);
    println!("{:32} {:8.2} {:8.3} | seconds {seconds:.3?}, MB/s {rates:.0?}", "sum", memory as f64 / 1e6, disk as f64 / 1e6);
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}
