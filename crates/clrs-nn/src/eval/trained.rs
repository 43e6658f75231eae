//! Networks that were trained: from the folder of a run back to a network.

use std::path::{Path, PathBuf};

use clrs::registry::UnknownAlgorithm;
use clrs::{AnyAlgorithm, Registry};

use crate::data::loader::{self, DataError};
use crate::model::network::{BuildError, Network, Task};
use crate::exec::parameters::Parameters;
use crate::config::recipe::Recipe;
use crate::run::directory::{self, RunError};

/// A network of a run.
pub struct TrainedModel {
    /// How it was trained.
    pub recipe: Recipe,
    /// What it was trained for, in the order of its tasks.
    pub algorithms: Vec<&'static dyn AnyAlgorithm>,
    /// The network.
    pub network: Network,
    /// Its parameters.
    pub parameters: Parameters,
    /// Updates of the parameters before the checkpoint.
    pub step: usize,
}

/// Which parameters of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// Those of the best validation.
    Best,
    /// Those of the last checkpoint; at the end of a run, those of its last step.
    Last,
    /// Those of a file.
    File(PathBuf),
}

/// Why a run has no network.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OpenModelError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{}: {error}", .path.display())]
    Task { path: PathBuf, error: Box<TaskError> },
    #[error("{}: {error}", .path.display())]
    Build { path: PathBuf, error: BuildError },
    #[error("{}: there is no {checkpoint} checkpoint yet: its training has not come to a validation", .path.display())]
    NoCheckpoint { path: PathBuf, checkpoint: &'static str },
}

/// Why a recipe's algorithms cannot be learnt.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TaskError {
    #[error("no algorithm to learn: set `algorithms`")]
    None,
    #[error(transparent)]
    Algorithm(#[from] UnknownAlgorithm),
    #[error("{0} is named twice in `algorithms`")]
    Twice(String),
    #[error(transparent)]
    Data(#[from] DataError),
}

impl TrainedModel {
    /// Reads the folder of a run.
    pub fn open(folder: &Path, checkpoint: &Checkpoint, registry: &Registry) -> Result<TrainedModel, OpenModelError> {
        let recipe = directory::read_recipe(folder)?;
        let path = folder.join("config.toml");
        let (algorithms, tasks) = match tasks(&recipe, registry) {
            Ok(tasks) => tasks,
            Err(error) => return Err(OpenModelError::Task { path, error: Box::new(error) }),
        };
        let (mut network, mut parameters) =
            Network::new(tasks, &recipe.network, recipe.seed).map_err(|error| OpenModelError::Build { path, error })?;
        network.fused = recipe.fused;
        let of_run = |name: &'static str| {
            let file = folder.join(format!("{name}.safetensors"));
            let missing = || OpenModelError::NoCheckpoint { path: folder.into(), checkpoint: name };
            if file.exists() { Ok(file) } else { Err(missing()) }
        };
        let file = match checkpoint {
            Checkpoint::Best => of_run("best")?,
            Checkpoint::Last => of_run("last")?,
            Checkpoint::File(file) => file.clone(),
        };
        let (_, state) = directory::load(&file, &mut parameters)?;
        Ok(TrainedModel { recipe, algorithms, network, parameters, step: state.step })
    }
}

/// The algorithms of a recipe, and what a network for them is made for.
pub fn tasks(recipe: &Recipe, registry: &Registry) -> Result<(Vec<&'static dyn AnyAlgorithm>, Vec<Task>), TaskError> {
    let mut algorithms: Vec<&'static dyn AnyAlgorithm> = Vec::new();
    for name in &recipe.algorithms {
        let algorithm = registry.find(name)?;
        if algorithms.iter().any(|other| other.name() == algorithm.name()) {
            return Err(TaskError::Twice(name.clone()));
        }
        algorithms.push(algorithm);
    }
    if algorithms.is_empty() {
        return Err(TaskError::None);
    }
    let task = |algorithm: &&'static dyn AnyAlgorithm| {
        let spec = loader::network_spec(recipe, *algorithm)?;
        Ok::<_, TaskError>(Task { name: algorithm.name().into(), spec })
    };
    let tasks = algorithms.iter().map(task).collect::<Result<_, _>>()?;
    Ok((algorithms, tasks))
}
