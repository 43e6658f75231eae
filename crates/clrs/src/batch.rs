//! Dense batches in the layout of dm-clrs: inputs and outputs `[B, ...]`, hints `[T, B, ...]` padded with zeros, and lengths.
//!
//! `B` is the number of samples, `T` the largest number of steps, and `...` is `[N]` for nodes, `[N, N]` for edges, and nothing
//! for graphs, with one more axis for the classes of a categorical.

use std::borrow::Cow;

use crate::column::{Cells, Column, MAX_NODES};
use crate::spec::{DType, Kind, Location, Probe, Spec, Stage};
use crate::trajectory::{Trajectories, TrajectoriesError, Trajectory};

/// A dense array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of every axis.
    pub shape: Vec<usize>,
    /// The elements in C order.
    pub data: ArrayData,
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "NumPy's float64, float32 and int64")]
pub enum ArrayData {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
}

impl Array {
    /// The elements as `f64`.
    pub fn to_f64(&self) -> Cow<'_, [f64]> {
        match &self.data {
            ArrayData::F64(data) => Cow::Borrowed(data),
            ArrayData::F32(data) => Cow::Owned(data.iter().map(|&x| f64::from(x)).collect()),
            ArrayData::I64(data) => Cow::Owned(data.iter().map(|&x| x as f64).collect()),
        }
    }
}

/// Samples of one size as dense arrays.
///
/// ```
/// use clrs::sampling::{FixedSet, Sampler};
/// use clrs::{Registry, SamplerOptions};
///
/// let bfs = Registry::builtin().find("bfs")?;
/// let set = FixedSet::new(Sampler::new(bfs, 16, 1, &SamplerOptions::default())?, 32)?;
/// let batch = set.all()?;
/// assert_eq!(batch.get("adj").expect("an input").shape, [32, 16, 16]);
/// assert_eq!(batch.get("pi_h").expect("a hint").shape[1..], [32, 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The probes, one per array.
    pub spec: Spec,
    /// Inputs, outputs and hints, in spec order.
    pub arrays: Vec<Array>,
    /// Number of hint steps of each sample, without padding.
    pub lengths: Vec<f64>,
}

/// Samples that do not form a batch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum BatchError {
    #[error("a batch needs at least one sample")]
    Empty,
    #[error("the samples of a batch must have the same size, found {0} and {1} nodes")]
    Sizes(usize, usize),
    #[error("{0} nodes; a sample has from 1 to {MAX_NODES}")]
    Nodes(usize),
    #[error("`{probe}` has shape {found:?}, expected {expected:?}")]
    Shape { probe: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("`{probe}` has an invalid value in sample {sample}")]
    Value { probe: String, sample: usize },
    #[error("sample {sample} has {length} steps, and hints have {steps}")]
    Length { sample: usize, length: String, steps: usize },
}

/// Where no hint limits the lengths of samples. Far above any algorithm, and small enough that sums of lengths do not overflow.
const MAX_STEPS_WITHOUT_HINTS: usize = 1 << 31;

impl Batch {
    /// Pads samples to the longest, and to at least `min_steps` steps.
    ///
    /// # Errors
    /// If there are no samples, or their sizes differ.
    pub fn new(samples: &[Trajectory<'_>], min_steps: usize) -> Result<Batch, BatchError> {
        let (spec, _) = same_size(samples)?;
        let arrays = (0..spec.len()).map(|index| Batch::array(samples, index, min_steps)).collect::<Result<_, _>>()?;
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        Ok(Batch { spec: spec.clone(), arrays, lengths })
    }

    /// The array of the probe at `index` of the spec. Avoids a complete batch, which takes gigabytes for a large set.
    ///
    /// # Errors
    /// As [`Batch::new`].
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn array(samples: &[Trajectory<'_>], index: usize, min_steps: usize) -> Result<Array, BatchError> {
        let (spec, nodes) = same_size(samples)?;
        let probe = &spec[index];
        let steps = samples.iter().map(Trajectory::steps).fold(min_steps, usize::max);
        let cells: Vec<Cells<'_>> = samples.iter().map(|sample| sample.cells(index)).collect();
        Ok(dense_array(probe, nodes, (probe.stage == Stage::Hint).then_some(steps), &cells))
    }

    /// The samples without padding: inverse of [`Batch::new`], for batches from other programs.
    ///
    /// # Errors
    /// If shapes or values do not match the spec, or a length is not a number of steps.
    pub fn to_trajectories(&self) -> Result<Trajectories, BatchError> {
        let values: Vec<Cow<'_, [f64]>> = self.arrays.iter().map(Array::to_f64).collect();
        let (nodes, steps) = self.ensure_shapes(&values)?;
        let mut trajectories = Trajectories::new(self.spec.clone());
        for (sample, &length) in self.lengths.iter().enumerate() {
            let invalid = || BatchError::Length { sample, length: length.to_string(), steps };
            let length = node(length, steps + 1).ok_or_else(invalid)? as usize;
            let column = |(probe, values): (&Probe, &Cow<'_, [f64]>)| {
                let row: usize = row_shape(probe, nodes).iter().product();
                let rows = (0..probe.rows(length)).map(|step| (step * self.samples() + sample) * row);
                let values: Vec<f64> = rows.flat_map(|start| values[start..start + row].iter().copied()).collect();
                column_of(probe, nodes, &values).ok_or_else(|| BatchError::Value { probe: probe.name.to_string(), sample })
            };
            let columns = self.spec.iter().zip(&values).map(column).collect::<Result<Vec<Column>, _>>()?;
            let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
            trajectories.push(nodes, length, &cells).map_err(|error| match error {
                // The length is that of a one-hot mask of edges, for which there is no column.
                TrajectoriesError::Value { probe, .. } | TrajectoriesError::Length { probe, .. } => {
                    BatchError::Value { probe, sample }
                }
                error => unreachable!("columns have the types of their probes: {error}"),
            })?;
        }
        Ok(trajectories)
    }

    /// Checks that arrays have the axes of a batch: `[B, ...]`, and `[T, B, ...]` for hints. The other axes are free.
    ///
    /// # Errors
    /// If there are no samples, an array has other axes, or a length is not a number of steps.
    pub fn ensure_axes(&self) -> Result<(), BatchError> {
        if self.lengths.is_empty() {
            return Err(BatchError::Empty);
        }
        let first_hint = self.iter().find(|(probe, _)| probe.stage == Stage::Hint);
        let steps = first_hint.map_or(MAX_STEPS_WITHOUT_HINTS, |(_, array)| array.shape.first().copied().unwrap_or(0));
        for (probe, array) in self.iter() {
            let time = (probe.stage == Stage::Hint).then_some(steps);
            let mut expected: Vec<usize> = time.into_iter().chain([self.samples()]).collect();
            expected.extend(array.shape.iter().skip(expected.len()));
            if array.shape != expected {
                return Err(BatchError::Shape { probe: probe.name.to_string(), expected, found: array.shape.clone() });
            }
        }
        for (sample, &length) in self.lengths.iter().enumerate() {
            node(length, steps + 1).ok_or_else(|| BatchError::Length { sample, length: length.to_string(), steps })?;
        }
        Ok(())
    }

    /// Checks the shapes of all arrays, which have these values, and returns the number of nodes and of steps.
    fn ensure_shapes(&self, values: &[Cow<'_, [f64]>]) -> Result<(usize, usize), BatchError> {
        let axis = |hint: bool, index: usize| {
            let on_nodes = |probe: &Probe| probe.location != Location::Graph || hint;
            let found = self.iter().find(|(probe, _)| (probe.stage == Stage::Hint) == hint && on_nodes(probe));
            found.and_then(|(_, array)| array.shape.get(index).copied())
        };
        let nodes = axis(false, 1).unwrap_or(1);
        let steps = axis(true, 0).unwrap_or(1);
        if nodes == 0 || nodes > MAX_NODES {
            return Err(BatchError::Nodes(nodes));
        }
        for ((probe, array), values) in self.iter().zip(values) {
            let time = (probe.stage == Stage::Hint).then_some(steps);
            let expected: Vec<usize> = time.into_iter().chain([self.samples()]).chain(row_shape(probe, nodes)).collect();
            if array.shape != expected || values.len() != expected.iter().product::<usize>() {
                return Err(BatchError::Shape { probe: probe.name.to_string(), expected, found: array.shape.clone() });
            }
        }
        Ok((nodes, steps))
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.lengths.len()
    }

    /// Iterates over the probes and their arrays.
    pub fn iter(&self) -> impl Iterator<Item = (&Probe, &Array)> {
        self.spec.iter().zip(&self.arrays)
    }

    /// The array of the named probe.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.iter().find(|(probe, _)| probe.name == name).map(|(_, array)| array)
    }
}

/// The spec and the number of nodes of all samples.
///
/// # Errors
/// If there are no samples, or their sizes differ.
pub fn same_size<'r>(samples: &[Trajectory<'r>]) -> Result<(&'r Spec, usize), BatchError> {
    let first = samples.first().ok_or(BatchError::Empty)?;
    let other = samples.iter().find(|sample| sample.nodes() != first.nodes());
    other.map_or(Ok((first.spec(), first.nodes())), |other| Err(BatchError::Sizes(first.nodes(), other.nodes())))
}

/// Shape of one row of a probe.
pub fn row_shape(probe: &Probe, nodes: usize) -> Vec<usize> {
    let mut shape = match probe.location {
        Location::Node => vec![nodes],
        Location::Edge => vec![nodes, nodes],
        Location::Graph => vec![],
    };
    match probe.kind {
        Kind::Categorical { classes } => shape.push(classes),
        Kind::CyclicPermutation => shape.push(nodes),
        Kind::Scalar | Kind::Mask | Kind::MaskOne | Kind::Pointer | Kind::Permutation => {}
    }
    shape
}

/// The array of all samples; `steps` is the length of the time axis, if there is one.
fn dense_array(probe: &Probe, nodes: usize, steps: Option<usize>, samples: &[Cells<'_>]) -> Array {
    let row_shape = row_shape(probe, nodes);
    let slab = samples.len() * row_shape.iter().product::<usize>();
    let shape: Vec<usize> = steps.into_iter().chain([samples.len()]).chain(row_shape).collect();
    let mut data = vec![0.0; shape.iter().product()];
    for step in 0..steps.unwrap_or(1) {
        write_slab(probe, nodes, step, samples, &mut data[step * slab..][..slab]);
    }
    #[expect(clippy::cast_possible_truncation, reason = "only nodes, masks and integer weights are f32 or i64")]
    let data = match probe.dtype {
        DType::F64 => ArrayData::F64(data),
        DType::F32 => ArrayData::F32(data.into_iter().map(|x| x as f32).collect()),
        DType::I64 => ArrayData::I64(data.into_iter().map(|x| x as i64).collect()),
    };
    Array { shape, data }
}

/// Writes one step of all samples, `[B, ...]`, into a buffer of zeros. Shorter samples stay zero.
pub(crate) fn write_slab(probe: &Probe, nodes: usize, step: usize, samples: &[Cells<'_>], into: &mut [f64]) {
    let (width, row) = (probe.width(nodes), into.len() / samples.len());
    for (cells, into) in samples.iter().zip(into.chunks_exact_mut(row)) {
        if (step + 1) * width <= cells.count() {
            write_row(probe.kind, cells.slice(step * width..(step + 1) * width), into);
        }
    }
}

/// Writes one row into a buffer of zeros.
fn write_row(kind: Kind, cells: Cells<'_>, into: &mut [f64]) {
    match (kind, cells) {
        (Kind::MaskOne, Cells::Node(cells)) => into[cells[0] as usize] = 1.0,
        (Kind::Categorical { classes }, Cells::Class(cells)) => {
            for (one_hot, &class) in into.chunks_exact_mut(classes).zip(cells) {
                match usize::try_from(class) {
                    Ok(class) => one_hot[class] = 1.0,
                    Err(_) => one_hot[classes - 1] = -1.0, // masked out: dm-clrs marks the blank class
                }
            }
        }
        (Kind::CyclicPermutation, Cells::Node(cells)) => {
            for (one_hot, &node) in into.chunks_exact_mut(cells.len()).zip(cells) {
                one_hot[node as usize] = 1.0;
            }
        }
        (_, Cells::Scalar(cells)) => into.copy_from_slice(cells),
        (_, Cells::Node(cells)) => into.iter_mut().zip(cells).for_each(|(into, &node)| *into = f64::from(node)),
        (_, Cells::Class(cells)) => into.iter_mut().zip(cells).for_each(|(into, &class)| *into = f64::from(class)),
    }
}

/// Converts rows of dense values of a probe to a column. Returns `None` if they are invalid for its kind; whether they are
/// masked out where the probe allows it is checked by [`Trajectories`].
pub fn column_of(probe: &Probe, nodes: usize, values: &[f64]) -> Option<Column> {
    let pointer = |row: &[f64]| hot(row).filter(|&(_, value)| value == 1.0).and_then(|(index, _)| node(index as f64, nodes));
    Some(match probe.kind {
        Kind::Scalar => Column::Scalar(values.to_vec()),
        Kind::Mask => Column::Class(values.iter().map(|&value| class(value)).collect::<Option<_>>()?),
        Kind::Pointer | Kind::Permutation => Column::Node(values.iter().map(|&value| node(value, nodes)).collect::<Option<_>>()?),
        Kind::MaskOne | Kind::CyclicPermutation => Column::Node(values.chunks_exact(nodes).map(pointer).collect::<Option<_>>()?),
        Kind::Categorical { classes } => {
            let class = |row| match hot(row)? {
                (class, 1.0) => i8::try_from(class).ok(),
                (class, -1.0) if class == classes - 1 => Some(-1),
                _ => None,
            };
            Column::Class(values.chunks_exact(classes).map(class).collect::<Option<_>>()?)
        }
    })
}

/// Index and value of the only element of a row that is not zero.
fn hot(row: &[f64]) -> Option<(usize, f64)> {
    let mut others = row.iter().copied().enumerate().filter(|&(_, number)| number != 0.0);
    let found = others.next()?;
    others.next().is_none().then_some(found)
}

/// -1, 0 or 1. Whether -1 is valid is checked against the spec.
fn class(number: f64) -> Option<i8> {
    [-1i8, 0, 1].into_iter().find(|&class| f64::from(class) == number)
}

/// An integer below `count`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked first")]
fn node(number: f64, count: usize) -> Option<u32> {
    (number >= 0.0 && number < count as f64 && number.fract() == 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::sampling::{FixedSet, Sampler, SamplerOptions};

    fn set(name: &str) -> FixedSet {
        let algorithm = Registry::builtin().find(name).expect("a built-in algorithm");
        let sampler = Sampler::new(algorithm, 6, 1, &SamplerOptions::default()).expect("a sampler");
        FixedSet::new(sampler, 5).expect("samples")
    }

    #[test]
    fn to_trajectories_is_the_inverse_of_new() {
        for algorithm in Registry::builtin().iter() {
            let set = set(algorithm.name());
            let batch = set.all().expect("a batch");
            assert_eq!(batch.to_trajectories(), Ok(set.into_trajectories()), "{}", algorithm.name());
            let cyclic = crate::transform::cyclic_permutations(batch).expect("permutations");
            let samples = cyclic.to_trajectories().expect("samples");
            assert_eq!(Batch::new(&samples.iter().collect::<Vec<_>>(), 0), Ok(cyclic), "{}", algorithm.name());
        }
    }

    #[test]
    fn ensure_axes_rejects_other_axes_and_lengths() {
        let batch = set("bfs").all().expect("a batch");
        assert_eq!(batch.ensure_axes(), Ok(()));
        let index = |name: &str| batch.spec.iter().position(|probe| probe.name == name).expect("a probe");
        let with = |change: &dyn Fn(&mut Batch)| {
            let mut batch = batch.clone();
            change(&mut batch);
            batch.ensure_axes()
        };
        let (pi, hint) = (index("pi"), index("pi_h"));
        let steps = batch.arrays[hint].shape[0];
        let no_axes = with(&|batch| batch.arrays[pi].shape.clear());
        assert_eq!(no_axes, Err(BatchError::Shape { probe: "pi".into(), expected: vec![5], found: vec![] }));
        let samples = with(&|batch| batch.arrays[hint].shape = vec![steps, 6, 5]);
        assert_eq!(
            samples,
            Err(BatchError::Shape { probe: "pi_h".into(), expected: vec![steps, 5, 5], found: vec![steps, 6, 5] })
        );
        assert_eq!(with(&|batch| batch.lengths.clear()), Err(BatchError::Empty));
        for length in [0.5, f64::INFINITY, steps as f64 + 1.0] {
            let error = with(&|batch| batch.lengths[2] = length);
            assert_eq!(error, Err(BatchError::Length { sample: 2, length: length.to_string(), steps }));
        }
    }

    #[test]
    fn to_trajectories_rejects_wrong_shapes_values_and_lengths() {
        let batch = set("bfs").all().expect("a batch");
        let index = |name: &str| batch.spec.iter().position(|probe| probe.name == name).expect("a probe");
        let with = |change: &dyn Fn(&mut Batch)| {
            let mut batch = batch.clone();
            change(&mut batch);
            batch.to_trajectories().map(|_| ())
        };
        let (pi, adj) = (index("pi"), index("adj"));
        let shape = with(&|batch| batch.arrays[pi].shape = vec![6, 5]);
        assert_eq!(shape, Err(BatchError::Shape { probe: "pi".into(), expected: vec![5, 6], found: vec![6, 5] }));
        let value = with(&|batch| batch.arrays[pi].data = ArrayData::I64(vec![6; 30]));
        assert_eq!(value, Err(BatchError::Value { probe: "pi".into(), sample: 0 }));
        // Masked out, but `adj` has no such cells.
        let masked = with(&|batch| batch.arrays[adj].data = ArrayData::F64(vec![-1.0; 180]));
        assert_eq!(masked, Err(BatchError::Value { probe: "adj".into(), sample: 0 }));
        let steps = batch.get("pi_h").expect("a hint").shape[0];
        for length in [0.5, -1.0, f64::NAN, steps as f64 + 1.0] {
            let error = with(&|batch| batch.lengths[2] = length);
            assert_eq!(error, Err(BatchError::Length { sample: 2, length: length.to_string(), steps }));
        }
    }
}
