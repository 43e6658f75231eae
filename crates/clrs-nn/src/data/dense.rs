//! Dense arrays from outside, in the layout of dm-clrs: checked against the spec of a task, and converted to batches and chunks.

use std::borrow::Cow;

use clrs::batch::{Array, ArrayData, row_shape};
use clrs::spec::InvalidSpec;
use clrs::{DType, Kind, Location, Probe, Spec, Stage};

/// Elements of an array, in C order.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "NumPy's float64, float32 and int64")]
pub enum DenseValues<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    I64(&'a [i64]),
}

/// The array of one probe.
#[derive(Clone, Debug)]
pub struct DenseArray<'a> {
    /// Name of the probe.
    pub name: &'a str,
    /// Length of every axis.
    pub shape: Cow<'a, [usize]>,
    /// The elements.
    pub values: DenseValues<'a>,
}

/// Samples of one size: inputs and outputs `[B, ...]`, hints `[T, B, ...]`.
#[derive(Clone, Debug)]
pub struct DenseBatch<'a> {
    /// Arrays of all inputs.
    pub inputs: Vec<DenseArray<'a>>,
    /// Arrays of all hints.
    pub hints: Vec<DenseArray<'a>>,
    /// Arrays of all outputs. A network predicts without them, but has no loss.
    pub outputs: Option<Vec<DenseArray<'a>>>,
    /// Number of hint rows of each sample, without padding.
    pub lengths: Vec<f64>,
}

/// `C` rows of `B` lanes, in which samples follow one another: all arrays are `[C, B, ...]`.
#[derive(Clone, Debug)]
pub struct DenseChunk<'a> {
    /// Arrays of all inputs, repeated for every row of a sample.
    pub inputs: Vec<DenseArray<'a>>,
    /// Arrays of all hints.
    pub hints: Vec<DenseArray<'a>>,
    /// Arrays of all outputs, repeated for every row of a sample.
    pub outputs: Vec<DenseArray<'a>>,
    /// Number of lanes.
    pub lanes: usize,
    /// Whether a row is the first of its sample, `[C, B]`.
    pub is_first: Vec<bool>,
    /// Whether a row is the last of its sample, `[C, B]`.
    pub is_last: Vec<bool>,
}

/// A probe as a spec of dm-clrs describes it.
#[derive(Clone, Copy, Debug)]
pub struct SpecEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its stage, location and type, by name.
    pub stage: &'a str,
    /// Its location.
    pub location: &'a str,
    /// Its type.
    pub kind: &'a str,
    /// Length of the last axis of its array: the number of classes of a categorical.
    pub classes: usize,
}

/// Arrays or specs that do not describe samples of a task.
#[derive(Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum DenseError {
    #[error("`{probe}` has the unknown {what} `{value}`")]
    Unknown { probe: String, what: &'static str, value: String },
    #[error("`{0}` is a permutation that is neither a pointer nor a permutation pointer yet: apply `process_permutations` first")]
    UnprocessedPermutation(String),
    #[error("networks do not support the {location} `{probe}` of type {kind}", location = .location.name(), kind = .kind.dm_clrs_name())]
    Unsupported { probe: String, location: Location, kind: Kind },
    #[error(transparent)]
    Spec(#[from] InvalidSpec),
    #[error("the {stage} `{probe}` is missing", stage = .stage.name())]
    Missing { stage: Stage, probe: String },
    #[error("the {stage} `{probe}` is not in the spec, or occurs twice", stage = .stage.name())]
    Unexpected { stage: Stage, probe: String },
    #[error("`{probe}` has shape {found:?}, expected {expected:?} for {layout}")]
    Shape { probe: String, found: Vec<usize>, expected: Vec<usize>, layout: Layout },
    #[error("`{probe}` has {found} elements, expected {expected}")]
    Elements { probe: String, found: usize, expected: usize },
    #[error("no input belongs to nodes or edges: the number of nodes is unknown")]
    NoNodes,
    #[error("a batch needs at least one sample with one node")]
    Empty,
    #[error("sample {sample} has length {length}, expected an integer from 1 to {rows}, the number of hint rows")]
    Length { sample: usize, length: f64, rows: usize },
    #[error("`{probe}` contains {value}, expected a node from 0 to {last}")]
    Pointer { probe: String, value: f32, last: usize },
    #[error("a chunk needs at least 2 rows of at least 1 lane, and a mark for each")]
    Chunk,
    #[error("the chunk has {found:?} lanes and nodes, the chunk before it had {expected:?}")]
    OtherLanes { found: [usize; 2], expected: [usize; 2] },
}

/// Sizes that all arrays of a batch share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Layout {
    /// Number of samples or lanes, `B`.
    pub samples: usize,
    /// Number of nodes, `N`.
    pub nodes: usize,
    /// Number of rows of hints, or of everything in a chunk.
    pub rows: usize,
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} samples of {} nodes and {} rows", self.samples, self.nodes, self.rows)
    }
}

/// The spec of a task, from the entries of a spec of dm-clrs.
///
/// dm-clrs's specs do not tell which masks have cells that are masked out (-1), so all may.
///
/// # Errors
/// If a name is unknown or not unique, or networks do not support the combination of location and type.
pub fn spec<'a>(entries: impl IntoIterator<Item = SpecEntry<'a>>) -> Result<Spec, DenseError> {
    let probe = |SpecEntry { name, stage, location, kind, classes }: SpecEntry<'_>| {
        let unknown = |what, value: &str| DenseError::Unknown { probe: name.into(), what, value: value.into() };
        let stage = Stage::from_name(stage).ok_or_else(|| unknown("stage", stage))?;
        let location = Location::from_name(location).ok_or_else(|| unknown("location", location))?;
        let kind = Kind::from_dm_clrs_name(kind, classes).ok_or_else(|| unknown("type", kind))?;
        if kind == Kind::Permutation {
            return Err(DenseError::UnprocessedPermutation(name.into()));
        }
        let masked = matches!(kind, Kind::Mask | Kind::Categorical { .. });
        let (name, description) = (Cow::Owned(name.to_string()), Cow::Borrowed(""));
        let probe = Probe { name, stage, location, kind, masked, dtype: DType::F64, description };
        if Spec::try_from(vec![probe.clone()]).is_err() {
            return Err(DenseError::Unsupported { probe: probe.name.into_owned(), location, kind });
        }
        Ok(probe)
    };
    let probes = entries.into_iter().map(probe).collect::<Result<Vec<_>, DenseError>>()?;
    Ok(Spec::try_from(probes)?)
}

impl<'a> From<&'a ArrayData> for DenseValues<'a> {
    fn from(data: &'a ArrayData) -> DenseValues<'a> {
        match data {
            ArrayData::F64(values) => DenseValues::F64(values),
            ArrayData::F32(values) => DenseValues::F32(values),
            ArrayData::I64(values) => DenseValues::I64(values),
        }
    }
}

impl DenseValues<'_> {
    /// Number of elements.
    fn count(self) -> usize {
        match self {
            DenseValues::F64(values) => values.len(),
            DenseValues::F32(values) => values.len(),
            DenseValues::I64(values) => values.len(),
        }
    }

    /// The elements with another type.
    #[expect(clippy::cast_possible_truncation, reason = "a probe of this type has integers, or values of f32")]
    fn to_data(self, dtype: DType) -> ArrayData {
        let f64s = || -> Vec<f64> {
            match self {
                DenseValues::F64(values) => values.to_vec(),
                DenseValues::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
                DenseValues::I64(values) => values.iter().map(|&value| value as f64).collect(),
            }
        };
        match dtype {
            DType::F64 => ArrayData::F64(f64s()),
            DType::F32 => ArrayData::F32(f64s().into_iter().map(|value| value as f32).collect()),
            DType::I64 => ArrayData::I64(f64s().into_iter().map(|value| value as i64).collect()),
        }
    }

    /// Appends some elements.
    #[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
    pub(super) fn append_to(self, range: std::ops::Range<usize>, into: &mut Vec<f32>) {
        match self {
            DenseValues::F64(values) => into.extend(values[range].iter().map(|&value| value as f32)),
            DenseValues::F32(values) => into.extend(&values[range]),
            DenseValues::I64(values) => into.extend(values[range].iter().map(|&value| value as f32)),
        }
    }
}

impl<'a> DenseArray<'a> {
    /// The array of a probe.
    pub fn new(name: &'a str, array: &'a Array) -> DenseArray<'a> {
        DenseArray { name, shape: Cow::Borrowed(&array.shape), values: DenseValues::from(&array.data) }
    }
}

impl<'a> DenseBatch<'a> {
    /// The arrays of a batch, with outputs.
    pub fn new(batch: &'a clrs::Batch) -> DenseBatch<'a> {
        let stage = |stage: Stage| {
            let of_stage = batch.iter().filter(move |(probe, _)| probe.stage == stage);
            of_stage.map(|(probe, array)| DenseArray::new(&probe.name, array)).collect()
        };
        DenseBatch {
            inputs: stage(Stage::Input),
            hints: stage(Stage::Hint),
            outputs: Some(stage(Stage::Output)),
            lengths: batch.lengths.clone(),
        }
    }

    /// Checks all arrays and returns those of the spec, in its order; `None` for outputs that are not given.
    pub(super) fn check(&self, spec: &Spec) -> Result<(Layout, Vec<Option<&DenseArray<'a>>>), DenseError> {
        let outputs = self.outputs.as_deref();
        let rows = self.hints.first().and_then(|hint| hint.shape.first().copied());
        let layout = Layout { samples: self.lengths.len(), nodes: nodes(spec, &self.inputs, 1)?, rows: rows.unwrap_or(0) };
        if layout.samples == 0 || layout.nodes == 0 {
            return Err(DenseError::Empty);
        }
        let is_valid = |length: f64| length >= 1.0 && length.fract() == 0.0 && (rows.is_none() || length <= layout.rows as f64);
        if let Some((sample, &length)) = self.lengths.iter().enumerate().find(|(_, length)| !is_valid(**length)) {
            return Err(DenseError::Length { sample, length, rows: layout.rows });
        }
        let stages = [(Stage::Input, Some(&self.inputs[..])), (Stage::Output, outputs), (Stage::Hint, Some(&self.hints))];
        Ok((layout, find(spec, stages, layout, |stage| stage == Stage::Hint)?))
    }
}

impl DenseBatch<'_> {
    /// The batch as one of a sampler, for transforms.
    ///
    /// # Errors
    /// As [`ModelBatch::from_dense`](super::batch::ModelBatch::from_dense). Outputs may be missing: they are zeros then, and permutations the
    /// order of the nodes.
    pub fn to_batch(&self, spec: &Spec) -> Result<clrs::Batch, DenseError> {
        let (layout, arrays) = self.check(spec)?;
        let array = |(probe, array): (&Probe, Option<&DenseArray<'_>>)| {
            let Some(array) = array else {
                let shape: Vec<usize> = [layout.samples].into_iter().chain(row_shape(probe, layout.nodes)).collect();
                let node = |cell: usize| (cell % layout.nodes).saturating_sub(1) as f64;
                let value = |cell| if probe.kind == Kind::Permutation { node(cell) } else { 0.0 };
                let values: Vec<f64> = (0..shape.iter().product()).map(value).collect();
                return Ok(Array { shape, data: DenseValues::F64(&values).to_data(probe.dtype) });
            };
            let mut values = Vec::new();
            array.values.append_to(0..array.values.count(), &mut values);
            ensure_nodes(probe, layout.nodes, &values)?;
            Ok(Array { shape: array.shape.to_vec(), data: array.values.to_data(probe.dtype) })
        };
        let arrays = spec.iter().zip(arrays).map(array).collect::<Result<_, DenseError>>()?;
        Ok(clrs::Batch { spec: spec.clone(), arrays, lengths: self.lengths.clone() })
    }
}

impl<'a> DenseChunk<'a> {
    /// Checks all arrays and returns those of the spec, in its order.
    pub(super) fn check(&self, spec: &Spec) -> Result<(Layout, Vec<&DenseArray<'a>>), DenseError> {
        let rows = self.is_first.len().checked_div(self.lanes).unwrap_or(0);
        if rows < 2 || self.is_first.len() != rows * self.lanes || self.is_last.len() != self.is_first.len() {
            return Err(DenseError::Chunk);
        }
        let layout = Layout { samples: self.lanes, nodes: nodes(spec, &self.inputs, 2)?, rows };
        if layout.nodes == 0 {
            return Err(DenseError::Empty);
        }
        let stages = [(Stage::Input, &self.inputs), (Stage::Output, &self.outputs), (Stage::Hint, &self.hints)];
        let stages = stages.map(|(stage, arrays)| (stage, Some(&arrays[..])));
        Ok((layout, find(spec, stages, layout, |_| true)?.into_iter().flatten().collect()))
    }
}

/// Number of nodes, from the first input of nodes or edges.
fn nodes(spec: &Spec, inputs: &[DenseArray<'_>], axis: usize) -> Result<usize, DenseError> {
    let of_nodes = |probe: &&Probe| probe.stage == Stage::Input && probe.location != Location::Graph;
    let probe = spec.iter().find(of_nodes).ok_or(DenseError::NoNodes)?;
    let missing = || DenseError::Missing { stage: Stage::Input, probe: probe.name.to_string() };
    let input = inputs.iter().find(|input| input.name == probe.name).ok_or_else(missing)?;
    input.shape.get(axis).copied().ok_or(DenseError::NoNodes)
}

/// The arrays of the spec, in its order. Arrays of stages with rows have an axis of rows in front.
fn find<'s, 'a>(
    spec: &Spec,
    stages: [(Stage, Option<&'s [DenseArray<'a>]>); 3],
    layout: Layout,
    has_rows: impl Fn(Stage) -> bool,
) -> Result<Vec<Option<&'s DenseArray<'a>>>, DenseError> {
    for (stage, arrays) in stages {
        let is_expected = |array: &DenseArray<'_>| spec.get(array.name).is_some_and(|probe| probe.stage == stage);
        let arrays = arrays.unwrap_or_default();
        let is_repeated = |index: usize| arrays[..index].iter().any(|other| other.name == arrays[index].name);
        let unexpected = (0..arrays.len()).find(|&index| !is_expected(&arrays[index]) || is_repeated(index));
        if let Some(index) = unexpected {
            return Err(DenseError::Unexpected { stage, probe: arrays[index].name.into() });
        }
    }
    let array = |probe: &Probe| {
        let Some(arrays) = stages.iter().find_map(|(stage, arrays)| arrays.filter(|_| *stage == probe.stage)) else {
            return Ok(None);
        };
        let missing = || DenseError::Missing { stage: probe.stage, probe: probe.name.to_string() };
        let array = arrays.iter().find(|array| array.name == probe.name).ok_or_else(missing)?;
        let rows = has_rows(probe.stage).then_some(layout.rows);
        let expected: Vec<usize> = rows.into_iter().chain([layout.samples]).chain(row_shape(probe, layout.nodes)).collect();
        if *array.shape != expected {
            let (probe, found) = (probe.name.to_string(), array.shape.to_vec());
            return Err(DenseError::Shape { probe, found, expected, layout });
        }
        let (found, expected) = (array.values.count(), expected.iter().product());
        if found != expected {
            return Err(DenseError::Elements { probe: probe.name.to_string(), found, expected });
        }
        Ok(Some(array))
    };
    spec.iter().map(array).collect()
}

/// Checks that the values of a pointer are nodes.
pub(super) fn ensure_nodes(probe: &Probe, nodes: usize, values: &[f32]) -> Result<(), DenseError> {
    if !matches!(probe.kind, Kind::Pointer | Kind::Permutation) {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "f32 represents the indices of any graph that fits into memory")]
    let is_node = |value: f32| value >= 0.0 && value < nodes as f32 && value.fract() == 0.0;
    match values.iter().find(|value| !is_node(**value)) {
        Some(&value) => Err(DenseError::Pointer { probe: probe.name.to_string(), value, last: nodes - 1 }),
        None => Ok(()),
    }
}
