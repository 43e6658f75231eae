//! Samples as the engine stores them: typed and ragged.

use std::path::PathBuf;

use clrs::batch::column_of;
use clrs::clrs30::{Split, Version};
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, Array, Batch, Cells, Column, Kind, Probe, Spec, Stage, Trace, Trajectories, Trajectory};
use clrs_store::generate::DatasetSpec;
use clrs_store::memory::ensure_batch_fits;
use clrs_store::{Header, OnExisting, Provenance, Set, SetWriter, tfds};
use clrs_web::document::Saved;
use clrs_web::page;
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::find;
use crate::convert::{DataPoints, Lengths, array_from_py, batch, feedback_to_py, sampler_options, spec_to_py};
use crate::error::Error;
use crate::parallel::{detached, interruptible};
use crate::sampling::ensure_set_fits;

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
        ensure_set_fits(py, algorithm, size, count, options)?;
        let trajectories = interruptible(py, || Ok(FixedSet::new(sampler, count)?.into_trajectories()))?;
        Ok(Samples { algorithm: algorithm.into(), trajectories })
    }

    /// The samples of a dense batch, of any algorithm.
    #[staticmethod]
    fn from_feedback(
        py: Python<'_>,
        algorithm: &str,
        inputs: DataPoints,
        hints: DataPoints,
        outputs: DataPoints,
        lengths: Lengths,
    ) -> Result<Samples, Error> {
        let batch = batch(inputs, hints, outputs, lengths.0)?;
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
        let trajectories = interruptible(py, || Ok(FixedSet::new(sampler, samples)?.into_trajectories().with_spec(&spec)))?;
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

    /// Pickles as columns of the engine's types, of all samples together.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<Pickled<'py>, Error> {
        let restore = py.get_type::<Samples>().getattr(intern!(py, "restore"))?;
        let extents = self.trajectories.iter().map(|sample| (sample.nodes(), sample.steps())).collect();
        let columns = self.trajectories.columns().iter().map(|column| column_to_py(py, column)).collect();
        Ok((restore, (self.algorithm.clone(), serde_json::to_string(self.trajectories.spec())?, extents, columns)))
    }

    /// Restores pickled samples: the spec as JSON, nodes and steps of each sample, and a column per probe.
    #[staticmethod]
    fn restore(
        algorithm: String,
        spec: &str,
        extents: Vec<(usize, usize)>,
        columns: Vec<Bound<'_, PyAny>>,
    ) -> Result<Samples, Error> {
        let damaged = |reason: &dyn std::fmt::Display| Error::Pickle(reason.to_string());
        let spec: Spec = serde_json::from_str(spec).map_err(|error| damaged(&error))?;
        let columns = columns.iter().map(column_from_py).collect::<Option<_>>().ok_or_else(|| damaged(&"not a column"))?;
        let trajectories = Trajectories::from_columns(spec, extents, columns).map_err(|error| damaged(&error))?;
        Ok(Samples { algorithm, trajectories })
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
        let batch = detached(py, || {
            ensure_batch_fits(&samples, min_steps)?;
            Ok(Batch::new(&samples, min_steps)?)
        })?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// Why outputs of a sample are incorrect: its own, or others, by name. `None` if they are correct. Without `native`, and for
    /// other probes than the algorithm's, only its own are.
    #[pyo3(signature = (index, outputs, native))]
    fn check(
        &self,
        py: Python<'_>,
        index: usize,
        outputs: Option<&Bound<'_, PyDict>>,
        native: bool,
    ) -> Result<Option<String>, Error> {
        let sample = self.sample(index)?;
        let columns = match outputs {
            None => sample.stage(Stage::Output).into_iter().map(Cells::to_column).collect(),
            Some(outputs) => columns_of(sample, outputs)?,
        };
        let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        detached(py, || {
            let algorithm = self.native(native);
            let stages = algorithm.and_then(|algorithm| Some((algorithm, stages_of(algorithm, sample, &cells)?)));
            let Some((algorithm, [inputs, outputs])) = stages else {
                let probes = sample.spec().iter().filter(|probe| probe.stage == Stage::Output);
                let differs = |(_, (cells, own)): &(&Probe, (&Cells<'_>, Cells<'_>))| **cells != *own;
                let found = probes.zip(cells.iter().zip(sample.stage(Stage::Output))).find(differs);
                return Ok(found.map(|(probe, _)| format!("`{}` differs from the output of the algorithm", probe.name)));
            };
            match algorithm.check(sample.nodes(), &inputs, &outputs) {
                Ok(()) => Ok(None),
                Err(clrs::CheckError::Failed(failure)) => Ok(Some(failure.to_string())),
                Err(error) => Err(error.into()),
            }
        })
    }

    /// A sample as the JSON of a trace. Without `native`, and for other probes than the algorithm's, it has neither a problem nor
    /// source lines.
    fn trace(&self, py: Python<'_>, index: usize, native: bool) -> Result<String, Error> {
        let sample = self.sample(index)?;
        interruptible(py, || {
            let problem = |algorithm: &dyn AnyAlgorithm| algorithm.problem_json(sample.nodes(), &sample.stage(Stage::Input));
            let same_probes = |algorithm: &&dyn AnyAlgorithm| sample.spec().same_probes(&algorithm.spec().into());
            let trace = match self.native(native).filter(same_probes) {
                Some(algorithm) => Trace::record(algorithm, &problem(algorithm)?)?,
                None => Trace::new(&self.algorithm, serde_json::Value::Null, sample, &[]),
            };
            Ok(serde_json::to_string(&trace)?)
        })
    }
}

impl Samples {
    pub(crate) fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The engine's algorithm of this name, if it is `native`: a function in Python may be registered under the name.
    fn native(&self, native: bool) -> Option<&'static dyn AnyAlgorithm> {
        find(&self.algorithm).ok().filter(|_| native)
    }

    pub(crate) fn sample(&self, index: usize) -> PyResult<Trajectory<'_>> {
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
    let work = || {
        let mut recorder = found.recorder();
        found.record_json(problem, &mut recorder)?;
        Ok(recorder.into_trajectories())
    };
    // Runs on small problems end before a user could interrupt them.
    let trajectories = if problem.len() < 4096 { detached(py, work)? } else { interruptible(py, work)? };
    Ok(Samples { algorithm: algorithm.into(), trajectories })
}

/// Runs an algorithm on a problem in JSON, and returns a dense batch of one sample.
#[pyfunction]
pub(crate) fn run<'py>(py: Python<'py>, algorithm: &str, problem: &str) -> Result<Bound<'py, PyAny>, Error> {
    record(py, algorithm, problem)?.feedback(py, None, 0)
}

/// A page of the explorer with a trace inside, which may have predictions; `trace` is its JSON.
#[pyfunction]
pub(crate) fn trace_page(py: Python<'_>, trace: &str) -> Result<String, Error> {
    detached(py, || {
        let trace: Trace = serde_json::from_str(trace)?;
        let saved = match find(&trace.algorithm) {
            Ok(algorithm) => Saved::new(algorithm, trace),
            Err(_) => Saved::unregistered(trace),
        };
        Ok(page::standalone(&saved))
    })
}

/// Inputs of a sample and the given outputs, in the order of the algorithm's probes; `None` if the sample has other probes.
/// Which cells may be masked out, and the type of dense arrays, make no difference to an algorithm.
fn stages_of<'s>(algorithm: &dyn AnyAlgorithm, sample: Trajectory<'s>, outputs: &[Cells<'s>]) -> Option<[Vec<Cells<'s>>; 2]> {
    let stage = |stage, cells: Vec<Cells<'s>>| -> Option<Vec<Cells<'s>>> {
        let found: Vec<_> = sample.spec().iter().filter(|probe| probe.stage == stage).zip(cells).collect();
        let expected: Vec<_> = algorithm.spec().iter().filter(|probe| probe.stage == stage).collect();
        let cells = |probe: &&Probe| found.iter().find(|(other, _)| other.same_layout(probe)).map(|(_, cells)| *cells);
        if found.len() == expected.len() { expected.iter().map(cells).collect() } else { None }
    };
    Some([stage(Stage::Input, sample.stage(Stage::Input))?, stage(Stage::Output, outputs.to_vec())?])
}

/// The function that restores samples, and its arguments: see [`Samples::restore`].
type Pickled<'py> = (Bound<'py, PyAny>, (String, String, Vec<(usize, usize)>, Vec<Bound<'py, PyAny>>));

fn column_to_py<'py>(py: Python<'py>, column: &Column) -> Bound<'py, PyAny> {
    match column {
        Column::Scalar(cells) => PyArray1::from_slice(py, cells).into_any(),
        Column::Node(cells) => PyArray1::from_slice(py, cells).into_any(),
        Column::Class(cells) => PyArray1::from_slice(py, cells).into_any(),
    }
}

fn column_from_py(array: &Bound<'_, PyAny>) -> Option<Column> {
    fn cells<T: numpy::Element + Clone>(array: &Bound<'_, PyAny>) -> Option<Vec<T>> {
        array.cast::<PyArray1<T>>().ok()?.try_readonly().ok()?.to_vec().ok()
    }
    let scalars = || cells(array).map(Column::Scalar);
    scalars().or_else(|| cells(array).map(Column::Node)).or_else(|| cells(array).map(Column::Class))
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
        let array: Array = array_from_py(&probe.name, &value)?;
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
