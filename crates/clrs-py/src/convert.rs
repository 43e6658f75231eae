//! Conversions between values of the engine and Python objects: arrays, `DataPoint`s, specs, feedback, sampler options.

use clrs::{Array, ArrayData, Batch, DType, Kind, Location, Probe, SamplerOptions, Spec, Stage};
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{Element, IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyException;
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
/// are converted: booleans and integers to int64, other real numbers to float64. `name` is for errors.
pub(crate) fn array_from_py(name: &str, object: &Bound<'_, PyAny>) -> Result<Array, Error> {
    fn copy<T: Element + Copy>(array: &Bound<'_, PyAny>) -> Option<Vec<T>> {
        let array = array.cast::<PyArrayDyn<T>>().ok()?;
        let array = array.try_readonly().ok()?;
        // `as_slice` also succeeds for arrays in the order of Fortran, and has their values in that order.
        let values = array.as_slice().ok().filter(|_| array.is_c_contiguous());
        Some(values.map_or_else(|| array.as_array().iter().copied().collect(), <[T]>::to_vec))
    }
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let invalid = |reason: String| Error::DataPoint { name: name.into(), reason };
    let asarray = ASARRAY.import(py, "numpy", "asarray")?;
    let array = asarray.call1((object,)).map_err(|error| {
        unless_interrupted(py, error, || invalid(format!("{} is not an array of numbers", type_name_of(object))))
    })?;
    let shape = array.cast::<PyUntypedArray>().map_err(PyErr::from)?.shape().to_vec();
    let data = |array: &Bound<'_, PyAny>| {
        let f64s = || copy(array).map(ArrayData::F64);
        let f32s = || copy(array).map(ArrayData::F32);
        f64s().or_else(f32s).or_else(|| copy(array).map(ArrayData::I64))
    };
    if let Some(data) = data(&array) {
        return Ok(Array { shape, data });
    }
    let dtype = array.getattr(intern!(py, "dtype"))?;
    let kind: String = dtype.getattr(intern!(py, "kind"))?.extract()?;
    let target = match &*kind {
        "b" | "i" | "u" => "int64",
        // Floats, and those of other packages, such as bfloat16.
        "f" | "V" => "float64",
        _ => return Err(invalid(format!("an array of {dtype} is not an array of real numbers"))),
    };
    let converted = array.call_method1(intern!(py, "astype"), (target,));
    let data = converted.ok().as_ref().and_then(data);
    Ok(Array { shape, data: data.ok_or_else(|| invalid(format!("an array of {dtype} is not an array of real numbers")))? })
}

/// An error in place of an exception that Python code raised; Ctrl-C stays what it is.
fn unless_interrupted(py: Python<'_>, exception: PyErr, error: impl FnOnce() -> Error) -> Error {
    if exception.is_instance_of::<PyException>(py) { error() } else { exception.into() }
}

/// The type of a Python object, for errors.
fn type_name_of(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "the object".into(), |name| name.to_string())
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
        let not_a_point = |exception| {
            unless_interrupted(py, exception, || Error::NotData { expected: "a DataPoint", found: type_name_of(&object) })
        };
        let text = |attribute| object.getattr(attribute)?.extract::<String>();
        let name = text(intern!(py, "name")).map_err(not_a_point)?;
        let location = text(intern!(py, "location")).map_err(not_a_point)?;
        let kind = text(intern!(py, "type_")).map_err(not_a_point)?;
        let array = array_from_py(&name, &object.getattr(intern!(py, "data")).map_err(not_a_point)?)?;
        let location = parse_location(&name, &location)?;
        let kind = parse_type(&name, &kind, array.shape.last().copied().unwrap_or(0))?;
        Ok(DataPoint { name, location, kind, array })
    }
}

/// Any iterable of [`DataPoint`]s.
#[derive(Default)]
pub(crate) struct DataPoints(pub(crate) Vec<DataPoint>);

impl<'py> FromPyObject<'_, 'py> for DataPoints {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<DataPoints> {
        let not_points = |exception| {
            let error = || Error::NotData { expected: "a list of DataPoints", found: type_name_of(&object) };
            unless_interrupted(object.py(), exception, error)
        };
        let points = object.try_iter().map_err(not_points)?;
        Ok(DataPoints(points.map(|point| point?.extract()).collect::<PyResult<_>>()?))
    }
}

/// Numbers of steps of samples: anything that is an array of real numbers.
pub(crate) struct Lengths(pub(crate) Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Lengths {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Lengths> {
        Ok(Lengths(array_from_py("lengths", &object)?.to_f64().into_owned()))
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
pub(crate) fn batch(inputs: DataPoints, hints: DataPoints, outputs: DataPoints, lengths: Vec<f64>) -> Result<Batch, Error> {
    let stages = [(Stage::Input, inputs), (Stage::Output, outputs), (Stage::Hint, hints)];
    let points = stages.into_iter().flat_map(|(stage, points)| points.0.into_iter().map(move |point| (stage, point)));
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
        let found = || type_name_of(&value);
        let name: String =
            name.extract().map_err(|_| Error::OptionType { name: "options".into(), found: type_name_of(&name) })?;
        let text = option_text(&value).ok_or_else(|| Error::OptionType { name: name.clone(), found: found() })?;
        options.push(name, text)?;
    }
    Ok(options)
}

fn option_text(value: &Bound<'_, PyAny>) -> Option<String> {
    if value.is_none() {
        return Some("auto".into());
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Some(value.is_true().to_string());
    }
    if let Ok(text) = value.extract::<String>() {
        return Some(text);
    }
    if let Ok(integer) = value.extract::<i64>() {
        return Some(integer.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Some(number.to_string());
    }
    let numbers: Vec<f64> = value.extract().ok()?;
    Some(numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
}
