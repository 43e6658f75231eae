//! The training loop.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use burn::tensor::Device;
use clrs::AnyAlgorithm;
use clrs::clrs30::Split;
use serde::Serialize;

use super::gradients::update_streams;
use super::model::{ModelError, TrainableModel};
use super::optimizer::AdamConfig;
use super::plan::TrainPlan;
use crate::config::recipe::Recipe;
use crate::data::error::DataError;
use crate::data::loader::{self, BatchLoader};
use crate::data::prefetch::{Prefetched, UpdateData, prefetch};
use crate::data::transform::BatchTransform;
use crate::eval::batches::ensure_fits;
use crate::eval::evaluate::{EvalBatches, TaskModel};
use crate::eval::metrics::{EvalError, Metrics};
use crate::eval::trained::TrainedModel;
use crate::exec::parameters::Parameters;
use crate::model::network::{BuildError, Network};
use crate::model::processors::ProcessorRegistry;
use crate::run::checkpoint::{CheckpointContext, CheckpointFile, RecurrentStates, RunState, TaskSpecs};
use crate::run::directory::{BEST, LAST, RunDir};
use crate::run::error::RunError;
use crate::run::status::Status;

/// A network in training.
///
/// [`Trainer::run`] trains in a run directory. Callers with their own loop call [`Trainer::step`] and [`Trainer::validate`]:
///
/// ```
/// use clrs_nn::exec::device::Device;
/// use clrs_nn::model::registries::Registries;
/// use clrs_nn::train::{plan::TrainPlan, trainer::Trainer};
/// use clrs_nn::Recipe;
///
/// let recipe = Recipe::parse("", &["algorithms=bfs", "hidden=8", "lengths=4", "batch_size=2", "val_samples=2"])?;
/// let mut trainer = Trainer::new(TrainPlan::new(recipe, &Registries::builtin())?, &Device::flex())?;
/// let step = trainer.step()?;
/// assert_eq!((step.step, step.tasks[0].algorithm), (1, "bfs"));
/// assert!(step.tasks[0].loss > 0.0);
/// assert!(trainer.validate()?.score >= 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer {
    recipe: Recipe,
    algorithms: Vec<&'static dyn AnyAlgorithm>,
    specs: TaskSpecs,
    processors: ProcessorRegistry,
    model: TrainableModel,
    state: RunState,
    recurrent: RecurrentStates,
    /// The checkpoint that was restored.
    restored: Option<PathBuf>,
    data: TrainingData,
    validation: Vec<EvalBatches>,
    device: Device,
}

/// Prefetching starts with the first step, when it is known how many batches a restored run skips.
enum TrainingData {
    Loaders(Vec<Vec<BatchLoader>>),
    Prefetched(Prefetched),
}

/// Why a run cannot start or ended early.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum TrainError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Evaluate(#[from] EvalError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("{what} of {algorithm} is {value} at step {step}; {}", advice(*.step))]
    NotFinite { what: &'static str, algorithm: String, value: f32, step: usize },
}

/// Advice for values that are not finite. The run is deterministic, so resuming repeats the failure.
fn advice(step: usize) -> &'static str {
    if step <= 1 {
        "check the data and the initial parameters, or start a run with another `hidden`, `processor` or `data`"
    } else {
        "start a run with a smaller `learning_rate`, or with `grad_clip`; the checkpoint before this step is intact"
    }
}

/// One training step: an update for every task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: usize,
    /// The update of every task.
    pub tasks: Vec<TaskUpdate>,
}

impl StepReport {
    /// Mean loss over the tasks.
    pub fn loss(&self) -> f64 {
        self.tasks.iter().map(|task| f64::from(task.loss)).sum::<f64>() / self.tasks.len() as f64
    }
}

/// One update.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskUpdate {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Loss before the update.
    pub loss: f32,
    /// Global gradient norm before clipping.
    pub grad_norm: f32,
}

/// One validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationReport {
    /// Training steps before it.
    pub step: usize,
    /// Mean score over the algorithms.
    pub score: f64,
    /// Metrics of every algorithm.
    pub tasks: Vec<(&'static str, Metrics)>,
}

/// An event during [`Trainer::run`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A training step was taken.
    Step(&'e StepReport),
    /// A validation is in progress: a batch with this number of samples was evaluated.
    Validating(usize),
    /// A validation ended.
    Validation {
        /// Its report.
        report: &'e ValidationReport,
        /// Whether it is the best so far.
        is_best: bool,
    },
}

/// Why [`Trainer::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// All steps are taken.
    Completed,
    /// The event handler broke the loop. The run can be resumed.
    Stopped,
    /// No improvement for as many validations as the recipe allows.
    EarlyStopping,
}

impl Trainer {
    /// Loads the data and builds the network of a plan.
    ///
    /// # Errors
    /// If samples cannot be loaded, or are too large for the processor.
    pub fn new(plan: TrainPlan, device: &Device) -> Result<Trainer, TrainError> {
        let TrainPlan { recipe, algorithms, specs, processors, sets } = plan;
        let built = Network::with_processors(specs.tasks.clone(), &recipe.model, &processors, recipe.seed);
        let (mut network, parameters) = built?;
        network.fused = recipe.fused;
        let indexed = || algorithms.iter().copied().enumerate();
        let loaders = indexed().map(|(index, algorithm)| {
            if recipe.chunk_length > 0 {
                // Lanes carry recurrent states, which are of one size.
                return BatchLoader::per_size(&recipe, algorithm, index, &sets);
            }
            Ok(vec![BatchLoader::new(&recipe, algorithm, index, &sets)?])
        });
        let loaders = loaders.collect::<Result<Vec<_>, DataError>>()?;
        // Samples drawn on the fly are validated at their largest size.
        loaders.iter().flatten().filter_map(BatchLoader::fixed_set).try_for_each(|set| ensure_fits(&network, set))?;
        let validation = indexed().map(|(index, algorithm)| {
            let samples = loader::validation_samples(&recipe, algorithm, index, &sets)?;
            ensure_fits(&network, &samples)?;
            let transform = BatchTransform::new(&recipe, algorithm, index, Split::Val);
            Ok::<_, TrainError>(EvalBatches::new(samples, &transform, VALIDATION_BATCH)?)
        });
        let validation = validation.collect::<Result<_, _>>()?;
        let config = AdamConfig {
            learning_rate: recipe.learning_rate,
            grad_clip: recipe.grad_clip,
            freeze_processor: recipe.freeze_processor,
        };
        Ok(Trainer {
            model: TrainableModel::new(network, parameters, config, device),
            recipe,
            algorithms,
            specs,
            processors,
            device: device.clone(),
            state: RunState::default(),
            recurrent: RecurrentStates::new(),
            restored: None,
            data: TrainingData::Loaders(loaders),
            validation,
        })
    }

    /// The parameters, to be set before training.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        self.model.parameters_mut()
    }

    /// The network.
    pub fn network(&self) -> &Network {
        self.model.network()
    }

    /// The current parameters.
    pub fn parameters(&self) -> &Parameters {
        self.model.parameters()
    }

    /// The model with its current parameters, for evaluation.
    pub fn snapshot(&self) -> TrainedModel {
        let (recipe, algorithms, specs) = (self.recipe.clone(), self.algorithms.clone(), self.specs.clone());
        let parameters = self.parameters().clone();
        let model = TrainedModel::in_training(recipe, algorithms, specs, &self.processors, parameters, &self.device);
        let mut model = model.expect("the network was built before");
        model.step = self.state.step;
        model
    }

    /// Progress of the training.
    pub fn state(&self) -> RunState {
        self.state
    }

    /// Restores the last checkpoint of a run.
    ///
    /// # Errors
    /// If a checkpoint is missing, damaged, or belongs to another recipe. The trainer is unchanged then.
    pub fn resume(&mut self, run: &Path) -> Result<(), RunError> {
        let path = run.join(LAST);
        if !path.exists() {
            return Err(RunError::NoCheckpoint(path));
        }
        let file = CheckpointFile::read(&path)?;
        file.ensure_recipe(&self.recipe, &path)?;
        let mut parameters = self.parameters().clone();
        file.load_parameters(&mut parameters, &path)?;
        let optimizer = file.optimizer(&parameters, &path)?;
        let recurrent = file.recurrent(self.recipe.batch_size, &path)?;
        let best = run.join(BEST);
        if file.state().best.is_some() && !best.exists() {
            return Err(RunError::NoCheckpoint(best));
        }
        self.model.set_optimizer(optimizer).expect("moments have the shapes of the parameters");
        *self.model.parameters_mut() = parameters;
        (self.state, self.recurrent, self.restored) = (file.state(), recurrent, Some(path));
        Ok(())
    }

    /// Trains in a run directory to the end of the recipe, or until the event handler breaks.
    ///
    /// # Errors
    /// Those of [`Trainer::step`] and [`Trainer::validate`], and of writing to the directory. The status of the run is then
    /// [`Status::Failed`].
    pub fn run(
        mut self,
        directory: &mut RunDir,
        on_event: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<StopReason, TrainError> {
        directory.save_status(Status::Running, self.state, self.recipe.steps, None)?;
        let result = self.run_loop(directory, on_event);
        let (status, error) = match &result {
            Ok(StopReason::Completed | StopReason::EarlyStopping) => (Status::Done, None),
            Ok(StopReason::Stopped) => (Status::Stopped, None),
            Err(error) => (Status::Failed, Some(error.to_string())),
        };
        // The error of the run matters more than one of its status.
        let saved = directory.save_status(status, self.state, self.recipe.steps, error);
        let reason = result?;
        saved?;
        Ok(reason)
    }

    fn run_loop(
        &mut self,
        directory: &mut RunDir,
        on_event: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<StopReason, TrainError> {
        if self.is_out_of_patience() {
            return Ok(StopReason::EarlyStopping);
        }
        let mut save_time = Duration::ZERO;
        if self.state.step == 0 {
            // Initial parameters may come from another file, so a run is saved before its first step.
            save_time = self.save(directory)?;
            directory.save_recipe(&self.recipe)?;
        } else if self.state.pending_validation {
            let flow = self.validate_in(directory, on_event)?;
            // It may have been the last validation: its result is in the checkpoint, as without the interruption.
            save_time = self.save(directory)?;
            if let Some(reason) = self.stop_reason(true, flow) {
                return Ok(reason);
            }
        }
        let mut saved = Instant::now();
        while self.state.step < self.recipe.steps {
            let report = self.step()?;
            for task in &report.tasks {
                let metrics = [("loss", task.loss.into()), ("grad_norm", task.grad_norm.into())];
                directory.log_metrics(report.step, task.algorithm, &metrics)?;
            }
            let mut flow = on_event(&Event::Step(&report));
            let is_validated = report.step == self.recipe.steps || report.step.is_multiple_of(self.recipe.eval_every);
            if is_validated {
                let validated = self.validate_in(directory, on_event)?;
                flow = if validated.is_break() { validated } else { flow };
            }
            let reason = self.stop_reason(is_validated, flow);
            let pause = save_time * SAVE_PAUSE;
            let is_due = saved.elapsed() >= if is_validated { pause } else { pause.max(SAVE_INTERVAL) };
            if reason.is_some() || is_due {
                save_time = self.save(directory)?;
                saved = Instant::now();
            }
            if let Some(reason) = reason {
                return Ok(reason);
            }
        }
        Ok(StopReason::Completed)
    }

    /// The reason for which the run ends after a step, if it does. `flow` is what the event handler returned.
    fn stop_reason(&self, is_validated: bool, flow: ControlFlow<()>) -> Option<StopReason> {
        match flow {
            _ if self.state.pending_validation => Some(StopReason::Stopped),
            _ if is_validated && self.is_out_of_patience() => Some(StopReason::EarlyStopping),
            _ if self.state.step >= self.recipe.steps => Some(StopReason::Completed),
            ControlFlow::Break(()) => Some(StopReason::Stopped),
            ControlFlow::Continue(()) => None,
        }
    }

    /// Takes one training step: an update for every algorithm.
    ///
    /// # Errors
    /// If samples cannot be drawn, or the loss or a gradient is not finite. Tasks before the one that failed have been updated then;
    /// [`Trainer::resume`] returns to a checkpoint.
    pub fn step(&mut self) -> Result<StepReport, TrainError> {
        let step = self.state.step + 1;
        let mut tasks = Vec::with_capacity(self.algorithms.len());
        for task in 0..self.algorithms.len() {
            let data = self.next_data()?;
            let algorithm = self.algorithms[task].name();
            let random = update_streams(self.recipe.seed, (step * self.algorithms.len() + task) as u64);
            let (loss, gradients) = match data {
                UpdateData::Batch(batch) => self.model.gradients(task, &batch, random)?,
                UpdateData::Chunk { size, chunk } => {
                    let states = self.recurrent.entry((task, size)).or_default();
                    self.model.chunk_gradients(task, &chunk, states, random).map_err(|error| match error {
                        // Only a checkpoint can have the state of other lanes.
                        ModelError::RecurrentState => RunError::RecurrentState(self.restored.clone().unwrap_or_default()).into(),
                        error => TrainError::from(error),
                    })?
                }
            };
            let not_finite = |what, value| TrainError::NotFinite { what, algorithm: algorithm.into(), value, step };
            if !loss.is_finite() {
                return Err(not_finite("the loss", loss));
            }
            let grad_norm = self.model.update(&gradients, task);
            if !grad_norm.is_finite() {
                return Err(not_finite("the gradient norm", grad_norm));
            }
            tasks.push(TaskUpdate { algorithm, loss, grad_norm });
        }
        self.state.step = step;
        Ok(StepReport { step, tasks })
    }

    /// Evaluates the current parameters on the validation sets.
    pub fn validate(&self) -> Result<ValidationReport, TrainError> {
        self.validate_with(&mut |_| ControlFlow::Continue(()))
    }

    fn validate_with(&self, progress: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<ValidationReport, TrainError> {
        let (network, weights, step) = (self.model.network(), self.model.weights(), self.state.step);
        let mut tasks = Vec::with_capacity(self.algorithms.len());
        for (task, (algorithm, batches)) in self.algorithms.iter().zip(&self.validation).enumerate() {
            let model = TaskModel { network, weights, task, algorithm: *algorithm };
            let metrics = batches.evaluate(model, progress).map_err(|error| match error {
                // The network diverged in the last update.
                EvalError::NotFinite { value, .. } => {
                    TrainError::NotFinite { what: "a validation logit", algorithm: algorithm.name().into(), value, step }
                }
                error => error.into(),
            })?;
            tasks.push((algorithm.name(), metrics));
        }
        let score = tasks.iter().map(|(_, metrics)| metrics.score).sum::<f64>() / tasks.len() as f64;
        Ok(ValidationReport { step, score, tasks })
    }

    /// Validates, logs the metrics and saves the best parameters. A validation that the handler breaks is repeated on resumption.
    fn validate_in(
        &mut self,
        directory: &mut RunDir,
        on_event: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, TrainError> {
        let report = match self.validate_with(&mut |samples| on_event(&Event::Validating(samples))) {
            Err(TrainError::Evaluate(EvalError::Stopped)) => {
                self.state.pending_validation = true;
                return Ok(ControlFlow::Break(()));
            }
            report => report?,
        };
        self.state.pending_validation = false;
        for (algorithm, Metrics { score, validity, exact_match, .. }) in &report.tasks {
            let metrics = [("val", *score), ("validity", *validity), ("exact_match", *exact_match)];
            directory.log_metrics(report.step, algorithm, &metrics)?;
        }
        let is_best = self.state.best.is_none_or(|(_, best)| report.score > best);
        if is_best {
            (self.state.best, self.state.since_best) = (Some((report.step, report.score)), 0);
            directory.save_best(self.parameters(), &self.context())?;
        } else {
            self.state.since_best += 1;
        }
        directory.save_status(Status::Running, self.state, self.recipe.steps, None)?;
        Ok(on_event(&Event::Validation { report: &report, is_best }))
    }

    /// Saves a checkpoint and returns the time that it took.
    fn save(&self, directory: &RunDir) -> Result<Duration, RunError> {
        let start = Instant::now();
        directory.save_last(self.parameters(), &self.context(), self.model.optimizer(), &self.recurrent)?;
        directory.save_status(Status::Running, self.state, self.recipe.steps, None)?;
        Ok(start.elapsed())
    }

    fn context(&self) -> CheckpointContext<'_> {
        CheckpointContext { recipe: &self.recipe, specs: &self.specs, state: self.state }
    }

    fn next_data(&mut self) -> Result<UpdateData, DataError> {
        if let TrainingData::Loaders(loaders) = &mut self.data {
            self.data = TrainingData::Prefetched(prefetch(std::mem::take(loaders), &self.recipe, self.state.step));
        }
        let TrainingData::Prefetched(batches) = &self.data else { unreachable!("replaced above") };
        // The thread ends after an error.
        batches.recv().unwrap_or(Err(DataError::Ended))
    }

    fn is_out_of_patience(&self) -> bool {
        self.recipe.patience > 0 && self.state.since_best >= self.recipe.patience
    }
}

/// Time between two checkpoints, as a multiple of the time that one takes: saving costs at most 2% of a run.
const SAVE_PAUSE: u32 = 50;

/// Without a validation, a checkpoint is saved after this time.
const SAVE_INTERVAL: Duration = Duration::from_mins(1);

/// Samples per validation batch, as in dm-clrs.
const VALIDATION_BATCH: usize = 32;
