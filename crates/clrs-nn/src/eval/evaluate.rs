//! Evaluation of a network on a set.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use clrs::score::{HintScore, HintScorer, SampleResult};
use clrs::{AnyAlgorithm, Array, Column, Probe, Trajectories, Trajectory};
use serde::{Deserialize, Serialize};

use super::batches::{PreparedBatch, ensure_fits, samples_of_one_size};
use super::dump::Dump;
use super::hint_scores::HintScoreObserver;
use super::metrics::{EvalError, Metrics};
use super::predict::predict;
use super::predictions::{PredictionAccumulator, Scored, decode};
use super::trajectories::{PredictedTrajectory, TrajectoryObserver};
use crate::data::batch::eval_micro_batch;
use crate::data::transform::BatchTransform;
use crate::exec::parallel;
use crate::exec::weights::Weights;
use crate::model::network::{Mode, Network};
use crate::model::rollout::Termination;
use crate::run::tensor_file::TensorFile;

/// A network with its weights, for one of its tasks.
#[derive(Clone, Copy)]
pub struct TaskModel<'n> {
    /// The network.
    pub network: &'n Network,
    /// Its weights.
    pub weights: &'n Weights,
    /// Index of the task.
    pub task: usize,
    /// The algorithm of the task.
    pub algorithm: &'n dyn AnyAlgorithm,
}

/// Number of steps that the network takes for a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Steps {
    /// As many as the algorithm took. This is what papers report; it gives the network information about the answer.
    #[default]
    Oracle,
    /// The upper bound for the number of nodes.
    Max,
    /// Until decisions repeat, and at most as many as [`Steps::Max`].
    Fixpoint,
}

impl Steps {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Steps::Oracle => "oracle",
            Steps::Max => "max",
            Steps::Fixpoint => "fixpoint",
        }
    }

    /// When samples of an algorithm and size end.
    pub fn termination(self, algorithm: &dyn AnyAlgorithm, nodes: usize) -> Termination {
        // The first hint row is given, the others are predicted.
        let max_steps = algorithm.max_steps(nodes).saturating_sub(1).max(1);
        match self {
            Steps::Oracle => Termination::TrueLength,
            Steps::Max => Termination::Fixed(max_steps),
            Steps::Fixpoint => Termination::Fixpoint { max_steps },
        }
    }
}

/// A name that is not one of [`Steps`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown steps `{0}`; expected oracle, max or fixpoint")]
pub struct UnknownSteps(pub String);

impl FromStr for Steps {
    type Err = UnknownSteps;

    fn from_str(text: &str) -> Result<Steps, UnknownSteps> {
        [Steps::Oracle, Steps::Max, Steps::Fixpoint]
            .into_iter()
            .find(|steps| steps.name() == text)
            .ok_or_else(|| UnknownSteps(text.into()))
    }
}

/// Options of an evaluation.
///
/// ```
/// use clrs_nn::eval::evaluate::{EvalOptions, Steps};
///
/// let options = EvalOptions::default().steps(Steps::Fixpoint).hints(true).trajectories([0, 5]);
/// assert_eq!(options.batch_size, 32);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvalOptions {
    /// Samples per batch.
    pub batch_size: usize,
    /// Number of steps that the network takes.
    pub steps: Steps,
    /// Whether hints are scored.
    pub hints: bool,
    /// Whether hidden states and logits of the first batch are returned.
    pub dump: bool,
    /// Samples whose predicted trajectories are returned.
    pub trajectories: BTreeSet<usize>,
}

impl Default for EvalOptions {
    fn default() -> EvalOptions {
        EvalOptions { batch_size: 32, steps: Steps::Oracle, hints: false, dump: false, trajectories: BTreeSet::new() }
    }
}

impl EvalOptions {
    /// Sets [`EvalOptions::batch_size`].
    #[must_use]
    pub fn batch_size(self, batch_size: usize) -> EvalOptions {
        EvalOptions { batch_size, ..self }
    }

    /// Sets [`EvalOptions::steps`].
    #[must_use]
    pub fn steps(self, steps: Steps) -> EvalOptions {
        EvalOptions { steps, ..self }
    }

    /// Sets [`EvalOptions::hints`].
    #[must_use]
    pub fn hints(self, hints: bool) -> EvalOptions {
        EvalOptions { hints, ..self }
    }

    /// Sets [`EvalOptions::dump`].
    #[must_use]
    pub fn dump(self, dump: bool) -> EvalOptions {
        EvalOptions { dump, ..self }
    }

    /// Sets [`EvalOptions::trajectories`].
    #[must_use]
    pub fn trajectories(self, samples: impl IntoIterator<Item = usize>) -> EvalOptions {
        EvalOptions { trajectories: samples.into_iter().collect(), ..self }
    }
}

/// Result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EvalReport {
    /// Number of samples.
    pub samples: usize,
    /// How many steps the network took.
    pub steps: Steps,
    /// Steps that the network took, mean over samples.
    pub mean_steps: f64,
    /// The metrics.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// Scores of hints, if requested and predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<HintScore>>,
    /// Decided outputs of every sample, in the order of the algorithm's outputs.
    #[serde(skip)]
    pub predicted: Vec<Vec<Column>>,
    /// Whether the outputs of every sample are correct and equal to the reference's.
    #[serde(skip)]
    pub results: Vec<SampleResult>,
    /// Predicted trajectories of the chosen samples.
    #[serde(skip)]
    pub trajectories: Vec<PredictedTrajectory>,
    /// Hidden states and logits of the first batch, if requested.
    #[serde(skip)]
    pub dump: Option<TensorFile>,
}

/// Evaluates a network on samples, batch by batch: neither the hints of the set nor predictions of them are in memory all at once.
///
/// `progress` is called after every batch with its number of samples and can stop the evaluation.
///
/// # Errors
/// If the samples do not fit the network or differ in size, logits are not finite, or `progress` stops.
pub fn evaluate(
    model: TaskModel<'_>,
    samples: &Trajectories,
    transform: &BatchTransform,
    options: &EvalOptions,
    progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<EvalReport, EvalError> {
    if options.batch_size == 0 {
        return Err(EvalError::BatchSize);
    }
    ensure_fits(model.network, samples)?;
    let transform = &transform.without_random_positions();
    let samples = samples_of_one_size(samples)?;
    if let Some(&sample) = options.trajectories.iter().find(|sample| **sample >= samples.len()) {
        return Err(EvalError::NoSample { sample, samples: samples.len() });
    }
    let (mut predictions, mut hints, mut steps) = (PredictionAccumulator::default(), HintScorer::default(), 0);
    let (mut dump, mut trajectories) = (None, Vec::new());
    for (number, batch) in samples.chunks(options.batch_size).enumerate() {
        let first = number * options.batch_size;
        // A batch runs in micro-batches, in parallel; one that is dumped runs at once.
        let dumped = options.dump && number == 0;
        let size = if dumped { batch.len() } else { eval_micro_batch(batch[0].nodes()) };
        let evaluated = parallel::map(batch.chunks(size).enumerate().collect(), |(index, samples)| {
            MicroBatch { first: first + index * size, samples, dumped }.evaluate(model, transform, options)
        });
        for evaluated in evaluated.into_iter().collect::<Result<Vec<_>, _>>()? {
            predictions.add(&evaluated.truth, &evaluated.predicted);
            hints.append(&evaluated.hints);
            dump = dump.or(evaluated.dump);
            trajectories.extend(evaluated.trajectories);
            steps += evaluated.steps;
        }
        if progress(batch.len()).is_break() {
            return Err(EvalError::Stopped);
        }
    }
    let Scored { metrics, predicted, results } = predictions.score(&samples, model.algorithm)?;
    Ok(EvalReport {
        samples: samples.len(),
        steps: options.steps,
        mean_steps: steps as f64 / samples.len() as f64,
        metrics,
        hints: options.hints.then(|| hints.finish()),
        predicted,
        results,
        trajectories,
        dump,
    })
}

/// Samples that run through the network together.
struct MicroBatch<'s> {
    /// Index of the first sample in the set.
    first: usize,
    samples: &'s [Trajectory<'s>],
    dumped: bool,
}

struct Evaluated {
    truth: Vec<(Probe, Array)>,
    predicted: Vec<Array>,
    hints: HintScorer,
    dump: Option<TensorFile>,
    trajectories: Vec<PredictedTrajectory>,
    /// Steps of all samples together.
    steps: usize,
}

impl MicroBatch<'_> {
    fn evaluate(&self, model: TaskModel<'_>, transform: &BatchTransform, options: &EvalOptions) -> Result<Evaluated, EvalError> {
        let TaskModel { network, weights, task, algorithm } = model;
        let PreparedBatch { batch, outputs: truth } = PreparedBatch::new(self.samples, transform, 0)?;
        let batch = &batch;
        let (mut hints, mut steps) = (HintScorer::default(), 0);
        let mut scores = options.hints.then(|| HintScoreObserver::new(self.samples, transform, batch, &mut hints));
        let mut dump = self.dumped.then(|| Dump::new(batch));
        let range = self.first..self.first + self.samples.len();
        let wanted: Vec<usize> = options.trajectories.range(range).map(|sample| sample - self.first).collect();
        let mut trajectories = (!wanted.is_empty()).then(|| TrajectoryObserver::new(batch, wanted.clone()));
        let ctx = network.context(weights, task);
        let termination = options.steps.termination(algorithm, batch.nodes());
        let logits = network.unroll(&ctx, batch, termination, Mode::Evaluate, &mut |view| {
            steps += view.active.len();
            if let Some(scores) = &mut scores {
                scores.observe(view);
            }
            if let Some(dump) = &mut dump {
                dump.observe(view);
            }
            if let Some(trajectories) = &mut trajectories {
                trajectories.observe(view);
            }
        });
        scores.map_or(Ok(()), HintScoreObserver::finish)?;
        let dump = dump.map(|dump| dump.finish(&logits));
        let predicted = logits.iter().map(|(index, logits)| decode(batch, *index, logits.clone()));
        let predicted = predicted.collect::<Result<Vec<_>, _>>()?;
        let trajectories = match trajectories {
            None => Vec::new(),
            Some(observer) => {
                let pairs: Vec<(&Probe, &Array)> = truth.iter().map(|(probe, _)| probe).zip(&predicted).collect();
                let outputs = clrs::score::hard_decode(&pairs, self.samples.len(), batch.nodes())?;
                let outputs: Vec<_> = wanted.iter().map(|&sample| outputs[sample].clone()).collect();
                let samples: Vec<_> = wanted.iter().map(|&sample| (self.first + sample, self.samples[sample])).collect();
                observer.finish(&samples, &outputs, &logits)?
            }
        };
        Ok(Evaluated { truth, predicted, hints, dump, trajectories, steps })
    }
}

/// Samples of one set as batches that are prepared once and evaluated many times: the validation set of a run.
pub struct EvalBatches {
    samples: Arc<Trajectories>,
    batches: Vec<PreparedBatch>,
}

impl EvalBatches {
    /// Splits samples into batches and transforms them.
    ///
    /// # Errors
    /// If the samples are empty, differ in size, or a transform does not apply.
    ///
    /// # Panics
    /// If `batch_size` is 0.
    pub fn new(samples: Arc<Trajectories>, transform: &BatchTransform, batch_size: usize) -> Result<EvalBatches, EvalError> {
        let all = samples_of_one_size(&samples)?;
        let batches = all.chunks(batch_size).enumerate();
        let batches = batches.map(|(number, samples)| PreparedBatch::new(samples, transform, number as u64));
        let batches = batches.collect::<Result<_, _>>()?;
        Ok(EvalBatches { samples, batches })
    }

    /// Evaluates a network with the true number of steps. `progress` is called after every batch and can stop the evaluation.
    pub fn evaluate(
        &self,
        model: TaskModel<'_>,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Metrics, EvalError> {
        let TaskModel { network, weights, task, algorithm } = model;
        let mut predictions = PredictionAccumulator::default();
        for PreparedBatch { batch, outputs } in &self.batches {
            predictions.add(outputs, &predict(network, weights, task, batch)?);
            if progress(batch.samples()).is_break() {
                return Err(EvalError::Stopped);
            }
        }
        let samples: Vec<Trajectory<'_>> = self.samples.iter().collect();
        Ok(predictions.score(&samples, algorithm)?.metrics)
    }
}
