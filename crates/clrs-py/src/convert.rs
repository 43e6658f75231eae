//! Conversions between values of the engine and Python objects: arrays, `DataPoint`s, specs, feedback, sampler options.

use clrs::{Array, ArrayData, Batch, DType, Kind, Location, Probe, SamplerOptions, Spec, Stage};
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyType};

use crate::error::Error;

/// Hands an array to `NumPy`, which becomes the owner of its buffer.
pub(crate) fn array_to_py(py: Python<'_>, Array { shape, data }: Array) -> Bound<'_, PyAny> {
    fn owned<T: Element>(py: Python<'_>, shape: Vec<usize>, data: Vec<T>) -> Bound<'_, PyAny> {
        let array = ArrayD::from_shape_vec(IxDyn(&shape), data).expect("the shape of an array matches its data");
        array.into_pyarray(py).into_any()
    }
    match data {
        ArrayData::F64(data) => owned(py, shape, data),
        ArrayData::F32(data) => owned(py, shape, data),
        ArrayData::I64(data) => owned(py, shape, data),
    }
}

/// Copies anything that `numpy.asarray` accepts, arrays of JAX and `PyTorch` too. Types other than float64, float32 and int64
/// are converted: booleans and integers to int64, other numbers to float64.
pub(crate) fn array_from_py(object: &Bound<'_, PyAny>) -> Result<Array, Error> {
    fn copy<T: Element + Copy>(array: &Bound<'_, PyAny>) -> Option<Vec<T>> {
        let array = array.cast::<PyArrayDyn<T>>().ok()?;
        let array = array.try_readonly().ok()?;
        Some(array.as_slice().map_or_else(|_| array.as_array().iter().copied().collect(), <[T]>::to_vec))
    }
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let asarray = ASARRAY.import(py, "numpy", "asarray")?;
    let array = asarray.call1((object,))?;
    let shape = array.cast::<PyUntypedArray>().map_err(PyErr::from)?.shape().to_vec();
    let data = |array: &Bound<'_, PyAny>| {
        let f64s = || copy(array).map(ArrayData::F64);
        let f32s = || copy(array).map(ArrayData::F32);
        f64s().or_else(f32s).or_else(|| copy(array).map(ArrayData::I64))
    };
    if let Some(data) = data(&array) {
        return Ok(Array { shape, data });
    }
    let kind: String = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "kind"))?.extract()?;
    let dtype = if ["b", "i", "u"].contains(&kind.as_str()) { "int64" } else { "float64" };
    let array = array.call_method1(intern!(py, "astype"), (dtype,))?;
    let data = data(&array).ok_or_else(|| Error::Internal("an array of numbers could not be converted".into()))?;
    Ok(Array { shape, data })
}

/// The name of a kind in dm-clrs's `Type`.
pub(crate) fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Scalar => "scalar",
        Kind::Mask => "mask",
        Kind::MaskOne => "mask_one",
        Kind::Categorical { .. } => "categorical",
        Kind::Pointer => "pointer",
        Kind::Permutation => "should_be_permutation",
        Kind::CyclicPermutation => "permutation_pointer",
    }
}

/// A spec as in `SPECS`: name to stage, location and type.
pub(crate) fn spec_to_py<'py>(py: Python<'py>, spec: &Spec) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for probe in spec.iter() {
        let [stage, location, kind] =
            [probe.stage.name(), probe.location.name(), type_name(probe.kind)].map(|name| PyString::intern(py, name));
        dict.set_item(PyString::intern(py, &probe.name), (stage, location, kind))?;
    }
    Ok(dict)
}

/// A class of the package, which this module creates instances of.
macro_rules! class {
    ($function:ident, $module:literal, $name:literal) => {
        fn $function(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            CLASS.import(py, $module, $name)
        }
    };
}
class!(data_point_class, "clrs_rs.probing", "DataPoint");
class!(features_class, "clrs_rs.samplers", "Features");
class!(feedback_class, "clrs_rs.samplers", "Feedback");

/// A `DataPoint` of a probe.
fn data_point_to_py<'py>(py: Python<'py>, probe: &Probe, array: Array) -> PyResult<Bound<'py, PyAny>> {
    let names = [&*probe.name, probe.location.name(), type_name(probe.kind)].map(|name| PyString::intern(py, name));
    let [name, location, kind] = names;
    data_point_class(py)?.call1((name, location, kind, array_to_py(py, array)))
}

/// Inputs, hints and outputs as lists of `DataPoint`s.
pub(crate) fn data_points_to_py<'py>(py: Python<'py>, spec: &Spec, arrays: Vec<Array>) -> PyResult<[Bound<'py, PyList>; 3]> {
    let [inputs, hints, outputs] = [(); 3].map(|()| PyList::empty(py));
    for (probe, array) in spec.iter().zip(arrays) {
        let list = match probe.stage {
            Stage::Input => &inputs,
            Stage::Hint => &hints,
            Stage::Output => &outputs,
        };
        list.append(data_point_to_py(py, probe, array)?)?;
    }
    Ok([inputs, hints, outputs])
}

/// A batch as `Feedback`, with lists of `DataPoint`s as dm-clrs's samplers return them.
pub(crate) fn feedback_to_py(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyAny>> {
    let [inputs, hints, outputs] = data_points_to_py(py, &batch.spec, batch.arrays)?;
    let lengths = batch.lengths.into_pyarray(py);
    let features = features_class(py)?.call1((inputs, hints, lengths))?;
    feedback_class(py)?.call1((features, outputs))
}

/// A `DataPoint` from Python: ours, dm-clrs's, or any object with the same attributes.
pub(crate) struct DataPoint {
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) kind: Kind,
    pub(crate) array: Array,
}

impl<'py> FromPyObject<'_, 'py> for DataPoint {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<DataPoint> {
        let py = object.py();
        let text = |attribute| object.getattr(attribute)?.extract::<String>();
        let name = text(intern!(py, "name"))?;
        let array = array_from_py(&object.getattr(intern!(py, "data"))?)?;
        let location = parse_location(&name, &text(intern!(py, "location"))?)?;
        let kind = parse_type(&name, &text(intern!(py, "type_"))?, array.shape.last().copied().unwrap_or(0))?;
        Ok(DataPoint { name, location, kind, array })
    }
}

impl DataPoint {
    /// The probe of the values at a stage. Masks and classes may have cells that are masked out.
    pub(crate) fn probe(&self, stage: Stage) -> Probe {
        Probe {
            name: self.name.clone().into(),
            stage,
            location: self.location,
            kind: self.kind,
            masked: matches!(self.kind, Kind::Mask | Kind::Categorical { .. }),
            dtype: match self.array.data {
                ArrayData::F64(_) => DType::F64,
                ArrayData::F32(_) => DType::F32,
                ArrayData::I64(_) => DType::I64,
            },
            description: "".into(),
        }
    }
}

/// A batch from the parts of a `Feedback`.
pub(crate) fn batch(
    inputs: Vec<DataPoint>,
    hints: Vec<DataPoint>,
    outputs: Vec<DataPoint>,
    lengths: Vec<f64>,
) -> Result<Batch, Error> {
    let stages = [(Stage::Input, inputs), (Stage::Output, outputs), (Stage::Hint, hints)];
    let points = stages.into_iter().flat_map(|(stage, points)| points.into_iter().map(move |point| (stage, point)));
    let (probes, arrays) = points.map(|(stage, point)| (point.probe(stage), point.array)).unzip();
    // Sorted by stage already, so that arrays stay next to their probes.
    let spec = Spec::new(probes).map_err(clrs::spec::InvalidSpec::from)?;
    Ok(Batch { spec, arrays, lengths })
}

fn parse_location(name: &str, text: &str) -> Result<Location, Error> {
    let all = [Location::Node, Location::Edge, Location::Graph];
    all.into_iter().find(|location| location.name() == text).ok_or_else(|| unknown(name, "location", text))
}

/// The kind of a type of dm-clrs. The number of classes of a categorical is the length of its last axis.
pub(crate) fn parse_type(name: &str, text: &str, classes: usize) -> Result<Kind, Error> {
    let categorical = Kind::Categorical { classes };
    let all = [Kind::Scalar, Kind::Mask, Kind::MaskOne, categorical, Kind::Pointer, Kind::Permutation, Kind::CyclicPermutation];
    all.into_iter().find(|&kind| type_name(kind) == text).ok_or_else(|| unknown(name, "type", text))
}

fn unknown(name: &str, what: &str, text: &str) -> Error {
    Error::DataPoint { name: name.into(), reason: format!("`{text}` is not a supported {what}") }
}

/// Sampler options from keyword arguments: numbers, texts, sequences of numbers, and `None` for the default.
pub(crate) fn sampler_options(arguments: &Bound<'_, PyDict>) -> Result<SamplerOptions, Error> {
    let mut options = SamplerOptions::default();
    for (name, value) in arguments {
        let name: String = name.extract()?;
        options.push(name, option_text(&value)?)?;
    }
    Ok(options)
}

fn option_text(value: &Bound<'_, PyAny>) -> Result<String, Error> {
    if value.is_none() {
        return Ok("auto".into());
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true().to_string());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    if let Ok(integer) = value.extract::<i64>() {
        return Ok(integer.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.to_string());
    }
    let numbers: Vec<f64> = value.extract()?;
    Ok(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
}
