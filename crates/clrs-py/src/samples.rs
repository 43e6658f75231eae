//! Samples as the engine stores them: typed and ragged.

use std::path::PathBuf;

use clrs::batch::column_of;
use clrs::clrs30::{Split, Version};
use clrs::sampling::{FixedSet, Sampler};
use clrs::{Array, Batch, Cells, Column, Kind, Probe, Stage, Trace, Trajectories, Trajectory};
use clrs_store::generate::DatasetSpec;
use clrs_store::{Header, OnExisting, Provenance, Set, SetWriter, tfds};
use numpy::IntoPyArray;
use numpy::ndarray::{ArrayD, IxDyn};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::find;
use crate::convert::{DataPoint, array_from_py, batch, feedback_to_py, sampler_options, spec_to_py};
use crate::error::Error;
use crate::parallel::detached;

/// Samples of one algorithm.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Samples {
    #[pyo3(get)]
    algorithm: String,
    trajectories: Trajectories,
}

#[pymethods]
impl Samples {
    /// Draws problems of a size, and runs the algorithm on them.
    #[staticmethod]
    fn draw(
        py: Python<'_>,
        algorithm: &str,
        size: usize,
        count: usize,
        seed: u32,
        options: &Bound<'_, PyDict>,
    ) -> Result<Samples, Error> {
        let sampler = Sampler::new(find(algorithm)?, size, seed, &sampler_options(options)?)?;
        let trajectories = detached(py, || Ok(FixedSet::new(sampler, count)?.into_trajectories()))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// The samples of a dense batch, of any algorithm.
    #[staticmethod]
    fn from_feedback(
        py: Python<'_>,
        algorithm: &str,
        inputs: Vec<DataPoint>,
        hints: Vec<DataPoint>,
        outputs: Vec<DataPoint>,
        lengths: Vec<f64>,
    ) -> Result<Samples, Error> {
        let batch = batch(inputs, hints, outputs, lengths)?;
        let trajectories = detached(py, || Ok(batch.to_trajectories()?))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// Reads a set of the native store.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, algorithm: &str, split: &str) -> Result<Samples, Error> {
        let trajectories = detached(py, || Ok(Set::open(&path, algorithm, split)?.read_all()?))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// Reads a set of a TFDS directory, in the order of its records.
    #[staticmethod]
    fn read_tfds(py: Python<'_>, root: PathBuf, algorithm: &str, split: &str) -> Result<Samples, Error> {
        let found = find(algorithm)?;
        let trajectories = detached(py, || Ok(tfds::read(&root, found, split)?))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// Generates a set of the benchmark, such as `clrs30` or `clrs30@1.0.0`.
    #[staticmethod]
    fn benchmark(py: Python<'_>, version: &str, algorithm: &str, split: &str) -> Result<Samples, Error> {
        let version: Version = version.parse()?;
        let set = version.set(find(algorithm)?, split.parse::<Split>()?);
        let DatasetSpec { spec, size, samples, seed, sampler_options, algorithm: found, .. } =
            DatasetSpec::of_benchmark(version, set);
        let sampler = Sampler::new(found, size, seed, &sampler_options)?;
        let trajectories = detached(py, || Ok(FixedSet::new(sampler, samples)?.into_trajectories().with_spec(&spec)))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// The samples as TFDS records of a split have them: in their order, and with scalars rounded to float32.
    fn records(&self, py: Python<'_>, split: &str) -> Result<Samples, Error> {
        let trajectories = detached(py, || Ok(tfds::records_of(&self.trajectories, split)))?;
        Ok(Samples { algorithm: self.algorithm.clone(), trajectories })
    }

    /// Writes the samples as a set of the native store, and returns its path.
    fn write(&self, py: Python<'_>, directory: PathBuf, split: &str, replace: bool) -> Result<PathBuf, Error> {
        let header = Header {
            name: format!("{}_{split}", self.algorithm),
            algorithm: self.algorithm.clone(),
            max_nodes: self.trajectories.iter().map(|sample| sample.nodes()).max().unwrap_or(1),
            provenance: Provenance { samples: self.trajectories.len() as u64, ..Provenance::default() },
            spec: self.trajectories.spec().clone(),
        };
        let path = directory.join(header.file_name());
        let on_existing = if replace { OnExisting::Replace } else { OnExisting::Fail };
        detached(py, || {
            clrs_store::create_directory(&directory)?;
            let mut writer = SetWriter::create(&path, &header, on_existing)?;
            writer.write(&self.trajectories)?;
            writer.finish()?;
            Ok(())
        })?;
        Ok(path)
    }

    /// The probes.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        spec_to_py(py, self.trajectories.spec())
    }

    fn __len__(&self) -> usize {
        self.trajectories.len()
    }

    /// Number of nodes of a sample.
    fn nodes(&self, index: usize) -> PyResult<usize> {
        Ok(self.sample(index)?.nodes())
    }

    /// Number of steps of a sample.
    fn steps(&self, index: usize) -> PyResult<usize> {
        Ok(self.sample(index)?.steps())
    }

    /// Largest number of steps of any sample.
    #[getter]
    fn max_steps(&self) -> usize {
        self.trajectories.max_steps()
    }

    /// The values of a probe of a sample, in the types that the engine stores them in: float64 for scalars, int32 for nodes (a
    /// one-hot mask is one node), int8 for masks and classes. Hints have a leading axis of steps.
    fn values<'py>(&self, py: Python<'py>, index: usize, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let sample = self.sample(index)?;
        let (probe, cells) =
            sample.iter().find(|(probe, _)| probe.name == name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(values_to_py(py, probe, cells, sample))
    }

    /// Samples of one size as a dense batch, padded to at least `min_steps` steps. Without indices, all of them.
    #[pyo3(signature = (indices, min_steps))]
    fn feedback<'py>(&self, py: Python<'py>, indices: Option<Vec<usize>>, min_steps: usize) -> Result<Bound<'py, PyAny>, Error> {
        let indices = indices.unwrap_or_else(|| (0..self.trajectories.len()).collect());
        let samples = indices.into_iter().map(|index| self.sample(index)).collect::<PyResult<Vec<_>>>()?;
        let batch = detached(py, || Ok(Batch::new(&samples, min_steps)?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// Why outputs of a sample are incorrect: its own, or others, by name. `None` if they are correct.
    #[pyo3(signature = (index, outputs))]
    fn check(&self, index: usize, outputs: Option<&Bound<'_, PyDict>>) -> Result<Option<String>, Error> {
        let sample = self.sample(index)?;
        let columns = match outputs {
            None => sample.stage(Stage::Output).into_iter().map(Cells::to_column).collect(),
            Some(outputs) => columns_of(sample, outputs)?,
        };
        let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        match find(&self.algorithm)?.check(sample.nodes(), &sample.stage(Stage::Input), &cells) {
            Ok(()) => Ok(None),
            Err(clrs::CheckError::Failed(failure)) => Ok(Some(failure.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// A sample as the JSON of a trace. Samples of algorithms that are not built in have neither a problem nor source lines.
    fn trace(&self, index: usize) -> Result<String, Error> {
        let sample = self.sample(index)?;
        let trace = match find(&self.algorithm) {
            Ok(algorithm) if sample.spec().same_probes(&algorithm.spec().into()) => {
                Trace::record(algorithm, &algorithm.problem_json(sample.nodes(), &sample.stage(Stage::Input))?)?
            }
            _ => Trace::new(&self.algorithm, serde_json::Value::Null, sample, &[]),
        };
        Ok(serde_json::to_string(&trace)?)
    }
}

impl Samples {
    fn sample(&self, index: usize) -> PyResult<Trajectory<'_>> {
        if index >= self.trajectories.len() {
            return Err(PyIndexError::new_err(format!("sample {index} of {}", self.trajectories.len())));
        }
        Ok(self.trajectories.get(index))
    }
}

/// Runs an algorithm on a problem in JSON.
#[pyfunction]
pub(crate) fn record(py: Python<'_>, algorithm: &str, problem: &str) -> Result<Samples, Error> {
    let found = find(algorithm)?;
    let trajectories = detached(py, || {
        let mut recorder = found.recorder();
        found.record_json(problem, &mut recorder)?;
        Ok(recorder.into_trajectories())
    })?;
    Ok(Samples { algorithm: algorithm.into(), trajectories })
}

/// Runs an algorithm on a problem in JSON, and returns a dense batch of one sample.
#[pyfunction]
pub(crate) fn run<'py>(py: Python<'py>, algorithm: &str, problem: &str) -> Result<Bound<'py, PyAny>, Error> {
    record(py, algorithm, problem)?.feedback(py, None, 0)
}

fn values_to_py<'py>(py: Python<'py>, probe: &Probe, cells: Cells<'_>, sample: Trajectory<'_>) -> Bound<'py, PyAny> {
    fn owned<'py, T: numpy::Element>(py: Python<'py>, shape: &[usize], values: Vec<T>) -> Bound<'py, PyAny> {
        ArrayD::from_shape_vec(IxDyn(shape), values).expect("rows of a probe").into_pyarray(py).into_any()
    }

    let nodes = sample.nodes();
    let mut shape = if probe.stage == Stage::Hint { vec![sample.steps()] } else { Vec::new() };
    if probe.kind != Kind::MaskOne {
        shape.extend(match probe.location {
            clrs::Location::Node => vec![nodes],
            clrs::Location::Edge => vec![nodes, nodes],
            clrs::Location::Graph => Vec::new(),
        });
    }
    match cells {
        Cells::Scalar(cells) => owned(py, &shape, cells.to_vec()),
        Cells::Node(cells) => owned(py, &shape, cells.iter().map(|&node| node.cast_signed()).collect()),
        Cells::Class(cells) => owned(py, &shape, cells.to_vec()),
    }
}

/// Outputs of a sample from arrays by name: dense ones, or as [`Samples::values`] returns them.
fn columns_of(sample: Trajectory<'_>, outputs: &Bound<'_, PyDict>) -> Result<Vec<Column>, Error> {
    let probes = sample.spec().iter().filter(|probe| probe.stage == Stage::Output);
    let column = |probe: &Probe| {
        let invalid = |reason: &str| Error::DataPoint { name: probe.name.to_string(), reason: reason.into() };
        let value = outputs.get_item(&*probe.name)?.ok_or_else(|| invalid("this output is missing"))?;
        let array: Array = array_from_py(&value)?;
        let values = array.to_f64();
        let expected: usize = clrs::batch::row_shape(probe, sample.nodes()).iter().product();
        let column = if values.len() == expected {
            column_of(probe, sample.nodes(), &values)
        } else if values.len() == probe.width(sample.nodes()) {
            compact_column(probe.kind, &values)
        } else {
            return Err(invalid(&format!("{} values, expected {expected}", values.len())));
        };
        column.ok_or_else(|| invalid("a value is invalid for its type"))
    };
    probes.map(column).collect()
}

/// Nodes of one-hot masks, and classes.
fn compact_column(kind: Kind, values: &[f64]) -> Option<Column> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared afterwards")]
    match kind {
        Kind::MaskOne => {
            let node = |&value: &f64| (f64::from(value as u32) == value).then_some(value as u32);
            values.iter().map(node).collect::<Option<_>>().map(Column::Node)
        }
        Kind::Categorical { .. } => {
            let class = |&value: &f64| (f64::from(value as i8) == value).then_some(value as i8);
            values.iter().map(class).collect::<Option<_>>().map(Column::Class)
        }
        _ => None,
    }
}
