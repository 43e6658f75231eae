//! How well a network does on a set: the reference's score, validity and exactness.

use burn::tensor::Device;
use rayon::prelude::*;

use clrs::batch::{Array, Data, row_shape};
use clrs::score::{self, ScoreError};
use clrs::{AnyAlgorithm, Batch as Dense, Column, Kind, Probe, Runs, Spec, Stage, Trajectory};

use crate::batch::Batch;
use crate::data::Changes;
use crate::feedback::{self, SCORED};
use crate::network::{Mode, Network};
use crate::parameters::Weights;

/// Samples of one set in batches that the network reads, with what is true.
pub struct Examples {
    /// The samples as they were recorded.
    pub runs: Runs,
    batches: Vec<Dense>,
}

/// What a network makes of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The score of every output: micro-F1 of masks, accuracy of others.
    pub outputs: Vec<(String, f64)>,
    /// Their mean: the number that tables show.
    pub score: f64,
    /// The share of samples whose outputs are right, whether or not the reference would have given them.
    pub validity: f64,
    /// The share of samples whose outputs all equal the reference's.
    pub exactness: f64,
}

/// Why a network cannot be judged.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvaluateError {
    #[error(transparent)]
    Score(#[from] ScoreError),
    #[error(transparent)]
    Transform(#[from] clrs::transform::TransformError),
    #[error(transparent)]
    Padding(#[from] clrs::batch::BatchError),
}

impl Examples {
    /// Cuts samples into batches and changes them as a recipe says.
    pub fn new(runs: Runs, changes: &Changes, batch_size: usize) -> Result<Examples, EvaluateError> {
        let samples: Vec<Trajectory<'_>> = runs.iter().collect();
        let batches = samples.chunks(batch_size).enumerate().map(|(number, samples)| {
            Ok::<_, EvaluateError>(changes.apply(Dense::new(samples, 0)?, number as u64)?)
        });
        let batches = batches.collect::<Result<_, _>>()?;
        Ok(Examples { runs, batches })
    }

    /// Judges a network on them.
    pub fn judge(
        &self,
        network: &Network,
        weights: &Weights,
        task: usize,
        algorithm: &dyn AnyAlgorithm,
    ) -> Result<Outcome, EvaluateError> {
        let predicted: Vec<Vec<Array>> =
            self.batches.par_iter().map(|dense| predict(network, weights, task, &Batch::new(dense))).collect();
        judge(&self.batches, &predicted, &self.runs, algorithm)
    }
}

/// The decisions of a network on a batch, computed in parts, each on one thread. Those of a part are in its own order.
pub fn predict_parts(network: &Network, weights: &Weights, task: usize, batch: &Batch) -> Vec<Vec<Array>> {
    batch.parts(PART).par_iter().map(|part| predict(network, weights, task, part)).collect()
}

/// Samples of a part.
const PART: usize = 8;

/// The decisions of a network on a batch: an array per output, in the dense layout and the order of the dense batch.
pub fn predict(network: &Network, weights: &Weights, task: usize, batch: &Batch) -> Vec<Array> {
    let outputs = network.unroll(weights.clone(), task, batch, Mode::Evaluate, &mut |_, _, _| {});
    let decide = |(place, logits): (usize, burn::tensor::Tensor<3>)| {
        let probe = &batch.spec()[place];
        let decided: Vec<f32> = feedback::hard(probe.kind, logits, SCORED).try_into_vec_as().expect("f32");
        dense(probe, batch, &decided)
    };
    outputs.into_iter().map(decide).collect()
}

/// `[B, R, K]` in the batch's order as a dense array in the order it came in: pointers as nodes again.
fn dense(probe: &Probe, batch: &Batch, decided: &[f32]) -> Array {
    let (samples, nodes) = (batch.samples(), batch.nodes());
    let numbers = decided.len() / samples;
    let as_nodes = probe.kind == Kind::Pointer || probe.kind == Kind::Permutation;
    let row = if as_nodes { numbers / nodes } else { numbers };
    let mut values = vec![0.0; samples * row];
    for (decided, &sample) in decided.chunks_exact(numbers).zip(batch.order()) {
        let into = &mut values[sample * row..(sample + 1) * row];
        if as_nodes {
            for (into, one_hot) in into.iter_mut().zip(decided.chunks_exact(nodes)) {
                *into = feedback::first_largest(one_hot) as f64;
            }
        } else {
            into.iter_mut().zip(decided).for_each(|(into, decided)| *into = f64::from(*decided));
        }
    }
    let shape = [samples].into_iter().chain(row_shape(probe, nodes)).collect();
    Array { shape, data: Data::F64(values) }
}

fn judge(truth: &[Dense], predicted: &[Vec<Array>], runs: &Runs, algorithm: &dyn AnyAlgorithm) -> Result<Outcome, EvaluateError> {
    // Only outputs are put together: the hints of a large set take gigabytes.
    let probes: Vec<Probe> = truth[0].spec.iter().filter(|probe| probe.stage == Stage::Output).cloned().collect();
    let place = |probe: &Probe| truth[0].spec.iter().position(|of| of.name == probe.name).expect("it is from there");
    let arrays = probes.iter().map(|probe| concatenate(truth.iter().map(|batch| &batch.arrays[place(probe)]))).collect();
    let lengths = truth.iter().flat_map(|batch| batch.lengths.clone()).collect();
    let whole = Dense { spec: Spec::new(probes.clone()).expect("names are taken once"), arrays, lengths };
    let guesses: Vec<Array> = (0..probes.len()).map(|output| concatenate(predicted.iter().map(|of| &of[output]))).collect();

    let named: Vec<(&str, &Array)> = probes.iter().map(|probe| &*probe.name).zip(&guesses).collect();
    let scores = score::evaluate(&whole, &named)?;
    let pairs: Vec<(&Probe, &Array)> = probes.iter().zip(&guesses).collect();
    let nodes = runs.iter().next().map_or(1, |run| run.nodes());
    let columns: Vec<Vec<Column>> = score::harden(&pairs, runs.len(), nodes)?;
    let samples: Vec<Trajectory<'_>> = runs.iter().collect();
    Ok(Outcome {
        outputs: scores.outputs,
        score: scores.score,
        validity: score::validity(algorithm, &samples, &columns)?,
        exactness: score::exactness(&samples, &columns)?,
    })
}

/// Arrays end to end along their first axis, as f64.
fn concatenate<'a>(arrays: impl Iterator<Item = &'a Array>) -> Array {
    let (mut shape, mut values) = (Vec::new(), Vec::new());
    for array in arrays {
        match &array.data {
            Data::F64(data) => values.extend_from_slice(data),
            Data::F32(data) => values.extend(data.iter().map(|&x| f64::from(x))),
            Data::I64(data) => values.extend(data.iter().map(|&x| x as f64)),
        }
        if shape.is_empty() {
            shape.clone_from(&array.shape);
        } else {
            shape[0] += array.shape[0];
        }
    }
    Array { shape, data: Data::F64(values) }
}

/// The device that a network's numbers are computed on.
pub fn cpu() -> Device {
    Device::flex()
}
