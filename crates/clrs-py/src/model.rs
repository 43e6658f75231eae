//! Networks that are trained on arrays of Python: the engine of `clrs_rs.models`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clrs::random::RandomState;
use clrs::{Array, ArrayData, Spec, Stage};
use clrs_nn::data::chunk_rows::ChunkRows;
use clrs_nn::data::dense::{self, DenseArray, DenseBatch, DenseChunk, SpecEntry};
use clrs_nn::eval::predict::{PredictOptions, Prediction};
use clrs_nn::exec::device::Device;
use clrs_nn::exec::parameters::{Parameter, Parameters};
use clrs_nn::model::losses::{self, RecurrentState};
use clrs_nn::run::checkpoint::OptimizerState;
use clrs_nn::run::tensor_file::{TensorFile, TensorFileError};
use clrs_nn::train::model::TrainableModel;
use clrs_nn::train::optimizer::AdamConfig;
use clrs_nn::train::{average, update_streams};
use clrs_nn::{ModelBatch, ModelConfig, Network, Task};
use pyo3::prelude::*;

use crate::convert::{DataPoints, Lengths, array_from_py, array_to_py};
use crate::error::Error;
use crate::model_error::SettingError;
use crate::parallel::{detached, interruptible};

/// Name, stage, location, type, and length of the last axis.
type PyProbe = (String, String, String, String, usize);

/// An array of a parameter: its module and its name in dm-clrs.
pub(crate) type Named<'py> = (String, String, Bound<'py, PyAny>);

/// Seed and number of the random streams of an update; `None` without noise.
type Noise = Option<(u32, u64)>;

/// A network with parameters and optimizer.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Model(Mutex<Inner>);

struct Inner {
    tasks: Vec<Task>,
    config: ModelConfig,
    adam: AdamConfig,
    model: TrainableModel,
    /// Chunked training, by length and task.
    streams: BTreeMap<(usize, usize), (ChunkRows, Vec<RecurrentState>)>,
}

#[pymethods]
impl Model {
    /// `config` is a JSON object with fields of a recipe that concern the network.
    #[new]
    fn new(
        py: Python<'_>,
        specs: Vec<Vec<PyProbe>>,
        config: &str,
        learning_rate: f32,
        grad_clip: f32,
        freeze_processor: bool,
    ) -> Result<Model, Error> {
        let specs = specs.iter().map(|probes| dense::spec(probes.iter().map(entry))).collect::<Result<Vec<Spec>, _>>()?;
        let task = |(index, spec)| Task { name: format!("algo_{index}"), spec };
        let tasks: Vec<Task> = specs.into_iter().enumerate().map(task).collect();
        let config = model_config(config)?;
        let adam = AdamConfig { learning_rate, grad_clip, freeze_processor };
        let model = detached(py, || build(&tasks, &config, adam, 0))?;
        Ok(Model(Mutex::new(Inner { tasks, config, adam, model, streams: BTreeMap::new() })))
    }

    /// Draws new parameters, and resets the optimizer and the states of chunked training.
    fn init(&self, py: Python<'_>, seed: u32) -> Result<(), Error> {
        detached(py, || {
            let mut inner = self.lock();
            inner.model = build(&inner.tasks, &inner.config, inner.adam, seed)?;
            inner.streams.clear();
            Ok(())
        })
    }

    /// All parameters.
    fn parameters<'py>(&self, py: Python<'py>) -> Vec<Named<'py>> {
        let values = py.detach(|| named(self.lock().model.parameters(), |index, parameters| parameters.values()[index].clone()));
        to_py(py, values)
    }

    /// Sets parameters. With `only_processor`, those of the processor, else all; returns the names that the network does not have.
    fn set_parameters(&self, py: Python<'_>, values: Vec<Named<'_>>, only_processor: bool) -> Result<Vec<String>, Error> {
        let file = tensors(&values)?;
        detached(py, || {
            let mut inner = self.lock();
            let mut parameters = inner.model.parameters().clone();
            let is_processor = |parameter: &Parameter| path(parameter).0.contains(PROCESSOR_TAG);
            file.load_some(&mut parameters, |parameter| !only_processor || is_processor(parameter))?;
            let is_known = |name: &String| parameters.list().iter().any(|parameter| joined(path(parameter)) == **name);
            let unknown = file.tensors.keys().filter(|name| !is_known(name)).cloned().collect();
            *inner.model.parameters_mut() = parameters;
            Ok(unknown)
        })
    }

    /// Number of updates, and first and second moments of all parameters.
    fn optimizer<'py>(&self, py: Python<'py>) -> (u64, Vec<Named<'py>>, Vec<Named<'py>>) {
        let (updates, first, second) = py.detach(|| {
            let inner = self.lock();
            let (state, parameters) = (inner.model.optimizer(), inner.model.parameters());
            let moments = |moments: &[Vec<f32>]| named(parameters, |index, _| moments[index].clone());
            (state.updates, moments(&state.first), moments(&state.second))
        });
        (updates, to_py(py, first), to_py(py, second))
    }

    /// Sets the number of updates and the moments of all parameters.
    fn set_optimizer(&self, py: Python<'_>, updates: u64, first: Vec<Named<'_>>, second: Vec<Named<'_>>) -> Result<(), Error> {
        let (first, second) = (tensors(&first)?, tensors(&second)?);
        detached(py, || {
            let mut inner = self.lock();
            let moments = |file: &TensorFile, parameters: &Parameters| {
                let values = |parameter: &Parameter| file.get(&joined(path(parameter)), &parameter.shape).map(<[f32]>::to_vec);
                parameters.list().iter().map(values).collect::<Result<Vec<_>, TensorFileError>>()
            };
            let parameters = inner.model.parameters();
            let state = OptimizerState { updates, first: moments(&first, parameters)?, second: moments(&second, parameters)? };
            Ok(inner.model.set_optimizer(state)?)
        })
    }

    /// Resets the optimizer.
    fn reset_optimizer(&self, py: Python<'_>) -> Result<(), Error> {
        detached(py, || {
            let mut inner = self.lock();
            let zeros = || inner.model.parameters().values().iter().map(|values| vec![0.0; values.len()]).collect();
            let state = OptimizerState { updates: 0, first: zeros(), second: zeros() };
            Ok(inner.model.set_optimizer(state)?)
        })
    }

    /// Takes a training step and returns the loss before it.
    fn feedback(&self, py: Python<'_>, task: usize, batch: Points, noise: Noise) -> Result<f32, Error> {
        batch.run(py, || {
            let mut inner = self.lock();
            let batch = inner.batch(task, &batch)?;
            let (loss, gradients) = inner.model.gradients(task, &batch, streams(noise))?;
            inner.model.update(&gradients, task);
            Ok(loss)
        })
    }

    /// Loss of a batch, and the gradients of all parameters.
    fn gradients<'py>(&self, py: Python<'py>, task: usize, batch: Points, noise: Noise) -> Result<(f32, Vec<Named<'py>>), Error> {
        let (loss, gradients) = batch.run(py, || {
            let inner = self.lock();
            let batch = inner.batch(task, &batch)?;
            let (loss, gradients) = inner.model.gradients(task, &batch, streams(noise))?;
            Ok((loss, inner.dense_gradients(gradients)))
        })?;
        Ok((loss, to_py(py, gradients)))
    }

    /// Takes a training step with the mean of several gradients.
    fn update(&self, py: Python<'_>, gradients: Vec<Vec<Named<'_>>>) -> Result<(), Error> {
        let files = gradients.iter().map(|gradients| tensors(gradients)).collect::<Result<Vec<_>, _>>()?;
        detached(py, || {
            let mut inner = self.lock();
            let list = inner.model.parameters().list();
            let of_file = |file: &TensorFile| {
                let values = |parameter: &Parameter| {
                    let name = joined(path(parameter));
                    let found = file.tensors.contains_key(&name).then(|| file.get(&name, &parameter.shape));
                    Ok(found.transpose()?.map(<[f32]>::to_vec))
                };
                list.iter().map(values).collect::<Result<Vec<_>, TensorFileError>>()
            };
            let gradients = files.iter().map(of_file).collect::<Result<Vec<_>, _>>()?;
            if !gradients.is_empty() {
                inner.model.update(&average(&gradients), None);
            }
            Ok(())
        })
    }

    /// Decisions on the outputs and, if requested, logits of hints and hidden states.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        task: usize,
        features: Points,
        hints: bool,
        all_outputs: bool,
        hidden: bool,
    ) -> Result<PyPrediction<'py>, Error> {
        let (prediction, spec) = features.run(py, || {
            let inner = self.lock();
            let batch = inner.batch(task, &features)?;
            let rows = features.1.0.first().and_then(|hint| hint.array.shape.first().copied()).unwrap_or(0);
            let options = PredictOptions::default()
                .hints(hints)
                .all_outputs(all_outputs)
                .hidden(hidden)
                .steps(rows.saturating_sub(1).max(1));
            Ok((inner.model.predict(task, &batch, options)?, batch.spec().clone()))
        })?;
        let Prediction { outputs, hints, hidden, .. } = prediction;
        let names = spec.iter().filter(|probe| probe.stage == Stage::Output).map(|probe| probe.name.to_string());
        let outputs = names.zip(outputs.into_iter().map(|array| array_to_py(py, array))).collect();
        let hint = |(index, array): (usize, Array)| (spec[index].name.to_string(), array_to_py(py, array));
        Ok((outputs, hints.into_iter().map(hint).collect(), hidden.map(|array| array_to_py(py, array))))
    }

    /// Loss of a chunk and its gradients; continues from the chunk before it of the same length and task. With `update`, takes a
    /// training step instead of returning gradients.
    fn chunk<'py>(
        &self,
        py: Python<'py>,
        index: (usize, usize),
        chunk: ChunkPoints,
        noise: Noise,
        update: bool,
    ) -> Result<(f32, Vec<Named<'py>>), Error> {
        let (loss, gradients) = interruptible(py, || {
            let mut inner = self.lock();
            let spec = inner.spec(index.1)?;
            let (mut rows, mut states) = inner.streams.get(&index).cloned().unwrap_or_default();
            let chunk = rows.next(&spec, &chunk.dense())?;
            let (loss, gradients) = inner.model.chunk_gradients(index.1, &chunk, &mut states, streams(noise))?;
            inner.streams.insert(index, (rows, states));
            if update {
                inner.model.update(&gradients, index.1);
                return Ok((loss, Vec::new()));
            }
            Ok((loss, inner.dense_gradients(gradients)))
        })?;
        Ok((loss, to_py(py, gradients)))
    }
}

/// Loss of every hint of a batch, from the logits of all steps, `[S, B, ...]`.
#[pyfunction]
pub(crate) fn hint_losses(
    py: Python<'_>,
    batch: Points,
    logits: Vec<(String, Bound<'_, PyAny>)>,
) -> Result<Vec<(String, f64)>, Error> {
    let logits = logits.iter().map(|(name, array)| Ok((name, array_from_py(name, array)?))).collect::<Result<Vec<_>, Error>>()?;
    detached(py, || {
        let stages = [(Stage::Input, &batch.0), (Stage::Hint, &batch.1)];
        let probes = stages.iter().flat_map(|(stage, points)| points.0.iter().map(|point| point.probe(*stage)));
        let spec = Spec::try_from(probes.collect::<Vec<_>>())?;
        // No output is missing.
        let model_batch = ModelBatch::from_dense(&spec, &DenseBatch { outputs: Some(Vec::new()), ..batch.dense() })?;
        let mut of_hints = Vec::new();
        for (index, probe) in spec.iter().enumerate().filter(|(_, probe)| probe.stage == Stage::Hint) {
            let missing = || SettingError::NoLogits(probe.name.to_string());
            let (_, array) = logits.iter().find(|(name, _)| **name == probe.name).ok_or_else(missing)?;
            let expected: usize = model_batch.shape(index, model_batch.samples()).iter().product();
            let values = f32s(array);
            let steps = array.shape.first().copied().unwrap_or(0);
            if values.len() != steps * expected {
                return Err(SettingError::Logits { name: probe.name.to_string(), found: array.shape.clone() }.into());
            }
            of_hints.push((index, values));
        }
        let found = losses::hint_losses(&model_batch, &of_hints);
        Ok(of_hints.iter().map(|(index, _)| spec[*index].name.to_string()).zip(found).collect())
    })
}

/// Outputs, logits of hints, hidden states.
type PyPrediction<'py> = (Vec<(String, Bound<'py, PyAny>)>, Vec<(String, Bound<'py, PyAny>)>, Option<Bound<'py, PyAny>>);

/// What names of modules contain that belong to a processor, in dm-clrs.
const PROCESSOR_TAG: &str = "clrs_processor";

impl Model {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic or an interruption leaves the parameters of the last complete update.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn spec(&self, task: usize) -> Result<Spec, Error> {
        let tasks = self.tasks.len();
        Ok(self.tasks.get(task).ok_or(SettingError::NoTask { task, tasks })?.spec.clone())
    }

    fn batch(&self, task: usize, points: &Points) -> Result<ModelBatch, Error> {
        Ok(ModelBatch::from_dense(&self.spec(task)?, &points.dense())?)
    }

    /// Gradients with zeros where the loss does not depend on a parameter.
    fn dense_gradients(&self, mut gradients: Vec<Option<Vec<f32>>>) -> Vec<NamedArray> {
        named(self.model.parameters(), |index, parameters| {
            gradients[index].take().unwrap_or_else(|| vec![0.0; parameters.values()[index].len()])
        })
    }
}

fn entry((name, stage, location, kind, classes): &PyProbe) -> SpecEntry<'_> {
    SpecEntry { name, stage, location, kind, classes: *classes }
}

fn build(tasks: &[Task], config: &ModelConfig, adam: AdamConfig, seed: u32) -> Result<TrainableModel, Error> {
    let (network, parameters) = Network::new(tasks.to_vec(), config, seed)?;
    Ok(TrainableModel::new(network, parameters, adam, &Device::flex()))
}

/// The default configuration with some fields replaced.
fn model_config(fields: &str) -> Result<ModelConfig, Error> {
    let mut config = serde_json::to_value(ModelConfig::default()).map_err(SettingError::Config)?;
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(fields).map_err(SettingError::Config)?;
    for (name, value) in fields {
        config[name.as_str()] = value;
    }
    Ok(serde_json::from_value(config).map_err(SettingError::Config)?)
}

fn streams(noise: Noise) -> impl Fn(usize) -> Option<RandomState> + Sync {
    let streams = noise.map(|(seed, update)| update_streams(seed, update));
    move |index| streams.as_ref().and_then(|streams| streams(index))
}

/// Module and name of a parameter in dm-clrs; ours where dm-clrs does not have it.
fn path(parameter: &Parameter) -> (&str, &str) {
    let ours = || parameter.name.rsplit_once('/').unwrap_or(("", &parameter.name));
    parameter.dm_clrs_path().unwrap_or_else(ours)
}

fn joined((module, name): (&str, &str)) -> String {
    format!("{module}/{name}")
}

pub(crate) struct NamedArray {
    module: String,
    name: String,
    array: Array,
}

/// Values of all parameters.
pub(crate) fn named(parameters: &Parameters, mut values: impl FnMut(usize, &Parameters) -> Vec<f32>) -> Vec<NamedArray> {
    let entry = |(index, parameter): (usize, &Parameter)| {
        let (module, name) = path(parameter);
        let array = Array { shape: parameter.shape.clone(), data: ArrayData::F32(values(index, parameters)) };
        NamedArray { module: module.into(), name: name.into(), array }
    };
    parameters.list().iter().enumerate().map(entry).collect()
}

pub(crate) fn to_py(py: Python<'_>, values: Vec<NamedArray>) -> Vec<Named<'_>> {
    values.into_iter().map(|NamedArray { module, name, array }| (module, name, array_to_py(py, array))).collect()
}

/// Arrays by `MODULE/NAME`.
fn tensors(values: &[Named<'_>]) -> Result<TensorFile, Error> {
    let mut file = TensorFile::default();
    for (module, name, array) in values {
        let array = array_from_py(&joined((module, name)), array)?;
        file.tensors.insert(joined((module, name)), (array.shape.clone(), f32s(&array)));
    }
    Ok(file)
}

#[expect(clippy::cast_possible_truncation, reason = "networks compute in f32")]
fn f32s(array: &Array) -> Vec<f32> {
    match &array.data {
        ArrayData::F64(values) => values.iter().map(|&value| value as f32).collect(),
        ArrayData::F32(values) => values.clone(),
        ArrayData::I64(values) => values.iter().map(|&value| value as f32).collect(),
    }
}

/// Inputs, hints, outputs and lengths of a batch; features have no outputs.
pub(crate) struct Points(DataPoints, DataPoints, Option<DataPoints>, Lengths);

impl<'py> FromPyObject<'_, 'py> for Points {
    type Error = PyErr;

    // Derived, it would hide the errors of its fields behind one of its own.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Points> {
        let (inputs, hints, outputs, lengths) = object.extract()?;
        Ok(Points(inputs, hints, outputs, lengths))
    }
}

fn arrays(points: &DataPoints) -> Vec<DenseArray<'_>> {
    points.0.iter().map(|point| DenseArray::new(&point.name, &point.array)).collect()
}

impl Points {
    /// Runs a network on the batch. If that may take long, a thread listens for Ctrl-C; creating it would slow short steps down.
    fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        /// Messages between nodes in all steps, of which each takes about a microsecond.
        const MAX_MESSAGES: usize = 1 << 18;
        let Points(inputs, hints, _, lengths) = self;
        let axis = |points: &DataPoints, axis| points.0.iter().filter_map(|point| point.array.shape.get(axis).copied()).max();
        let (nodes, steps) = (axis(inputs, 1).unwrap_or(1), axis(hints, 0).unwrap_or(1));
        let messages = [nodes, nodes, steps].into_iter().fold(lengths.0.len(), usize::saturating_mul);
        if messages <= MAX_MESSAGES { detached(py, work) } else { interruptible(py, work) }
    }

    pub(crate) fn dense(&self) -> DenseBatch<'_> {
        let Points(inputs, hints, outputs, lengths) = self;
        DenseBatch {
            inputs: arrays(inputs),
            hints: arrays(hints),
            outputs: outputs.as_ref().map(arrays),
            lengths: lengths.0.clone(),
        }
    }
}

/// Inputs, hints and outputs of a chunk, and the marks of first and last rows.
pub(crate) struct ChunkPoints(DataPoints, DataPoints, DataPoints, Marks, Marks);

impl<'py> FromPyObject<'_, 'py> for ChunkPoints {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<ChunkPoints> {
        let (inputs, hints, outputs, is_first, is_last) = object.extract()?;
        Ok(ChunkPoints(inputs, hints, outputs, is_first, is_last))
    }
}

/// Marks `[L, B]` of rows.
struct Marks(Array);

impl<'py> FromPyObject<'_, 'py> for Marks {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Marks> {
        Ok(Marks(array_from_py("is_first, is_last", &object)?))
    }
}

impl Marks {
    fn to_bools(&self) -> Vec<bool> {
        self.0.to_f64().iter().map(|mark| *mark != 0.0).collect()
    }
}

impl ChunkPoints {
    fn dense(&self) -> DenseChunk<'_> {
        let ChunkPoints(inputs, hints, outputs, is_first, is_last) = self;
        let (first, last) = (&is_first.0.shape, &is_last.0.shape);
        DenseChunk {
            inputs: arrays(inputs),
            hints: arrays(hints),
            outputs: arrays(outputs),
            lanes: if first == last && first.len() == 2 { first[1] } else { 0 },
            is_first: is_first.to_bools(),
            is_last: is_last.to_bools(),
        }
    }
}
