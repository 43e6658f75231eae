//! Decisions of a network on a set of samples, beside the truth.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use clrs::score::HintScore;
use clrs::{AnyAlgorithm, Cells, Kind, Probe, SamplerOptions, Stage, Trace, Trajectories};
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::{EvalOptions, Steps};
use clrs_nn::eval::metrics::{EvalError, Metrics};
use clrs_nn::eval::trained::TrainedModel;
use serde::Serialize;

use super::{NetworkError, Runs};

/// Which network on which samples.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question {
    /// Index of the run.
    pub run: usize,
    /// The algorithm.
    pub algorithm: String,
    /// Size of the problems.
    pub size: usize,
    /// Number of samples.
    pub count: usize,
    /// Seed of the samples.
    pub seed: u32,
    /// Options of the distribution.
    pub options: SamplerOptions,
    /// When the network stops.
    pub steps: Steps,
}

impl Default for Question {
    fn default() -> Question {
        Question {
            run: 0,
            algorithm: String::new(),
            size: 16,
            count: 32,
            seed: 1,
            options: SamplerOptions::default(),
            steps: Steps::Oracle,
        }
    }
}

/// A network on a set.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Overview {
    /// Name of the run.
    pub run: String,
    /// Training steps of the network.
    pub step: usize,
    /// Its processor.
    pub processor: String,
    /// Algorithms that it was trained on.
    pub algorithms: Vec<&'static str>,
    /// Scores on the set.
    pub metrics: Metrics,
    /// Steps that the network took, mean over samples.
    pub mean_steps: f64,
    /// Scores of hints, by step.
    pub hints: Vec<HintScore>,
    /// Every sample.
    pub samples: Vec<SampleOverview>,
}

/// A network on a sample.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct SampleOverview {
    /// Index in the set.
    pub sample: usize,
    /// Steps of the algorithm.
    pub steps: usize,
    /// First step with a wrong decision; the number of steps if only the answer differs, and none if nothing does.
    pub first_error: Option<usize>,
    /// Whether the answer is correct.
    pub valid: bool,
    /// Why it is not.
    pub failure: Option<String>,
    /// Whether it equals that of the algorithm.
    pub exact_match: bool,
}

/// All decisions of a network on a sample.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Decisions {
    /// Name of the run.
    pub run: String,
    /// Truth and predictions.
    pub trace: Trace,
    /// The same in short.
    pub overview: SampleOverview,
}

/// Memory for the probabilities of samples that run together.
const MAX_BYTES: usize = 256 << 20;
/// Most probabilities of one probe that are kept: more than a browser can show.
const MAX_PROBABILITIES: usize = 2_000_000;
/// Most steps that a network may choose to take.
const MAX_STEPS: usize = 1200;

/// Evaluates a network on a set. `is_abandoned` is asked now and then, and ends the work.
///
/// # Errors
/// If there is no such network, the samples cannot be drawn, or the work is abandoned.
pub fn overview(runs: &Runs, question: &Question, is_abandoned: &dyn Fn() -> bool) -> Result<Overview, NetworkError> {
    let Opened { name, model, algorithm, samples } = open(runs, question)?;
    let per_batch = (MAX_BYTES / sample_bytes(algorithm, question, &samples)?.max(1)).clamp(1, 8);
    let all = EvalOptions::default().batch_size(per_batch).steps(question.steps);
    let progress = |_: usize| if is_abandoned() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let report = model.evaluate_samples(algorithm.name(), &samples, &all.clone().hints(true), &mut { progress });
    let report = report.map_err(abandoned)?;
    let mut first_errors = vec![None; samples.len()];
    // Trajectories of the complete set might not fit into memory: a few samples at a time.
    for first in (0..samples.len()).step_by(per_batch) {
        let part = part_of(&samples, first..(first + per_batch).min(samples.len()));
        let options = all.clone().trajectories(0..part.len());
        let part = model.evaluate_samples(algorithm.name(), &part, &options, &mut { progress }).map_err(abandoned)?;
        for trajectory in &part.trajectories {
            let sample = first + trajectory.sample;
            first_errors[sample] = trajectory.first_error(samples.get(sample));
        }
    }
    let describe = |(sample, (result, first_error)): (usize, _)| sample_overview(&samples, sample, result, first_error);
    Ok(Overview {
        run: name,
        step: model.step,
        processor: model.recipe.model.processor.clone(),
        algorithms: model.algorithms.iter().map(|algorithm| algorithm.name()).collect(),
        samples: report.results.iter().zip(first_errors).enumerate().map(describe).collect(),
        metrics: report.metrics,
        mean_steps: report.mean_steps,
        hints: report.hints.unwrap_or_default(),
    })
}

/// All decisions of a network on one sample of a set.
///
/// # Errors
/// As [`overview`], and if there is no such sample.
pub fn decisions(
    runs: &Runs,
    question: &Question,
    sample: usize,
    is_abandoned: &dyn Fn() -> bool,
) -> Result<Decisions, NetworkError> {
    let Opened { name, model, algorithm, samples } = open(runs, question)?;
    if sample >= samples.len() {
        return Err(EvalError::NoSample { sample, samples: samples.len() }.into());
    }
    sample_bytes(algorithm, question, &samples)?;
    if is_abandoned() {
        return Err(NetworkError::Abandoned);
    }
    let one = part_of(&samples, sample..sample + 1);
    let options = EvalOptions::default().steps(question.steps).trajectories([0]);
    let report = model.evaluate_samples(algorithm.name(), &one, &options, &mut |_| ControlFlow::Continue(()))?;
    let predicted = report.trajectories.into_iter().next().expect("the sample was asked for");
    let mut trace = predicted.trace(algorithm, one.get(0))?;
    for prediction in trace.predictions.iter_mut().flatten() {
        let count: usize = prediction.probabilities.iter().flatten().map(Vec::len).sum();
        if count > MAX_PROBABILITIES {
            prediction.probabilities = None;
        }
    }
    let first_error = predicted.first_error(one.get(0));
    let overview = SampleOverview { sample, ..sample_overview(&one, 0, &report.results[0], first_error) };
    Ok(Decisions { run: name, trace, overview })
}

struct Opened {
    name: String,
    model: Arc<TrainedModel>,
    algorithm: &'static dyn AnyAlgorithm,
    samples: Arc<Trajectories>,
}

fn open(runs: &Runs, question: &Question) -> Result<Opened, NetworkError> {
    let run = runs.get(question.run)?;
    let model = runs.model(&run)?;
    let algorithm = model.algorithms.iter().find(|algorithm| algorithm.name() == question.algorithm);
    let algorithm = *algorithm.ok_or_else(|| EvalError::NotTrained(question.algorithm.clone()))?;
    let set = EvalSet::Sampled {
        size: question.size,
        count: Some(question.count),
        seed: question.seed,
        options: question.options.clone().or(&model.recipe.data.sampler_options(algorithm)),
    };
    let samples = model.load(algorithm.name(), &set)?;
    Ok(Opened { name: run.name.clone(), model, algorithm, samples })
}

/// Some samples of a set, as a set of their own.
fn part_of(samples: &Trajectories, range: Range<usize>) -> Trajectories {
    let mut part = Trajectories::new(samples.spec().clone());
    for sample in range.map(|sample| samples.get(sample)) {
        let cells: Vec<Cells<'_>> = sample.iter().map(|(_, cells)| cells).collect();
        part.push(sample.nodes(), sample.steps(), &cells).expect("a sample of the same spec");
    }
    part
}

fn sample_overview(
    samples: &Trajectories,
    sample: usize,
    result: &clrs::score::SampleResult,
    first_error: Option<usize>,
) -> SampleOverview {
    SampleOverview {
        sample,
        steps: samples.get(sample).steps(),
        first_error,
        valid: result.failure.is_none(),
        failure: result.failure.clone(),
        exact_match: result.exact_match,
    }
}

/// Memory of the predicted trajectory of the longest sample, mostly its probabilities.
fn sample_bytes(algorithm: &dyn AnyAlgorithm, question: &Question, samples: &Trajectories) -> Result<usize, NetworkError> {
    let nodes = samples.iter().map(|sample| sample.nodes()).max().unwrap_or(0);
    let bound = algorithm.max_steps(nodes);
    let steps = if question.steps == Steps::Oracle { samples.max_steps() } else { bound };
    if steps > MAX_STEPS && question.steps != Steps::Oracle {
        return Err(NetworkError::TooLarge(format!(
            "a network may take {steps} steps on {nodes} nodes before it stops; the explorer waits for at most {MAX_STEPS}"
        )));
    }
    let values = |probe: &Probe| {
        let values = match probe.kind {
            Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation | Kind::MaskOne => nodes,
            Kind::Categorical { classes } => classes,
            Kind::Scalar | Kind::Mask => 1,
        };
        probe.width(nodes) * values
    };
    let hints = samples.spec().iter().filter(|probe| probe.stage == Stage::Hint);
    let bytes = steps * hints.map(values).sum::<usize>() * size_of::<f64>();
    if bytes > 4 * MAX_BYTES {
        return Err(NetworkError::TooLarge(format!("the decisions of {steps} steps on {nodes} nodes are too many to show")));
    }
    Ok(bytes)
}

fn abandoned(error: EvalError) -> NetworkError {
    if matches!(error, EvalError::Stopped) { NetworkError::Abandoned } else { error.into() }
}
