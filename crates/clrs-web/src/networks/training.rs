//! How runs train: losses, validations, and how far they are.

use clrs_nn::run::directory;
use clrs_nn::run::metrics::{LossCurve, ValidationCurve};
use clrs_nn::run::status::RunStatus;
use serde::Serialize;

use super::{Run, lock};

/// A run at this moment.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct TrainingRun {
    /// Its name.
    pub name: String,
    /// Algorithms that it trains on.
    pub algorithms: Vec<String>,
    /// Processor of its network.
    pub processor: String,
    /// How far it is; none before its first step.
    pub status: Option<RunStatus>,
    /// Losses of training.
    pub losses: Vec<LossCurve>,
    /// Validations.
    pub validations: Vec<ValidationCurve>,
    /// What cannot be read.
    pub error: Option<String>,
}

/// Reads what a run has written so far.
pub fn training_run(run: &Run) -> TrainingRun {
    let mut metrics = lock(&run.metrics);
    let (recipe, status, read) = (directory::read_recipe(&run.path), RunStatus::read(&run.path), metrics.poll());
    let error = recipe.as_ref().err().or(status.as_ref().err()).or(read.as_ref().err()).map(ToString::to_string);
    let (algorithms, processor) = recipe.map(|recipe| (recipe.algorithms, recipe.model.processor)).unwrap_or_default();
    TrainingRun {
        name: run.name.clone(),
        algorithms,
        processor,
        status: status.ok().flatten(),
        losses: metrics.losses().to_vec(),
        validations: metrics.validations().to_vec(),
        error,
    }
}
