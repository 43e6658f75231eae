//! Dense batches in the layout of dm-clrs: inputs and outputs `[B, ...]`, hints `[T, B, ...]` padded with zeros, and lengths.
//!
//! `B` is the number of samples, `T` the largest number of steps, and `...` is `[N]` for nodes, `[N, N]` for edges, and nothing
//! for graphs, with one more axis for the classes of a categorical.

use crate::column::Cells;
use crate::spec::{DType, Kind, Location, Probe, Spec, Stage};
use crate::trajectory::Trajectory;

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
}

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
