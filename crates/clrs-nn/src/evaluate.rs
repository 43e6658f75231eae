//! How well a network does on a set: the reference's score, validity and exactness.

use burn::tensor::Tensor;
use rayon::prelude::*;

use clrs::score::{HintScore, HintScorer, SampleResult, ScoreError};
use clrs::{AnyAlgorithm, Array, Batch as Dense, Cells, Column, Probe, Stage, Trajectories, Trajectory};

use crate::answers::{Answers, Judgement, decide, undecided, write};
use crate::batch::{Batch, part_of};
use crate::data::Changes;
use crate::dump::Dump;
use crate::hints::HintWatch;
use crate::network::{Mode, Network, Shown};
use crate::tensors::NamedArrays;
use crate::train::Flow;
use crate::weights::Weights;

/// A network, for one of its algorithms.
#[derive(Clone, Copy)]
pub struct Candidate<'n> {
    /// The network.
    pub network: &'n Network,
    /// Its parameters.
    pub weights: &'n Weights,
    /// The place of the algorithm among its tasks.
    pub task: usize,
    /// The algorithm.
    pub algorithm: &'n dyn AnyAlgorithm,
}

/// How a set is gone through.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Samples of a batch.
    pub batch_size: usize,
    /// How many steps the network takes.
    pub steps: Steps,
    /// Whether hints are scored.
    pub hints: bool,
    /// Whether hidden states and logits of the first batch are kept.
    pub dump: bool,
}

/// How many steps the network takes for a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// As many as the algorithm took, which no one knows who has not run it. This is what papers report.
    Oracle,
    /// As many as the algorithm may take at most on that many nodes.
    Max,
    /// Until decisions repeat, and at most those of [`Steps::Max`].
    Fixpoint,
}

impl Steps {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Steps::Oracle => "oracle",
            Steps::Max => "max",
            Steps::Fixpoint => "fixpoint",
        }
    }
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

/// An outcome, and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The outcome.
    pub outcome: Outcome,
    /// The outputs of every sample as the network decided on them, in the order of the algorithm's outputs.
    pub predicted: Vec<Vec<Column>>,
    /// What is to be said of them.
    pub verdicts: Vec<SampleResult>,
    /// Steps that the network took, the mean over samples.
    pub mean_steps: f64,
    /// Scores of hints, if they were asked for and are predicted.
    pub hints: Vec<HintScore>,
    /// Hidden states and logits of the first batch, if they were asked for.
    pub dump: Option<NamedArrays>,
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
    #[error("there are no samples")]
    NoSamples,
    #[error("a sample has no steps")]
    NoSteps,
    #[error("a sample has {nodes} nodes, and the processor has room for {most}")]
    TooManyNodes { nodes: usize, most: usize },
    #[error("a batch has one sample at least")]
    BatchSize,
    #[error("stopped")]
    Stopped,
}

/// Judges a network on a set, batch by batch: neither the hints of the set nor what is predicted of them are in memory whole.
/// After every batch `on_batch` is told how many samples were in it.
pub fn examine(
    candidate: Candidate<'_>,
    runs: &Trajectories,
    changes: &Changes,
    manner: Manner,
    on_batch: &mut dyn FnMut(usize) -> Flow,
) -> Result<Report, EvaluateError> {
    if manner.batch_size == 0 {
        return Err(EvaluateError::BatchSize);
    }
    check_size(candidate.network, runs)?;
    let changes = &changes.fixed();
    let samples = judged_samples(runs)?;
    let (mut answers, mut hints, mut dump, mut steps) = (Answers::default(), HintScorer::default(), None, 0);
    for (number, batch) in samples.chunks(manner.batch_size).enumerate() {
        // A batch is computed in parts, each on a thread; one that is kept, in one piece.
        let manner = Manner { dump: manner.dump && number == 0, ..manner };
        let size = if manner.dump { batch.len() } else { part_of(batch[0].nodes()) };
        let parts = batch.par_chunks(size).map(|samples| Part::new(candidate, samples, changes, manner));
        for part in parts.collect::<Result<Vec<_>, _>>()? {
            answers.add(&part.truth, &part.predicted);
            hints.append(&part.hints);
            dump = dump.or(part.dump);
            steps += part.steps;
        }
        if on_batch(batch.len()) == Flow::Stop {
            return Err(EvaluateError::Stopped);
        }
    }
    let Judgement { outcome, predicted, verdicts } = answers.judge(&samples, candidate.algorithm)?;
    let mean_steps = steps as f64 / samples.len() as f64;
    Ok(Report { outcome, predicted, verdicts, mean_steps, hints: hints.finish(), dump })
}

/// Whether a network can read all samples.
pub(crate) fn check_size(network: &Network, runs: &Trajectories) -> Result<(), EvaluateError> {
    let nodes = runs.iter().map(|sample| sample.nodes()).max().unwrap_or(0);
    match network.most_nodes() {
        Some(most) if nodes > most => Err(EvaluateError::TooManyNodes { nodes, most }),
        _ => Ok(()),
    }
}

/// All samples of a set. They are judged together, so they are of one size.
fn judged_samples(runs: &Trajectories) -> Result<Vec<Trajectory<'_>>, EvaluateError> {
    let samples: Vec<Trajectory<'_>> = runs.iter().collect();
    if samples.is_empty() {
        return Err(EvaluateError::NoSamples);
    }
    clrs::batch::same_size(&samples)?;
    Ok(samples)
}

/// What is known of some samples.
struct Part {
    truth: Vec<(Probe, Array)>,
    predicted: Vec<Array>,
    hints: HintScorer,
    dump: Option<NamedArrays>,
    /// Steps of all samples together.
    steps: usize,
}

impl Part {
    fn new(
        candidate: Candidate<'_>,
        samples: &[Trajectory<'_>],
        changes: &Changes,
        manner: Manner,
    ) -> Result<Part, EvaluateError> {
        let Prepared { batch, outputs: truth } = Prepared::new(samples, changes, 0)?;
        let batch = &batch;
        let (mut hints, mut steps) = (HintScorer::default(), 0);
        let mut watch = manner.hints.then(|| HintWatch::new(samples, changes, batch, &mut hints));
        let mut dump = manner.dump.then(|| Dump::new(batch));
        let logits = unroll(candidate, batch, manner.steps, &mut |shown| {
            steps += shown.alive.len();
            if let Some(watch) = &mut watch {
                watch.see(shown);
            }
            if let Some(dump) = &mut dump {
                dump.see(shown);
            }
        });
        watch.map_or(Ok(()), HintWatch::finish)?;
        let dump = dump.map(|dump| dump.finish(&logits));
        let predicted = logits.into_iter().map(|(place, logits)| decide(batch, place, logits)).collect();
        Ok(Part { truth, predicted, hints, dump, steps })
    }
}

/// Samples of one set in batches that the network reads, to be judged again and again.
pub struct Examples {
    runs: Trajectories,
    batches: Vec<Prepared>,
}

impl Examples {
    /// Cuts samples into batches and changes them as a recipe says.
    pub fn new(runs: Trajectories, changes: &Changes, batch_size: usize) -> Result<Examples, EvaluateError> {
        let samples = judged_samples(&runs)?;
        let batches = samples.chunks(batch_size).enumerate();
        let batches = batches.map(|(number, samples)| Prepared::new(samples, changes, number as u64));
        let batches = batches.collect::<Result<_, _>>()?;
        Ok(Examples { runs, batches })
    }

    /// Judges a network on them, which takes as many steps as the algorithm did.
    pub fn judge(&self, candidate: Candidate<'_>) -> Result<Outcome, EvaluateError> {
        let Candidate { network, weights, task, .. } = candidate;
        let predict = |Prepared { batch, .. }: &Prepared| predict(network, weights, task, batch);
        let predicted: Vec<Vec<Array>> = self.batches.iter().map(predict).collect();
        let mut answers = Answers::default();
        self.batches.iter().zip(&predicted).for_each(|(batch, predicted)| answers.add(&batch.outputs, predicted));
        let samples: Vec<Trajectory<'_>> = self.runs.iter().collect();
        Ok(answers.judge(&samples, candidate.algorithm)?.outcome)
    }
}

/// The decisions of a network on a batch, which takes as many steps as the algorithm did: an array per output, in the dense layout
/// and the order of the dense batch. It is computed in parts, each on one thread.
pub fn predict(network: &Network, weights: &Weights, task: usize, batch: &Batch) -> Vec<Array> {
    let unroll = |part: Batch| {
        let logits = network.unroll(&network.pass(weights, task), &part, Mode::Evaluate, &mut |_, _, _| {});
        (part, logits)
    };
    let parts: Vec<_> = batch.parts(part_of(batch.nodes())).into_par_iter().map(unroll).collect();
    let outputs = batch.spec().iter().enumerate().filter(|(_, probe)| probe.stage == Stage::Output);
    let mut predicted: Vec<(usize, Array)> = outputs.map(|(place, probe)| (place, undecided(probe, batch))).collect();
    for (part, logits) in parts {
        for ((place, array), (_, logits)) in predicted.iter_mut().zip(logits) {
            write(&batch.spec()[*place], batch.nodes(), logits, part.order().iter().copied(), array);
        }
    }
    predicted.into_iter().map(|(_, array)| array).collect()
}

/// A batch that the network reads, and the outputs that are true.
struct Prepared {
    batch: Batch,
    outputs: Vec<(Probe, Array)>,
}

impl Prepared {
    /// Of hints the first row is kept, which the network is given, and how many there are.
    fn new(samples: &[Trajectory<'_>], changes: &Changes, number: u64) -> Result<Prepared, EvaluateError> {
        if samples.iter().any(|sample| sample.steps() == 0) {
            return Err(EvaluateError::NoSteps);
        }
        let mut dense = changes.apply(Dense::new(&first_rows(samples).iter().collect::<Vec<_>>(), 0)?, number)?;
        dense.lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        let batch = Batch::new(&dense);
        let pairs = dense.spec.iter().cloned().zip(dense.arrays);
        Ok(Prepared { batch, outputs: pairs.filter(|(probe, _)| probe.stage == Stage::Output).collect() })
    }
}

/// The samples as if they ended after their first step.
fn first_rows(samples: &[Trajectory<'_>]) -> Trajectories {
    let mut first = Trajectories::new(samples[0].spec().clone());
    for sample in samples {
        let cells = sample.iter().map(|(probe, cells)| cells.slice(0..probe.width(sample.nodes())));
        let cells: Vec<Cells<'_>> = cells.collect();
        first.push(sample.nodes(), 1, &cells).expect("cells of a run of these probes");
    }
    first
}

/// The logits of all outputs by their places in the spec, samples in the batch's order.
fn unroll(
    Candidate { network, weights, task, algorithm }: Candidate<'_>,
    batch: &Batch,
    steps: Steps,
    watch: &mut dyn FnMut(&Shown<'_>),
) -> Vec<(usize, Tensor<3>)> {
    // The first hint row is given, the others are predicted.
    let most = algorithm.max_steps(batch.nodes()).saturating_sub(1).max(1);
    let pass = &network.pass(weights, task);
    match steps {
        Steps::Oracle => network.watch(pass, batch, Mode::Evaluate, watch),
        Steps::Max => network.watch(pass, &batch.clone().lasting(most), Mode::Evaluate, watch),
        Steps::Fixpoint => network.settle(pass, batch, most, watch),
    }
}
