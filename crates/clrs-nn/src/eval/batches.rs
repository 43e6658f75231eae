//! Samples as batches that a network is evaluated on.

use clrs::clrs30::Split;
use clrs::{Array, Batch as DenseBatch, Cells, Probe, Stage, Trajectories, Trajectory};

use super::metrics::EvalError;
use crate::data::batch::ModelBatch;
use crate::data::transform::BatchTransform;
use crate::model::network::Network;

/// A batch for the network, and its true outputs.
pub(super) struct PreparedBatch {
    pub(super) batch: ModelBatch,
    pub(super) outputs: Vec<(Probe, Array)>,
}

impl PreparedBatch {
    /// Keeps the first row of the hints, which the network is given, and their number.
    pub(super) fn new(samples: &[Trajectory<'_>], transform: &BatchTransform, number: u64) -> Result<PreparedBatch, EvalError> {
        if samples.iter().any(|sample| sample.steps() == 0) {
            return Err(EvalError::NoSteps);
        }
        let first_rows = first_rows(samples);
        let mut dense = transform.apply(DenseBatch::new(&first_rows.iter().collect::<Vec<_>>(), 0)?, number)?;
        dense.lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        let batch = ModelBatch::new(&dense);
        let pairs = dense.spec.iter().cloned().zip(dense.arrays);
        Ok(PreparedBatch { batch, outputs: pairs.filter(|(probe, _)| probe.stage == Stage::Output).collect() })
    }
}

/// The samples as if they ended after their first step.
fn first_rows(samples: &[Trajectory<'_>]) -> Trajectories {
    let mut first = Trajectories::new(samples[0].spec().clone());
    for sample in samples {
        let cells = sample.iter().map(|(probe, cells)| cells.slice(0..probe.width(sample.nodes())));
        let cells: Vec<Cells<'_>> = cells.collect();
        first.push(sample.nodes(), 1, &cells).expect("the first row of a sample of this spec");
    }
    first
}

/// All samples of a set, which must be of one size: they are scored together.
pub(super) fn samples_of_one_size(set: &Trajectories) -> Result<Vec<Trajectory<'_>>, EvalError> {
    let samples: Vec<Trajectory<'_>> = set.iter().collect();
    if samples.is_empty() {
        return Err(EvalError::NoSamples);
    }
    clrs::batch::same_size(&samples)?;
    Ok(samples)
}

/// Whether a network can read all samples.
pub(crate) fn ensure_fits(network: &Network, set: &Trajectories) -> Result<(), EvalError> {
    let nodes = set.iter().map(|sample| sample.nodes()).max().unwrap_or(0);
    match network.processor().max_nodes() {
        Some(max) if nodes > max => Err(EvalError::TooManyNodes { nodes, max }),
        _ => Ok(()),
    }
}

/// Split whose transforms an evaluation uses: positions are not random.
pub(super) const SPLIT: Split = Split::Test;
