//! Estimates of the memory of samples, so that a mistyped count is refused before any work.

use anyhow::{Result, ensure};
use clrs::sampling::{Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Spec, Trajectories};

/// Maximum memory of the samples of a command: far above what the benchmark needs.
const MAX_BYTES: u128 = 16 << 30;

/// Bytes of a cell of a dense array.
const CELL_BYTES: u128 = 8;

/// Refuses a number of samples that would not fit into memory as recorded.
pub(crate) fn ensure_recordings_fit(
    algorithm: &'static dyn AnyAlgorithm,
    size: usize,
    options: &SamplerOptions,
    count: u128,
) -> Result<()> {
    if algorithm.max_recording_bytes(size) as u128 * count <= MAX_BYTES {
        return Ok(());
    }
    // The worst case is far above ordinary problems: take one.
    let one = record_one(algorithm, size, options)?;
    ensure_fits(&format!("{count} samples of {} at size {size}", algorithm.name()), one.bytes() as u128 * count)
}

/// Refuses a number of samples that would not fit into memory as dense arrays.
pub(crate) fn ensure_arrays_fit(
    algorithm: &'static dyn AnyAlgorithm,
    size: usize,
    options: &SamplerOptions,
    count: u128,
) -> Result<()> {
    let bytes = |spec: &Spec, nodes, steps| dense_bytes(spec, nodes, steps).saturating_mul(count);
    if bytes(&Spec::from(algorithm.spec()), size, algorithm.max_steps(size)) <= MAX_BYTES {
        return Ok(());
    }
    let one = record_one(algorithm, size, options)?;
    let what = format!("arrays of {count} samples of {} at size {size}", algorithm.name());
    ensure_fits(&what, bytes(one.spec(), one.get(0).nodes(), one.get(0).steps()))
}

/// Refuses chunks that would not fit into memory.
pub(crate) fn ensure_chunks_fit(
    algorithm: &'static dyn AnyAlgorithm,
    size: usize,
    options: &SamplerOptions,
    (length, lanes, count): (usize, usize, usize),
) -> Result<()> {
    let one = record_one(algorithm, size, options)?;
    // Inputs and outputs are repeated at every step.
    let row = dense_bytes(one.spec(), one.get(0).nodes(), 1);
    let bytes = row.saturating_mul(length as u128).saturating_mul(lanes as u128).saturating_mul(count as u128);
    ensure_fits(&format!("{count} chunks of {length} steps of {lanes} samples"), bytes)
}

fn record_one(algorithm: &'static dyn AnyAlgorithm, size: usize, options: &SamplerOptions) -> Result<Trajectories> {
    let mut recorder = algorithm.recorder();
    Sampler::new(algorithm, size, 1, options)?.record(1, &mut recorder)?;
    Ok(recorder.into_trajectories())
}

fn dense_bytes(spec: &Spec, nodes: usize, steps: usize) -> u128 {
    let cells = |probe: &clrs::Probe| {
        let row = clrs::batch::row_shape(probe, nodes).iter().map(|&axis| axis as u128).product::<u128>();
        row.saturating_mul(probe.rows(steps) as u128)
    };
    spec.iter().map(cells).sum::<u128>().saturating_mul(CELL_BYTES)
}

fn ensure_fits(what: &str, bytes: u128) -> Result<()> {
    let gigabytes = |bytes: u128| bytes as f64 / 1e9;
    ensure!(
        bytes <= MAX_BYTES,
        "{what} take about {:.1} GB, more than the limit of {:.1} GB",
        gigabytes(bytes),
        gigabytes(MAX_BYTES)
    );
    Ok(())
}
