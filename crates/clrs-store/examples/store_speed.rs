//! Measures the speed of writing and reading sets, and the size of the files: `store_speed [size] [samples]`.

use std::time::Instant;

use clrs::sampling::Sampler;
use clrs::{Registry, SamplerOptions};
use clrs_store::{Header, OnExisting, Provenance, SetReader, SetWriter};

#[expect(clippy::print_stdout, reason = "prints a table")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let size = arguments.next().map_or(Ok(64), |size| size.parse())?;
    let samples = arguments.next().map_or(Ok(32), |samples| samples.parse())?;
    let dir = tempfile::tempdir()?;
    let (mut memory, mut disk, mut seconds) = (0, 0, [0.0; 5]);
    println!("{:32} {:>8} {:>8} {:>7} | seconds: run, hash, write, read, extents", "algorithm", "MB", "MB file", "ratio");
    for algorithm in Registry::builtin().iter() {
        let mut times = [0.0; 5];
        let mut sampler = Sampler::new(algorithm, size, 3, &SamplerOptions::default())?;
        let mut recorder = algorithm.recorder();
        let (result, time) = timed(|| sampler.record(samples, &mut recorder));
        result?;
        times[0] = time;
        let trajectories = recorder.into_trajectories();
        times[1] = timed(|| trajectories.iter().map(|sample| clrs::ContentHash::of_sample(&sample)).collect::<Vec<_>>()).1;

        let header = Header {
            name: algorithm.name().into(),
            algorithm: algorithm.name().into(),
            max_nodes: trajectories.get(0).nodes(),
            provenance: Provenance::default(),
            spec: trajectories.spec().clone(),
        };
        let path = dir.path().join(header.file_name());
        let (summary, time) = timed(|| {
            let mut writer = SetWriter::create(&path, &header, OnExisting::Fail)?;
            writer.write(&trajectories)?;
            writer.finish()
        });
        let summary = summary?;
        times[2] = time;
        let (verified, time) = timed(|| SetReader::open(&path)?.verify());
        verified?;
        times[3] = time;
        let (extents, time) = timed(|| SetReader::open(&path)?.extents());
        extents?;
        times[4] = time;

        let mb = |bytes: u64| bytes as f64 / 1e6;
        let bytes = trajectories.bytes() as u64;
        let [run, hash, write, read, extents] = times;
        println!(
            "{:32} {:8.2} {:8.3} {:7.1} | {run:.3} {hash:.3} {write:.3} {read:.3} {extents:.3}",
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
