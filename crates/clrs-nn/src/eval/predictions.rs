//! From logits to decisions, and from decisions to metrics.

use clrs::batch::{Array, ArrayData, row_shape};
use clrs::score::{self, SampleResult};
use clrs::{AnyAlgorithm, Batch as DenseBatch, Column, Kind, Probe, Spec, Trajectory};

use super::metrics::{EvalError, Metrics};
use crate::data::batch::ModelBatch;
use crate::exec::tensor::Tensor;
use crate::model::feedback::{self, SINKHORN_SCORED, argmax};

/// Decisions on a probe as a dense array, samples in the order of the dense batch.
pub(super) fn decode(batch: &ModelBatch, index: usize, logits: Tensor<3>) -> Result<Array, EvalError> {
    let probe = &batch.spec()[index];
    let mut array = zeros(probe, batch);
    write(probe, batch.nodes(), logits, batch.order().iter().copied(), &mut array)?;
    Ok(array)
}

/// A dense array of zeros for the decisions on a probe.
pub(super) fn zeros(probe: &Probe, batch: &ModelBatch) -> Array {
    let shape: Vec<usize> = [batch.samples()].into_iter().chain(row_shape(probe, batch.nodes())).collect();
    let cells = shape.iter().product();
    Array { shape, data: ArrayData::F64(vec![0.0; cells]) }
}

/// Writes the decisions on some samples, `[samples, R, K]`, to their indices in a dense array; pointers as nodes.
pub(super) fn write(
    probe: &Probe,
    nodes: usize,
    logits: Tensor<3>,
    samples: impl ExactSizeIterator<Item = usize>,
    array: &mut Array,
) -> Result<(), EvalError> {
    let decided = decide(probe, nodes, logits.into_vec())?;
    let ArrayData::F64(values) = &mut array.data else { unreachable!("`zeros` creates f64 arrays") };
    let row = values.len() / array.shape[0];
    for (decided, sample) in decided.chunks_exact(row).zip(samples) {
        let values = &mut values[sample * row..(sample + 1) * row];
        values.iter_mut().zip(decided).for_each(|(value, decided)| *value = f64::from(*decided));
    }
    Ok(())
}

/// Decisions from logits `[.., R, K]`, in the layout of dense arrays: pointers are nodes.
pub(super) fn decide(probe: &Probe, nodes: usize, mut logits: Vec<f32>) -> Result<Vec<f32>, EvalError> {
    // A network that has diverged has no decisions.
    if let Some(&value) = logits.iter().find(|value| !value.is_finite()) {
        return Err(EvalError::NotFinite { probe: probe.name.to_string(), value });
    }
    let [rows, classes] = crate::data::batch::row_shape(probe, nodes);
    feedback::decide(probe.kind, &mut logits, [1, rows, classes], SINKHORN_SCORED);
    #[expect(clippy::cast_precision_loss, reason = "f32 represents the indices of any graph that fits into memory")]
    let node = |one_hot: &[f32]| argmax(one_hot) as f32;
    let is_node = probe.kind == Kind::Pointer || probe.kind == Kind::Permutation;
    Ok(if is_node { logits.chunks_exact(nodes).map(node).collect() } else { logits })
}

/// True and predicted outputs of many batches. Outputs only: the hints of a large set take gigabytes.
#[derive(Default)]
pub(super) struct PredictionAccumulator {
    probes: Vec<Probe>,
    truth: Vec<Array>,
    predicted: Vec<Array>,
}

/// Metrics of a set, and the predicted outputs and result of every sample.
pub(super) struct Scored {
    pub(super) metrics: Metrics,
    pub(super) predicted: Vec<Vec<Column>>,
    pub(super) results: Vec<SampleResult>,
}

impl PredictionAccumulator {
    /// Adds a batch.
    pub(super) fn add(&mut self, truth: &[(Probe, Array)], predicted: &[Array]) {
        if self.probes.is_empty() {
            let empty = |array: &Array| Array { shape: [&[0], &array.shape[1..]].concat(), data: ArrayData::F64(Vec::new()) };
            self.probes = truth.iter().map(|(probe, _)| probe.clone()).collect();
            self.truth = truth.iter().map(|(_, array)| empty(array)).collect();
            self.predicted = self.truth.clone();
        }
        self.truth.iter_mut().zip(truth).for_each(|(all, (_, array))| append(all, array));
        self.predicted.iter_mut().zip(predicted).for_each(|(all, array)| append(all, array));
    }

    /// Scores the predictions of all samples, given in the order in which they were added.
    pub(super) fn score(self, samples: &[Trajectory<'_>], algorithm: &dyn AnyAlgorithm) -> Result<Scored, EvalError> {
        let PredictionAccumulator { probes, truth, predicted } = self;
        let nodes = samples.first().ok_or(EvalError::NoSamples)?.nodes();
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        let truth = DenseBatch { spec: Spec::new(probes.clone()).expect("names are unique"), arrays: truth, lengths };
        let named: Vec<(&str, &Array)> = probes.iter().map(|probe| &*probe.name).zip(&predicted).collect();
        let scores = score::evaluate(&truth, &named)?;
        let pairs: Vec<(&Probe, &Array)> = probes.iter().zip(&predicted).collect();
        let predicted = score::hard_decode(&pairs, samples.len(), nodes)?;
        let results = score::check_samples(algorithm, samples, &predicted)?;
        let share = |holds: fn(&SampleResult) -> bool| {
            results.iter().filter(|result| holds(result)).count() as f64 / results.len() as f64
        };
        let metrics = Metrics {
            outputs: scores.outputs,
            score: scores.score,
            validity: share(|result| result.failure.is_none()),
            exact_match: share(|result| result.exact_match),
        };
        Ok(Scored { metrics, predicted, results })
    }
}

/// Appends an array along the first axis, as f64.
fn append(all: &mut Array, array: &Array) {
    let ArrayData::F64(values) = &mut all.data else { unreachable!("accumulated arrays are f64") };
    match &array.data {
        ArrayData::F64(data) => values.extend_from_slice(data),
        ArrayData::F32(data) => values.extend(data.iter().map(|&x| f64::from(x))),
        ArrayData::I64(data) => values.extend(data.iter().map(|&x| x as f64)),
    }
    all.shape[0] += array.shape[0];
}
