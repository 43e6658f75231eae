//! Recipes, training in run directories or in memory, and trained models.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clrs::AnyAlgorithm;
use clrs::clrs30::Split;
use clrs::sampling::Sampler;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::config::fields::fields;
use clrs_nn::config::recipe::SHIPPED;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::{EvalOptions, EvalReport, Steps};
use clrs_nn::eval::metrics::EvalError;
use clrs_nn::eval::trained::{self, Checkpoint};
use clrs_nn::exec::device::Device;
use clrs_nn::run::directory::{self, RunDir, RunLock};
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::{self, Event, StepReport, StopReason, TrainError, ValidationReport};
use clrs_nn::{Recipe, Registries};
use clrs_store::memory::SampleMemory;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::find;
use crate::convert::{array_to_py, sampler_options, type_name};
use crate::error::Error;
use crate::model::{Named, Points, named, to_py};
use crate::model_error::SettingError;
use crate::parallel::{detached, interruptible};

/// Texts of the shipped recipes, by name.
#[pyfunction]
pub(crate) fn recipes() -> Vec<(&'static str, &'static str)> {
    SHIPPED.to_vec()
}

/// Name, default value as TOML, and description of every field of a recipe.
#[pyfunction]
pub(crate) fn recipe_fields() -> Vec<(String, String, String)> {
    fields().into_iter().map(|field| (field.name, field.default, field.description)).collect()
}

/// A recipe with some fields replaced (`hidden=64`, `lengths=4,8`), as TOML and as JSON.
#[pyfunction]
pub(crate) fn recipe(text: &str, overrides: Vec<String>) -> Result<(String, String), Error> {
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let recipe = Recipe::parse(text, &overrides)?;
    recipe.validate()?;
    Ok((recipe.to_toml(), json(&recipe)?))
}

/// Reason, step, and step and score of the best validation.
type Ended = (&'static str, usize, Option<(usize, f64)>);

/// Trains in a run directory, or resumes the run in it. `callback` gets the kind of an event and a JSON text; the run stops, and can be
/// resumed, if it returns `False` or raises.
#[pyfunction]
pub(crate) fn train(py: Python<'_>, recipe: Option<&str>, out: PathBuf, callback: Option<Py<PyAny>>) -> Result<Ended, Error> {
    let recipe = recipe.map(|text| Recipe::parse(text, &[])).transpose()?;
    let (mut failed, mut step, mut best) = (None, 0, None);
    let result = detached(py, || {
        let (trainer, mut run) = if let Some(recipe) = recipe { start(recipe, &out)? } else { resume(&out)? };
        (step, best) = (trainer.state().step, trainer.state().best);
        let reason = trainer.run(&mut run, &mut |event| {
            match event {
                Event::Step(report) => step = report.step,
                Event::Validation { report, is_best: true } => best = Some((report.step, report.score)),
                _ => {}
            }
            notify(callback.as_ref(), event, &mut failed)
        })?;
        Ok(reason)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let reason = match result? {
        StopReason::Completed => "completed",
        StopReason::EarlyStopping => "early_stopping",
        _ => "stopped",
    };
    Ok((reason, step, best))
}

fn start(recipe: Recipe, out: &Path) -> Result<(trainer::Trainer, RunDir), Error> {
    RunDir::ensure_free(out)?;
    let trainer = trainer::Trainer::new(plan(recipe)?, &Device::flex())?;
    let program = concat!("clrs-rs ", env!("CARGO_PKG_VERSION"));
    Ok((trainer, RunDir::create(out, &serde_json::json!({ "program": program }))?))
}

fn resume(out: &Path) -> Result<(trainer::Trainer, RunDir), Error> {
    let plan = plan(directory::read_recipe(out)?)?;
    let lock = RunLock::acquire(out)?;
    let mut trainer = trainer::Trainer::new(plan, &Device::flex())?;
    trainer.resume(out)?;
    let run = RunDir::open(lock, trainer.state().step)?;
    Ok((trainer, run))
}

/// Passes an event to Python, and checks for signals.
fn notify(callback: Option<&Py<PyAny>>, event: &Event<'_>, failed: &mut Option<Error>) -> ControlFlow<()> {
    let notified = Python::attach(|py| {
        py.check_signals()?;
        let Some(callback) = callback else { return Ok(true) };
        let result = match event {
            Event::Step(report) => callback.call1(py, ("step", json(report)?))?,
            Event::Validation { report, is_best } => callback.call1(py, ("validation", json(report)?, *is_best))?,
            _ => return Ok(true),
        };
        Ok(result.extract::<Option<bool>>(py).ok().flatten() != Some(false))
    });
    match notified {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(error) => {
            *failed = Some(error);
            ControlFlow::Break(())
        }
    }
}

fn plan(recipe: Recipe) -> Result<TrainPlan, Error> {
    Ok(TrainPlan::new(recipe, &Registries::builtin())?)
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string(value).map_err(SettingError::Config)?)
}

/// A network in training, in memory.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Trainer {
    trainer: Mutex<trainer::Trainer>,
    /// The process that it was created in. The thread that samples batches does not exist in forked children.
    process: u32,
}

#[pymethods]
impl Trainer {
    /// Loads the data and builds the network of a recipe.
    #[new]
    fn new(py: Python<'_>, recipe: &str) -> Result<Trainer, Error> {
        let recipe = Recipe::parse(recipe, &[])?;
        let trainer = interruptible(py, || Ok(trainer::Trainer::new(plan(recipe)?, &Device::flex())?))?;
        Ok(Trainer { trainer: Mutex::new(trainer), process: std::process::id() })
    }

    /// Takes one training step and returns its report as JSON.
    fn step(&self, py: Python<'_>) -> Result<String, Error> {
        if self.process != std::process::id() {
            return Err(SettingError::Forked.into());
        }
        let report: StepReport = detached(py, || Ok(self.lock().step()?))?;
        json(&report)
    }

    /// Evaluates the current parameters on the validation sets and returns the report as JSON.
    fn validate(&self, py: Python<'_>) -> Result<String, Error> {
        let report: ValidationReport = interruptible(py, || Ok(self.lock().validate()?))?;
        json(&report)
    }

    /// Number of training steps so far.
    #[getter]
    fn steps(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().state().step)
    }

    /// The model with its current parameters.
    fn snapshot(&self, py: Python<'_>) -> Result<TrainedModel, Error> {
        detached(py, || Ok(TrainedModel(self.lock().snapshot())))
    }
}

impl Trainer {
    fn lock(&self) -> MutexGuard<'_, trainer::Trainer> {
        self.trainer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name, location, type and data of a point.
type PyPoint<'py> = (String, &'static str, &'static str, Bound<'py, PyAny>);

/// A trained model.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct TrainedModel(trained::TrainedModel);

#[pymethods]
impl TrainedModel {
    /// Opens a checkpoint of a run: `best`, `last`, or a file.
    #[staticmethod]
    fn open(py: Python<'_>, run: PathBuf, checkpoint: &str) -> Result<TrainedModel, Error> {
        let Ok(checkpoint) = checkpoint.parse::<Checkpoint>();
        let open = || Ok(trained::TrainedModel::open_with(&run, &checkpoint, &Registries::builtin(), &Device::flex())?);
        Ok(TrainedModel(detached(py, open)?))
    }

    /// The recipe, as TOML and as JSON.
    fn recipe(&self) -> Result<(String, String), Error> {
        Ok((self.0.recipe.to_toml(), json(&self.0.recipe)?))
    }

    /// Algorithms that it was trained on.
    #[getter]
    fn algorithms(&self) -> Vec<&'static str> {
        self.0.algorithms.iter().map(|algorithm| algorithm.name()).collect()
    }

    /// Training steps before the checkpoint.
    #[getter]
    fn step(&self) -> usize {
        self.0.step
    }

    /// All parameters.
    fn parameters<'py>(&self, py: Python<'py>) -> Vec<Named<'py>> {
        let values = py.detach(|| named(&self.0.parameters, |index, parameters| parameters.values()[index].clone()));
        to_py(py, values)
    }

    /// Name, location, type and decisions of every output of a batch.
    fn predict<'py>(&self, py: Python<'py>, algorithm: &str, batch: Points) -> Result<Vec<PyPoint<'py>>, Error> {
        let predicted = detached(py, || Ok(self.0.predict(algorithm, &batch.dense())?))?;
        let point = |(probe, array): (clrs::Probe, clrs::Array)| {
            (probe.name.to_string(), probe.location.name(), type_name(probe.kind), array_to_py(py, array))
        };
        Ok(predicted.into_iter().map(point).collect())
    }

    /// Evaluates on a set: the report as JSON, and the predicted trajectories of chosen samples as JSON.
    #[pyo3(signature = (algorithm, set, steps, batch_size, hints, trajectories, reuse))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a function in Python")]
    fn evaluate(
        &self,
        py: Python<'_>,
        algorithm: &str,
        set: PyEvalSet<'_>,
        steps: &str,
        batch_size: usize,
        hints: bool,
        trajectories: Vec<usize>,
        reuse: bool,
    ) -> Result<(String, String, Vec<String>), Error> {
        let of = self.0.task(algorithm)?.algorithm;
        let set = set.read(py, &self.0, find(of.name())?)?;
        let steps: Steps = steps.parse()?;
        let options = EvalOptions::default().batch_size(batch_size).steps(steps).hints(hints).trajectories(trajectories);
        let name = set.to_string();
        let (report, traces) = interruptible(py, || {
            if reuse && let Some(report) = self.0.stored(algorithm, &set, &options) {
                return Ok((report, Vec::new()));
            }
            let samples = self.0.load(algorithm, &set)?;
            let report: EvalReport =
                self.0.evaluate_samples(algorithm, &samples, &options, &mut |_| ControlFlow::Continue(()))?;
            let trace = |predicted: &clrs_nn::eval::trajectories::PredictedTrajectory| {
                json(&predicted.trace(of, samples.get(predicted.sample))?)
            };
            let traces = report.trajectories.iter().map(trace).collect::<Result<Vec<_>, Error>>()?;
            if reuse {
                // A result that cannot be kept is computed again.
                let _ = self.0.store(algorithm, &set, &report);
            }
            Ok((report, traces))
        })?;
        Ok((name, json(&report)?, traces))
    }
}

/// A set to evaluate on: `{"size": .., "count": .., "seed": .., "options": {..}}`, or `{"data": .., "split": ..}`.
#[derive(FromPyObject)]
pub(crate) enum PyEvalSet<'py> {
    Sampled {
        #[pyo3(item)]
        size: usize,
        #[pyo3(item)]
        count: Option<usize>,
        #[pyo3(item)]
        seed: u32,
        #[pyo3(item)]
        options: Bound<'py, PyDict>,
    },
    Fixed {
        #[pyo3(item)]
        data: Option<String>,
        #[pyo3(item)]
        split: String,
    },
}

impl PyEvalSet<'_> {
    /// Checks options and memory before any work.
    fn read(
        &self,
        py: Python<'_>,
        model: &trained::TrainedModel,
        algorithm: &'static dyn AnyAlgorithm,
    ) -> Result<EvalSet, Error> {
        match self {
            &PyEvalSet::Sampled { size, count, seed, ref options } => {
                let options = sampler_options(options)?;
                Sampler::new(algorithm, size, seed, &options)?;
                let options = options.or(&model.recipe.data.sampler_options(algorithm));
                let set = EvalSet::Sampled { size, count, seed, options: options.clone() };
                let count = set.count(algorithm).map_err(EvalError::from)?;
                let memory = SampleMemory { algorithm, size, options: &options };
                detached(py, || Ok(memory.ensure_recordings_fit(count as u128)?))?;
                Ok(set)
            }
            PyEvalSet::Fixed { data, split } => {
                let data = data.as_ref().map(|data| data.parse::<DataSource>()).transpose()?;
                let data = data.map_or_else(|| model.benchmark(), DataSource::absolute);
                Ok(EvalSet::fixed(data, split.parse::<Split>()?))
            }
        }
    }
}

impl From<TrainError> for Error {
    fn from(error: TrainError) -> Error {
        match error {
            TrainError::Evaluate(EvalError::Stopped) => Error::Internal("stopped".into()),
            error => crate::model_error::train_error(error.to_string()),
        }
    }
}
