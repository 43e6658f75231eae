//! Training: batches in, parameters out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use clrs::clrs30::Split;
use clrs::random::RandomState;
use clrs::{AnyAlgorithm, Registry};
use rayon::prelude::*;

use crate::data::batch::{Batch, MICRO_BATCH};
use crate::data::chunk::Chunk;
use crate::model::chunked::RecurrentState;
use crate::data::loader::{self, BatchTransform, DataError, BatchLoader};
use crate::eval::evaluate::{TaskModel, EvaluateError, EvalBatches, Metrics, check_size};
use crate::model::network::{BuildError, Network};
use crate::train::optimizer::{Adam, AdamConfig};
use crate::exec::parameters::Parameters;
use crate::exec::context::{self, ForwardContext};
use crate::data::prefetch::{Batches, Flops, prefetch};
use crate::config::recipe::Recipe;
use crate::run::directory::{self, RunError, RunFolder, State};
use crate::eval::trained::{TaskError, tasks};
use crate::exec::weights::{FoldedWeight, FoldedGradients};

/// A network in training.
pub struct Trainer {
    recipe: Recipe,
    algorithms: Vec<&'static dyn AnyAlgorithm>,
    network: Network,
    parameters: Parameters,
    adam: Adam,
    state: State,
    carried: RecurrentStates,
    /// The checkpoint that it went back to.
    restored: Option<PathBuf>,
    sources: Vec<Vec<BatchLoader>>,
    validation: Vec<EvalBatches>,
    device: Device,
}

/// Why a run ended early, or did not begin.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TrainError {
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error("`{name}` is 0: {rule}")]
    Zero { name: &'static str, rule: &'static str },
    #[error("`batch_size` is {0}: {MOST_SAMPLES} samples are the most")]
    BatchSize(usize),
    #[error("`{name}` is {value}: a number from 0 on is wanted")]
    Size { name: &'static str, value: f32 },
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the {what} of {algorithm} is {value} at step {step}; the checkpoint before it is kept. It will be so again: {}", advice(*.step))]
    NotFinite { what: &'static str, algorithm: String, value: f32, step: usize },
}

/// What may help where a number is none.
fn advice(step: usize) -> &'static str {
    if step == 1 {
        "nothing was learnt yet, so it comes from the data or from the parameters that it began with; try another `hidden`, `processor` or `data` in a new run"
    } else {
        "try a smaller `learning_rate`, or `grad_clip`, in a new run"
    }
}

/// What happened in training.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Event<'e> {
    /// A step was taken; losses by algorithm.
    Step { step: usize, losses: &'e [(&'static str, f32)] },
    /// A validation, by algorithm, and their mean score.
    Validation { step: usize, outcomes: &'e [(&'static str, Metrics)], score: f64, is_best: bool },
}

/// Whether training goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Flow {
    Continue,
    Stop,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All steps are taken.
    Done,
    /// It was stopped, and can go on.
    Stopped,
    /// It got no better for as long as the recipe allows.
    Patience,
}

impl Trainer {
    /// A new network, by a recipe.
    pub fn new(recipe: Recipe, registry: &Registry, device: &Device) -> Result<Trainer, TrainError> {
        validate(&recipe)?;
        let (algorithms, tasks) = tasks(&recipe, registry)?;
        let indexed = || algorithms.iter().copied().enumerate();
        let sources = indexed().map(|(index, algorithm)| {
            if recipe.chunk_length > 0 {
                // Lanes carry states, and these are of one size.
                return BatchLoader::train_by_size(&recipe, algorithm, index);
            }
            Ok(vec![BatchLoader::train(&recipe, algorithm, index)?])
        });
        let sources = sources.collect::<Result<Vec<_>, DataError>>()?;
        let (mut network, parameters) = Network::new(tasks, &recipe.network, recipe.seed)?;
        network.fused = recipe.fused;
        // What is made on the fly is validated at its largest size.
        sources.iter().flatten().filter_map(BatchLoader::fixed).try_for_each(|runs| check_size(&network, runs))?;
        let validation = indexed().map(|(index, algorithm)| {
            let runs = loader::validation(&recipe, algorithm, index)?;
            check_size(&network, &runs)?;
            let changes = BatchTransform::new(&recipe, algorithm, index, Split::Val);
            Ok::<_, TrainError>(EvalBatches::new(runs, &changes, VALIDATION_BATCH)?)
        });
        let validation = validation.collect::<Result<_, _>>()?;
        let (adam, state, device) = (Adam::new(&parameters), State::default(), device.clone());
        let carried = RecurrentStates::new();
        Ok(Trainer { recipe, algorithms, network, parameters, adam, state, carried, restored: None, sources, validation, device })
    }

    /// The parameters, to be set before training.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The parameters as they are.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// Goes back to the last checkpoint of a run.
    pub fn resume(&mut self, run: &Path) -> Result<(), RunError> {
        let checkpoint = run.join("last.safetensors");
        if !checkpoint.exists() {
            return Err(RunError::NoCheckpoint(run.into()));
        }
        self.restore(&checkpoint)
    }

    /// Goes back to a checkpoint.
    pub fn restore(&mut self, path: &Path) -> Result<(), RunError> {
        let mut parameters = self.parameters.clone();
        let (file, state) = directory::load(path, &mut parameters)?;
        let adam = directory::load_adam(path, &file, &parameters)?;
        self.carried = directory::load_carried(path, &file, self.recipe.batch_size)?;
        self.restored = Some(path.into());
        (self.parameters, self.adam, self.state) = (parameters, adam, state);
        Ok(())
    }

    /// Trains to the end of the recipe, or until told to stop.
    pub fn run(mut self, folder: &mut RunFolder, on_event: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<StopReason, TrainError> {
        let batches = prefetch(std::mem::take(&mut self.sources), &self.recipe, self.state.step);
        if self.is_out_of_patience() {
            return Ok(StopReason::Patience);
        }
        let mut saving = Duration::ZERO;
        if self.state.step == 0 {
            // Parameters may have come from elsewhere: there is a checkpoint to go on with from the beginning.
            saving = self.save(folder)?;
            folder.begin(&self.recipe)?;
        }
        let mut saved = Instant::now();
        while self.state.step < self.recipe.steps {
            let losses = self.step(&batches, folder)?;
            let step = self.state.step;
            let mut flow = on_event(&Event::Step { step, losses: &losses });
            let is_last = step == self.recipe.steps;
            let is_supervised = is_last || step.is_multiple_of(self.recipe.eval_every);
            if is_supervised {
                flow = self.validate(folder, on_event).map(|now| if now == Flow::Stop { now } else { flow })?;
            }
            let ending = match flow {
                _ if is_supervised && self.is_out_of_patience() => Some(StopReason::Patience),
                _ if is_last => Some(StopReason::Done),
                Flow::Stop => Some(StopReason::Stopped),
                Flow::Continue => None,
            };
            let rarely = saving * SAVE_RARELY;
            if ending.is_some() || saved.elapsed() >= if is_supervised { rarely } else { rarely.max(SAVE_ANYWAY) } {
                saving = self.save(folder)?;
                saved = Instant::now();
            }
            if let Some(ending) = ending {
                return Ok(ending);
            }
        }
        Ok(StopReason::Done)
    }

    /// Keeps a checkpoint; says how long that took.
    fn save(&self, folder: &RunFolder) -> Result<Duration, RunError> {
        let start = Instant::now();
        folder.save_last(&self.parameters, &self.adam, &self.carried, self.state)?;
        Ok(start.elapsed())
    }

    fn is_out_of_patience(&self) -> bool {
        self.recipe.patience > 0 && self.state.since_best >= self.recipe.patience
    }

    /// An update for each algorithm.
    fn step(&mut self, batches: &Batches, folder: &mut RunFolder) -> Result<Vec<(&'static str, f32)>, TrainError> {
        let step = self.state.step + 1;
        let rule = AdamConfig {
            learning_rate: self.recipe.learning_rate,
            grad_clip: self.recipe.grad_clip,
            freeze_processor: self.recipe.freeze_processor,
        };
        let mut losses = Vec::with_capacity(self.algorithms.len());
        for (task, algorithm) in self.algorithms.iter().map(|algorithm| algorithm.name()).enumerate() {
            let work = batches.recv().expect("the thread sends until no one receives")?;
            // A stream of its own for every part of every update: what happened before does not matter.
            let number = (step * self.algorithms.len() + task) as u64;
            let random = |part: usize| Some(RandomState::of_sample(self.recipe.seed, (number << 16) | part as u64));
            let (network, parameters, device) = (&self.network, &self.parameters, &self.device);
            let (loss, gradients) = match work {
                Flops::Batch(batch) => gradients(network, parameters, task, &batch, device, random),
                Flops::Chunk(size, chunk) => {
                    let (cells, parts) = (chunk.supervised_cells(), chunk.parts(MICRO_BATCH));
                    let carried = self.carried.entry((task, size)).or_default();
                    let mut of_parts = parts.iter().zip(&*carried);
                    // At the beginning there is nothing to carry.
                    let as_many = carried.is_empty() || carried.len() == parts.len();
                    if !as_many || !of_parts.all(|(part, carried)| network.fits(part, carried)) {
                        return Err(RunError::RecurrentState(self.restored.clone().unwrap_or_default()).into());
                    }
                    chunk_gradients(network, parameters, task, (parts, &cells), carried, device, random)
                }
            };
            let not_finite = |what, value| TrainError::NotFinite { what, algorithm: algorithm.into(), value, step };
            if !loss.is_finite() {
                return Err(not_finite("loss", loss));
            }
            let norm = self.adam.update(&mut self.parameters, &gradients, task, rule);
            if !norm.is_finite() {
                return Err(not_finite("norm of the gradients", norm));
            }
            folder.note(step, algorithm, &[("loss", loss.into()), ("grad_norm", norm.into())])?;
            losses.push((algorithm, loss));
        }
        self.state.step = step;
        Ok(losses)
    }

    fn validate(&mut self, folder: &mut RunFolder, on_event: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Flow, TrainError> {
        let weights = self.parameters.fixed(&self.device);
        let step = self.state.step;
        let mut outcomes = Vec::with_capacity(self.algorithms.len());
        for (task, (algorithm, examples)) in self.algorithms.iter().zip(&self.validation).enumerate() {
            let candidate = TaskModel { network: &self.network, weights: &weights, task, algorithm: *algorithm };
            let outcome = examples.judge(candidate)?;
            let Metrics { score, validity, exact_match, .. } = outcome;
            let name = algorithm.name();
            folder.note(step, name, &[("val", score), ("validity", validity), ("exactness", exact_match)])?;
            outcomes.push((name, outcome));
        }
        let score = outcomes.iter().map(|(_, outcome)| outcome.score).sum::<f64>() / outcomes.len() as f64;
        let is_best = self.state.best.is_none_or(|(_, best)| score > best);
        if is_best {
            (self.state.best, self.state.since_best) = (Some((step, score)), 0);
            folder.save_best(&self.parameters, self.state)?;
        } else {
            self.state.since_best += 1;
        }
        Ok(on_event(&Event::Validation { step, outcomes: &outcomes, score, is_best }))
    }
}

/// Of a batch: every part has a stream of its own, by a number of 16 bits.
const MOST_SAMPLES: usize = MICRO_BATCH << 16;

/// Between two checkpoints there is at least so many times what one takes: a run does not wait for its disk.
const SAVE_RARELY: u32 = 50;

/// Without a validation, a checkpoint is kept after so long.
const SAVE_ANYWAY: Duration = Duration::from_mins(1);

/// Samples of a batch in validation, as the reference has it.
const VALIDATION_BATCH: usize = 32;

/// A loss, and its gradient by each parameter that it depends on.
pub type Gradients = (f32, Vec<Option<Vec<f32>>>);

/// The loss of a batch and its gradients.
///
/// A batch is computed in parts, each on one thread, and their sums are added in order: neither the parts nor the order
/// depends on the number of threads. `random` gives the chance of each part.
pub fn gradients(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    batch: &Batch,
    device: &Device,
    random: impl Fn(usize) -> Option<RandomState> + Sync,
) -> Gradients {
    let cells = batch.supervised_cells();
    in_parts(network, parameters, task, device, batch.parts(MICRO_BATCH), |part, batch, pass| {
        (network.loss(pass, &batch, &cells, random(part).as_mut()), ())
    })
    .0
}

/// What the lanes of each part carry, by algorithm and size.
pub(crate) type RecurrentStates = BTreeMap<(usize, usize), Vec<RecurrentState>>;

/// The same of the parts of a chunk with so many judged cells; what its lanes carry is taken and put back.
fn chunk_gradients(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    (parts, cells): (Vec<Chunk>, &[f64]),
    carried: &mut Vec<RecurrentState>,
    device: &Device,
    random: impl Fn(usize) -> Option<RandomState> + Sync,
) -> Gradients {
    let (gradients, states) = in_parts(network, parameters, task, device, parts, |part, chunk, pass| {
        network.chunk_loss(pass, &chunk, carried.get(part), cells, random(part).as_mut())
    });
    *carried = states;
    gradients
}

/// Loss and gradients of every part, summed in order, and what else each part returns.
fn in_parts<P: Send, T: Send>(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    device: &Device,
    parts: Vec<P>,
    loss: impl Fn(usize, P, &ForwardContext) -> (Tensor<1>, T) + Sync,
) -> (Gradients, Vec<T>) {
    let weights = parameters.tracked(device);
    let one = |(part, what): (usize, P)| {
        let pass = network.pass(&weights, task);
        let (loss, more) = loss(part, what, &pass);
        let gradients = pass.gradients(&mut loss.backward());
        ((loss.into_scalar::<f32>(), gradients), more)
    };
    let computed: Vec<((f32, FoldedGradients), T)> = parts.into_par_iter().enumerate().map(one).collect();
    let (found, more): (Vec<_>, Vec<T>) = computed.into_iter().unzip();
    let (losses, found): (Vec<f32>, Vec<FoldedGradients>) = found.into_iter().unzip();
    let mut by_piece: BTreeMap<FoldedWeight, Vec<Vec<f32>>> = BTreeMap::new();
    for (piece, gradient) in found.into_iter().flatten() {
        by_piece.entry(piece).or_default().push(gradient);
    }
    let add_up = |(piece, gradients): (FoldedWeight, Vec<Vec<f32>>)| {
        let mut sum = Vec::new();
        for gradient in gradients {
            context::add(&mut sum, gradient);
        }
        (piece, sum)
    };
    let sums: Vec<(FoldedWeight, Vec<f32>)> = by_piece.into_par_iter().map(add_up).collect();
    ((losses.iter().sum(), network.gradients(parameters, task, sums.into_iter().collect())), more)
}

fn validate(recipe: &Recipe) -> Result<(), TrainError> {
    let at_least_one = [
        ("steps", recipe.steps, "there is nothing to train"),
        ("batch_size", recipe.batch_size, "a batch has one sample at least"),
        ("eval_every", recipe.eval_every, "the best checkpoint is found by validation"),
        ("val_samples", recipe.val_samples, "the best checkpoint is found by validation"),
    ];
    if let Some((name, _, rule)) = at_least_one.into_iter().find(|(_, value, _)| *value == 0) {
        return Err(TrainError::Zero { name, rule });
    }
    if recipe.batch_size > MOST_SAMPLES {
        return Err(TrainError::BatchSize(recipe.batch_size));
    }
    let sizes = [("learning_rate", recipe.learning_rate), ("grad_clip", recipe.grad_clip)];
    match sizes.into_iter().find(|(_, value)| !value.is_finite() || *value < 0.0) {
        Some((name, value)) => Err(TrainError::Size { name, value }),
        None => Ok(()),
    }
}
