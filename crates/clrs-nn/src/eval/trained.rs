//! Trained models: from a run directory back to a network.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use burn::tensor::Device;
use clrs::{AnyAlgorithm, Array, Probe, Spec, Stage, Trajectories};

use super::batches::SPLIT;
use super::evaluate::{EvalOptions, EvalReport, TaskModel, evaluate};
use super::metrics::EvalError;
use super::predict::predict;
use crate::config::data_source::DataSource;
use crate::config::recipe::Recipe;
use crate::data::batch::ModelBatch;
use crate::data::dense::DenseBatch;
use crate::data::error::DataError;
use crate::data::eval_set::EvalSet;
use crate::data::sets::{self, SetCache};
use crate::data::tasks::{TaskError, algorithms};
use crate::data::transform::BatchTransform;
use crate::exec::parameters::Parameters;
use crate::exec::weights::Weights;
use crate::model::network::{BuildError, Network, Task};
use crate::model::processors::ProcessorRegistry;
use crate::model::registries::Registries;
use crate::run::checkpoint::{CheckpointFile, TaskSpecs};
use crate::run::directory::{self, BEST, LAST};
use crate::run::error::RunError;
use crate::run::status::{RunStatus, Status};

/// The network of a run.
///
/// ```no_run
/// use clrs_nn::eval::evaluate::EvalOptions;
/// use clrs_nn::eval::trained::TrainedModel;
/// use clrs_nn::data::eval_set::EvalSet;
/// use std::ops::ControlFlow;
///
/// let model = TrainedModel::open("runs/bfs")?;
/// let report = model.evaluate("bfs", &EvalSet::sampled(64), &EvalOptions::default(), &mut |_| ControlFlow::Continue(()))?;
/// println!("{:.1}%", 100.0 * report.metrics.score);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TrainedModel {
    /// Recipe that it was trained with.
    pub recipe: Recipe,
    /// Algorithms that it was trained on, in the order of its tasks.
    pub algorithms: Vec<&'static dyn AnyAlgorithm>,
    /// The network.
    pub network: Network,
    /// Its parameters.
    pub parameters: Parameters,
    /// Training steps before the checkpoint.
    pub step: usize,
    /// Specs of the samples that it was trained on, by task.
    recorded: Vec<Spec>,
    /// `None` for a model that is still in training.
    pub(super) origin: Option<Origin>,
    sets: SetCache,
    device: Device,
    weights: OnceLock<Weights>,
}

/// Where the parameters come from.
pub(super) struct Origin {
    pub(super) run: PathBuf,
    pub(super) checkpoint: Checkpoint,
    /// Hash of the checkpoint.
    pub(super) checksum: String,
}

/// Which parameters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoint {
    /// Those of the best validation.
    #[default]
    Best,
    /// Those of the last checkpoint; at the end of a run, those of its last step.
    Last,
    /// Those of a file.
    File(PathBuf),
}

impl FromStr for Checkpoint {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Checkpoint, Infallible> {
        Ok(match text {
            "best" => Checkpoint::Best,
            "last" => Checkpoint::Last,
            file => Checkpoint::File(file.into()),
        })
    }
}

impl std::fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Checkpoint::Best => f.write_str("best"),
            Checkpoint::Last => f.write_str("last"),
            Checkpoint::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Why the model of a run cannot be opened.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum OpenModelError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{}: {source}", .path.display())]
    Task { path: PathBuf, source: TaskError },
    #[error("{}: {source}", .path.display())]
    Data { path: PathBuf, source: Box<DataError> },
    #[error("{}: {source}", .path.display())]
    Build { path: PathBuf, source: BuildError },
    #[error("{}: the checkpoint is of {found}, the recipe of {expected}", .path.display())]
    OtherTasks { path: PathBuf, found: String, expected: String },
    #[error("{}: no {checkpoint} checkpoint: {reason}", .path.display())]
    NoCheckpoint { path: PathBuf, checkpoint: &'static str, reason: String },
}

impl TrainedModel {
    /// Opens the best checkpoint of a run with built-in algorithms and processors, on the CPU.
    ///
    /// # Errors
    /// As [`TrainedModel::open_with`].
    pub fn open(run: impl AsRef<Path>) -> Result<TrainedModel, OpenModelError> {
        TrainedModel::open_with(run.as_ref(), &Checkpoint::Best, &Registries::builtin(), &Device::flex())
    }

    /// Opens a checkpoint of a run. Neither the training data nor the working directory matters.
    ///
    /// # Errors
    /// If the directory contains no run, the checkpoint is missing, damaged or of another recipe, or an algorithm or processor is
    /// not in the registries.
    pub fn open_with(
        run: &Path,
        checkpoint: &Checkpoint,
        registries: &Registries,
        device: &Device,
    ) -> Result<TrainedModel, OpenModelError> {
        let recipe = directory::read_recipe(run)?;
        let config = || run.join("config.toml");
        let algorithms = algorithms(&recipe, &registries.algorithms);
        let algorithms = algorithms.map_err(|source| OpenModelError::Task { path: config(), source })?;
        let of_run = |file: &str, checkpoint: &'static str| {
            let path = run.join(file);
            let missing = || OpenModelError::NoCheckpoint { path: run.into(), checkpoint, reason: why_missing(run) };
            if path.exists() { Ok(path) } else { Err(missing()) }
        };
        let path = match checkpoint {
            Checkpoint::Best => of_run(BEST, "best")?,
            Checkpoint::Last => of_run(LAST, "last")?,
            Checkpoint::File(path) => path.clone(),
        };
        let file = CheckpointFile::read(&path)?;
        if !matches!(checkpoint, Checkpoint::File(_)) {
            file.ensure_recipe(&recipe, &path)?;
        }
        let TaskSpecs { tasks, recorded } = match file.specs() {
            Some(specs) => specs.clone(),
            None => format_1_specs(&recipe, &algorithms)
                .map_err(|source| OpenModelError::Data { path: config(), source: Box::new(source) })?,
        };
        if !tasks.iter().map(|task| task.name.as_str()).eq(algorithms.iter().map(|algorithm| algorithm.name())) {
            let found = tasks.iter().map(|task| task.name.as_str()).collect::<Vec<_>>().join(", ");
            let expected = recipe.algorithms.join(", ");
            return Err(OpenModelError::OtherTasks { path, found, expected });
        }
        let built = Network::with_processors(tasks, &recipe.model, &registries.processors, recipe.seed);
        let (mut network, mut parameters) = built.map_err(|source| OpenModelError::Build { path: config(), source })?;
        network.fused = recipe.fused;
        file.load_parameters(&mut parameters, &path)?;
        let (step, device) = (file.state().step, device.clone());
        let origin = Some(Origin { run: run.into(), checkpoint: checkpoint.clone(), checksum: file.checksum() });
        let (sets, weights) = (SetCache::default(), OnceLock::new());
        Ok(TrainedModel { recipe, algorithms, network, parameters, step, recorded, origin, sets, device, weights })
    }

    /// The model of a run in memory.
    ///
    /// # Errors
    /// If the network cannot be built.
    pub(crate) fn in_training(
        recipe: Recipe,
        algorithms: Vec<&'static dyn AnyAlgorithm>,
        specs: TaskSpecs,
        processors: &ProcessorRegistry,
        parameters: Parameters,
        device: &Device,
    ) -> Result<TrainedModel, BuildError> {
        let TaskSpecs { tasks, recorded } = specs;
        let (mut network, _) = Network::with_processors(tasks, &recipe.model, processors, recipe.seed)?;
        network.fused = recipe.fused;
        let (sets, device, weights) = (SetCache::default(), device.clone(), OnceLock::new());
        let (step, origin) = (0, None);
        Ok(TrainedModel { recipe, algorithms, network, parameters, step, recorded, origin, sets, device, weights })
    }

    /// The benchmark, in the version that the model was trained on, or in the current one.
    pub fn benchmark(&self) -> DataSource {
        DataSource::Benchmark(self.recipe.data.version().unwrap_or_default())
    }

    /// Shares sets of the benchmark with other models and runs.
    #[must_use]
    pub fn with_sets(self, sets: &SetCache) -> TrainedModel {
        TrainedModel { sets: sets.clone(), ..self }
    }

    /// The model for one of its algorithms.
    ///
    /// # Errors
    /// [`EvalError::NotTrained`] if it was not trained on the algorithm.
    pub fn task(&self, algorithm: &str) -> Result<TaskModel<'_>, EvalError> {
        let task = self.algorithms.iter().position(|of| of.name() == algorithm);
        let task = task.ok_or_else(|| EvalError::NotTrained(algorithm.into()))?;
        Ok(TaskModel { network: &self.network, weights: self.weights(), task, algorithm: self.algorithms[task] })
    }

    /// The weights, on the model's device.
    pub fn weights(&self) -> &Weights {
        self.weights.get_or_init(|| Weights::no_grad(&self.parameters, &self.device))
    }

    /// Evaluates the model on a set of one of its algorithms.
    ///
    /// `progress` is called after every batch with its number of samples and can stop the evaluation.
    pub fn evaluate(
        &self,
        algorithm: &str,
        set: &EvalSet,
        options: &EvalOptions,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<EvalReport, EvalError> {
        let samples = self.load(algorithm, set)?;
        self.evaluate_samples(algorithm, &samples, options, progress)
    }

    /// Loads the samples of a set with the probes that the network was trained with.
    pub fn load(&self, algorithm: &str, set: &EvalSet) -> Result<Arc<Trajectories>, EvalError> {
        let model = self.task(algorithm)?;
        let algorithm = self.algorithms[model.task];
        Ok(sets::with_spec(set.load_from(algorithm, &self.sets)?, &self.recorded[model.task], algorithm)?)
    }

    /// Predicts the outputs of a batch of recorded samples from outside, with the true number of steps: the probes of the network and
    /// the decisions on them. Applies the recipe's transforms, but no random positions.
    ///
    /// # Errors
    /// If the batch does not have the probes of the recorded samples, or a logit is not finite.
    pub fn predict(&self, algorithm: &str, dense: &DenseBatch<'_>) -> Result<Vec<(Probe, Array)>, EvalError> {
        let TaskModel { network, weights, task, algorithm } = self.task(algorithm)?;
        let batch = dense.to_batch(&self.recorded[task])?;
        let batch = BatchTransform::new(&self.recipe, algorithm, task, SPLIT).apply(batch, 0)?;
        let batch = ModelBatch::new(&batch);
        if let Some(max) = network.processor().max_nodes().filter(|max| batch.nodes() > *max) {
            return Err(EvalError::TooManyNodes { nodes: batch.nodes(), max });
        }
        let outputs = batch.spec().iter().filter(|probe| probe.stage == Stage::Output).cloned();
        Ok(outputs.zip(predict(network, weights, task, &batch)?).collect())
    }

    /// Evaluates the model on samples that [`TrainedModel::load`] returned.
    pub fn evaluate_samples(
        &self,
        algorithm: &str,
        samples: &Trajectories,
        options: &EvalOptions,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<EvalReport, EvalError> {
        let model = self.task(algorithm)?;
        let transform = BatchTransform::new(&self.recipe, model.algorithm, model.task, SPLIT);
        evaluate(model, samples, &transform, options, progress)
    }
}

/// Why a run has no checkpoint yet.
fn why_missing(run: &Path) -> String {
    match RunStatus::read(run) {
        Ok(Some(RunStatus { status: Status::Failed, error: Some(error), .. })) => format!("training failed: {error}"),
        Ok(Some(RunStatus { status: Status::Done, .. })) => "the run is complete, but its file is missing".into(),
        Ok(Some(RunStatus { step, steps, .. })) => format!("training has not reached a validation (step {step} of {steps})"),
        Ok(None) | Err(_) => "training has not reached a validation".into(),
    }
}

/// The specs that the recipe of a run of checkpoint format 1 implies.
fn format_1_specs(recipe: &Recipe, algorithms: &[&'static dyn AnyAlgorithm]) -> Result<TaskSpecs, DataError> {
    let task = |&algorithm: &&'static dyn AnyAlgorithm| {
        // The directory of the training data may be gone.
        let recorded = sets::recorded_spec(&recipe.data, algorithm).unwrap_or_else(|_| Spec::from(algorithm.spec()));
        let spec = sets::network_spec(recipe, &recorded, algorithm)?;
        Ok((Task { name: algorithm.name().into(), spec }, recorded))
    };
    let (tasks, recorded) = algorithms.iter().map(task).collect::<Result<Vec<_>, DataError>>()?.into_iter().unzip();
    Ok(TaskSpecs { tasks, recorded })
}
