//! The plan of a training run: a recipe with everything resolved and checked before any sample is generated.

use clrs::{AnyAlgorithm, Spec, training};

use super::memory::MemoryEstimate;
use crate::config::data_source::DataSource;
use crate::config::model::ConfigError;
use crate::config::recipe::Recipe;
use crate::data::error::DataError;
use crate::data::loader;
use crate::data::sets::{self, SetCache};
use crate::data::tasks::{self, TaskError};
use crate::model::network::{Network, Task};
use crate::model::processors::{ProcessorRegistry, UnknownProcessor};
use crate::model::registries::Registries;
use crate::run::checkpoint::TaskSpecs;

/// A recipe whose algorithms, processor, data source and ranges are valid.
///
/// ```
/// use clrs_nn::Recipe;
/// use clrs_nn::model::registries::Registries;
/// use clrs_nn::train::plan::TrainPlan;
///
/// let recipe = Recipe { algorithms: vec!["bsf".into()], ..Recipe::default() };
/// let error = TrainPlan::new(recipe, &Registries::builtin()).err().unwrap();
/// assert_eq!(error.to_string(), "unknown algorithm `bsf`; did you mean `bfs`?");
/// ```
pub struct TrainPlan {
    /// The recipe, with an absolute data directory.
    pub recipe: Recipe,
    pub(super) algorithms: Vec<&'static dyn AnyAlgorithm>,
    pub(super) specs: TaskSpecs,
    pub(super) processors: ProcessorRegistry,
    pub(super) sets: SetCache,
}

/// Why a recipe cannot be trained.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum PlanError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Processor(#[from] UnknownProcessor),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("training would need about {} of memory, and this machine has {}: {advice}", gb(*.estimated), gb(*.available))]
    Memory { estimated: u64, available: u64, advice: &'static str },
}

fn gb(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

impl TrainPlan {
    /// Resolves and checks a recipe. Reads the headers of sets; draws and solves no problem.
    ///
    /// # Errors
    /// If a field is out of range, an algorithm or the processor is unknown, or the data source lacks a set.
    pub fn new(mut recipe: Recipe, registries: &Registries) -> Result<TrainPlan, PlanError> {
        recipe.validate()?;
        recipe.data = recipe.data.absolute();
        let algorithms = tasks::algorithms(&recipe, &registries.algorithms)?;
        registries.processors.find(&recipe.model.processor)?;
        let task = |&algorithm: &&'static dyn AnyAlgorithm| {
            check_data(&recipe, algorithm)?;
            let recorded = sets::recorded_spec(&recipe.data, algorithm)?;
            let spec = sets::network_spec(&recipe, &recorded, algorithm)?;
            Ok((Task { name: algorithm.name().into(), spec }, recorded))
        };
        let tasks = algorithms.iter().map(task).collect::<Result<Vec<(Task, Spec)>, DataError>>()?;
        let (tasks, recorded): (Vec<Task>, Vec<Spec>) = tasks.into_iter().unzip();
        let processors = registries.processors.clone();
        ensure_memory(&recipe, &tasks, &algorithms, &processors)?;
        let sets = SetCache::default();
        Ok(TrainPlan { recipe, algorithms, specs: TaskSpecs { tasks, recorded }, processors, sets })
    }

    /// Shares sets of the benchmark with other runs.
    #[must_use]
    pub fn with_sets(self, sets: &SetCache) -> TrainPlan {
        TrainPlan { sets: sets.clone(), ..self }
    }

    /// The algorithms, in the order of the recipe.
    pub fn algorithms(&self) -> &[&'static dyn AnyAlgorithm] {
        &self.algorithms
    }
}

/// Refuses a recipe that cannot fit into memory.
fn ensure_memory(
    recipe: &Recipe,
    tasks: &[Task],
    algorithms: &[&'static dyn AnyAlgorithm],
    processors: &ProcessorRegistry,
) -> Result<(), PlanError> {
    let parameters = Network::count_parameters(tasks.to_vec(), &recipe.model, processors)?;
    let sized = |&algorithm: &&'static dyn AnyAlgorithm| {
        let nodes = match &recipe.data {
            DataSource::OnTheFly => training::sizes(algorithm, &recipe.lengths).into_iter().max().unwrap_or(1),
            source => sets::max_nodes(source, algorithm)?,
        };
        Ok((algorithm as &dyn AnyAlgorithm, nodes))
    };
    let algorithms = algorithms.iter().map(sized).collect::<Result<Vec<_>, DataError>>()?;
    let estimate = MemoryEstimate::new(recipe, parameters, &algorithms);
    match clrs_store::memory::machine_memory() {
        Some(available) if estimate.total() > available => {
            Err(PlanError::Memory { estimated: estimate.total(), available, advice: estimate.advice() })
        }
        _ => Ok(()),
    }
}

/// Checks that the sets exist, or that problems can be drawn.
fn check_data(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm) -> Result<(), DataError> {
    use clrs::clrs30::Split;
    if recipe.data == DataSource::OnTheFly {
        for size in training::sizes(algorithm, &recipe.lengths) {
            loader::sampler(recipe, algorithm, size, 0)?;
        }
        return Ok(());
    }
    let samples = sets::count(&recipe.data, algorithm, Split::Train)?;
    sets::count(&recipe.data, algorithm, Split::Val)?;
    if recipe.batch_size > samples {
        let (algorithm, batch_size) = (algorithm.name().into(), recipe.batch_size);
        return Err(DataError::BatchSize { algorithm, batch_size, samples });
    }
    Ok(())
}
