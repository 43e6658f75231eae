//! Dense batches in the reference's layout: inputs and outputs `[B, ...]`, hints `[T, B, ...]` padded with zeros, and lengths.
//!
//! `B` is the number of samples, `T` the most steps of any, and `...` is `[N]` for nodes, `[N, N]` for edges, nothing for
//! graphs, with one more axis for the classes of a categorical.

use crate::column::Cells;
use crate::spec::{Dense, Kind, Location, Probe, Spec, Stage};
use crate::trajectory::Trajectory;

/// A dense array.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The length of every axis.
    pub shape: Vec<usize>,
    /// The cells in C order.
    pub data: Data,
}

/// The cells of an array.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "NumPy's float64, float32 and int64")]
pub enum Data {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
}

/// Samples of one size, dense.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The probes, one per array.
    pub spec: Spec,
    /// Inputs, outputs and hints, in the order of the spec.
    pub arrays: Vec<Array>,
    /// Hint steps of each sample, padding not counted.
    pub lengths: Vec<f64>,
}

/// Samples cannot be padded to one batch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BatchError {
    #[error("a batch of no samples")]
    Empty,
    #[error("a batch of samples of {0} and of {1} nodes")]
    Sizes(usize, usize),
}

impl Batch {
    /// Pads samples to the longest, and to at least `min_steps`.
    pub fn new(samples: &[Trajectory<'_>], min_steps: usize) -> Result<Batch, BatchError> {
        let first = samples.first().ok_or(BatchError::Empty)?;
        let nodes = first.nodes();
        if let Some(other) = samples.iter().find(|sample| sample.nodes() != nodes) {
            return Err(BatchError::Sizes(nodes, other.nodes()));
        }
        let steps = samples.iter().map(Trajectory::steps).fold(min_steps, usize::max);
        let spec = first.spec();
        let arrays = spec.iter().enumerate().map(|(place, probe)| {
            let rows = samples.iter().map(|sample| sample.cells(place));
            dense(probe, nodes, (probe.stage == Stage::Hint).then_some(steps), rows)
        });
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        Ok(Batch { spec: spec.clone(), arrays: arrays.collect(), lengths })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.lengths.len()
    }

    /// Every probe with its array.
    pub fn iter(&self) -> impl Iterator<Item = (&Probe, &Array)> {
        self.spec.iter().zip(&self.arrays)
    }

    /// The array of the probe of that name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.iter().find(|(probe, _)| probe.name == name).map(|(_, array)| array)
    }
}

/// The shape of one row of a probe.
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

/// One array of all samples; `steps` is its time axis, if it has one.
fn dense<'r>(probe: &Probe, nodes: usize, steps: Option<usize>, samples: impl ExactSizeIterator<Item = Cells<'r>>) -> Array {
    let row_shape = row_shape(probe, nodes);
    let row = row_shape.iter().product();
    let shape: Vec<usize> = steps.into_iter().chain([samples.len()]).chain(row_shape).collect();
    let count = samples.len();
    let mut data = vec![0.0; shape.iter().product()];
    for (sample, cells) in samples.enumerate() {
        let width = probe.width(nodes);
        for step in 0..cells.count() / width {
            let into = &mut data[(step * count + sample) * row..][..row];
            write_row(probe.kind, cells.slice(step * width..(step + 1) * width), into);
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "float32 and integers are for nodes, marks and whole weights")]
    let data = match probe.dense {
        Dense::F64 => Data::F64(data),
        Dense::F32 => Data::F32(data.into_iter().map(|x| x as f32).collect()),
        Dense::I64 => Data::I64(data.into_iter().map(|x| x as i64).collect()),
    };
    Array { shape, data }
}

/// Writes one row over zeros.
fn write_row(kind: Kind, cells: Cells<'_>, into: &mut [f64]) {
    match (kind, cells) {
        (Kind::MaskOne, Cells::Node(cells)) => into[cells[0] as usize] = 1.0,
        (Kind::Categorical { classes }, Cells::Class(cells)) => {
            for (one_hot, &class) in into.chunks_exact_mut(classes).zip(cells) {
                match usize::try_from(class) {
                    Ok(class) => one_hot[class] = 1.0,
                    Err(_) => one_hot[classes - 1] = -1.0, // not asked: the blank class
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
