//! From logits to decisions, and from decisions to a judgement.

use burn::tensor::Tensor;
use clrs::batch::{Array, ArrayData, row_shape};
use clrs::score::{self, SampleResult};
use clrs::{AnyAlgorithm, Batch as Dense, Column, Kind, Probe, Spec, Trajectory};

use crate::batch::Batch;
use crate::evaluate::{EvaluateError, Outcome};
use crate::feedback::{self, SCORED};

/// The decisions on a probe as a dense array, samples in the order in which they came into the batch.
pub(crate) fn decide(batch: &Batch, place: usize, logits: Tensor<3>) -> Array {
    let probe = &batch.spec()[place];
    let mut array = undecided(probe, batch);
    write(probe, batch.nodes(), logits, batch.order().iter().copied(), &mut array);
    array
}

/// An array of zeros for the decisions on a probe.
pub(crate) fn undecided(probe: &Probe, batch: &Batch) -> Array {
    let shape: Vec<usize> = [batch.samples()].into_iter().chain(row_shape(probe, batch.nodes())).collect();
    let cells = shape.iter().product();
    Array { shape, data: ArrayData::F64(vec![0.0; cells]) }
}

/// Writes decisions on some samples, `[samples, R, K]`, to their places: pointers as nodes again.
pub(crate) fn write(
    probe: &Probe,
    nodes: usize,
    logits: Tensor<3>,
    places: impl ExactSizeIterator<Item = usize>,
    array: &mut Array,
) {
    let decided: Vec<f32> = feedback::hard(probe.kind, logits, SCORED).try_into_vec_as().expect("f32");
    let ArrayData::F64(values) = &mut array.data else { unreachable!("`undecided` makes no other") };
    let row = values.len() / array.shape[0];
    let as_nodes = probe.kind == Kind::Pointer || probe.kind == Kind::Permutation;
    for (decided, sample) in decided.chunks_exact(decided.len() / places.len()).zip(places) {
        let into = &mut values[sample * row..(sample + 1) * row];
        if as_nodes {
            for (into, one_hot) in into.iter_mut().zip(decided.chunks_exact(nodes)) {
                *into = feedback::first_largest(one_hot) as f64;
            }
        } else {
            into.iter_mut().zip(decided).for_each(|(into, decided)| *into = f64::from(*decided));
        }
    }
}

/// True and predicted outputs of many batches. Only outputs are put together: the hints of a large set take gigabytes.
#[derive(Default)]
pub(crate) struct Answers {
    probes: Vec<Probe>,
    truth: Vec<Array>,
    predicted: Vec<Array>,
}

/// The outcome, and of every sample its outputs and the verdict.
pub(crate) struct Judgement {
    pub(crate) outcome: Outcome,
    pub(crate) predicted: Vec<Vec<Column>>,
    pub(crate) verdicts: Vec<SampleResult>,
}

impl Answers {
    /// Adds a batch.
    pub(crate) fn add(&mut self, truth: &[(Probe, Array)], predicted: &[Array]) {
        if self.probes.is_empty() {
            let empty = |array: &Array| Array { shape: [&[0], &array.shape[1..]].concat(), data: ArrayData::F64(Vec::new()) };
            self.probes = truth.iter().map(|(probe, _)| probe.clone()).collect();
            self.truth = truth.iter().map(|(_, array)| empty(array)).collect();
            self.predicted = self.truth.clone();
        }
        self.truth.iter_mut().zip(truth).for_each(|(all, (_, array))| append(all, array));
        self.predicted.iter_mut().zip(predicted).for_each(|(all, array)| append(all, array));
    }

    /// Judges all that was added: these samples.
    pub(crate) fn judge(self, samples: &[Trajectory<'_>], algorithm: &dyn AnyAlgorithm) -> Result<Judgement, EvaluateError> {
        let Answers { probes, truth, predicted } = self;
        let nodes = samples.first().ok_or(EvaluateError::NoSamples)?.nodes();
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        let whole = Dense { spec: Spec::new(probes.clone()).expect("names are taken once"), arrays: truth, lengths };
        let named: Vec<(&str, &Array)> = probes.iter().map(|probe| &*probe.name).zip(&predicted).collect();
        let scores = score::evaluate(&whole, &named)?;
        let pairs: Vec<(&Probe, &Array)> = probes.iter().zip(&predicted).collect();
        let predicted = score::hard_decode(&pairs, samples.len(), nodes)?;
        let verdicts = score::check_samples(algorithm, samples, &predicted)?;
        let share = |holds: fn(&SampleResult) -> bool| {
            verdicts.iter().filter(|verdict| holds(verdict)).count() as f64 / verdicts.len() as f64
        };
        let outcome = Outcome {
            outputs: scores.outputs,
            score: scores.score,
            validity: share(|verdict| verdict.failure.is_none()),
            exactness: share(|verdict| verdict.exact_match),
        };
        Ok(Judgement { outcome, predicted, verdicts })
    }
}

/// Adds an array at the end along the first axis, as f64.
fn append(all: &mut Array, array: &Array) {
    let ArrayData::F64(values) = &mut all.data else { unreachable!("`Answers::add` makes no other") };
    match &array.data {
        ArrayData::F64(data) => values.extend_from_slice(data),
        ArrayData::F32(data) => values.extend(data.iter().map(|&x| f64::from(x))),
        ArrayData::I64(data) => values.extend(data.iter().map(|&x| x as f64)),
    }
    all.shape[0] += array.shape[0];
}
