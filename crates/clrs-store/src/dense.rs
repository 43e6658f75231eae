//! Whole sets as dense arrays, one at a time: what `npz` and `safetensors` hold.

use std::path::Path;

use clrs::batch::{BatchError, row_shape, same_size};
use clrs::{Array, ArrayData, Batch, DType, Stage, Trajectories, Trajectory};

use crate::error::{At, StoreError, StoreErrorKind};
use crate::progress::Progress;
use crate::set::Set;

/// The arrays of a set in the reference's layout: `input/NAME`, `output/NAME`, `hint/NAME` and `lengths`.
pub(crate) struct DenseSet {
    runs: Trajectories,
    steps: usize,
}

/// What an array is, before it is made.
pub(crate) struct Outline {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) dense: DType,
    /// The place in the spec; the lengths have none.
    place: Option<usize>,
}

impl DenseSet {
    /// Reads a set. `path` is what messages are about.
    pub(crate) fn read(set: &mut Set, path: &Path) -> Result<DenseSet, StoreError> {
        let runs = set.read_all()?;
        let steps = runs.max_steps();
        same_size(&runs.iter().collect::<Vec<_>>()).at(path)?;
        Ok(DenseSet { runs, steps })
    }

    /// What arrays there are, in the order of the spec.
    pub(crate) fn outlines(&self) -> Vec<Outline> {
        let nodes = self.runs.get(0).nodes();
        let samples = self.runs.len();
        let probes = self.runs.spec().iter().enumerate().map(|(place, probe)| {
            let steps = (probe.stage == Stage::Hint).then_some(self.steps);
            let shape = steps.into_iter().chain([samples]).chain(row_shape(probe, nodes)).collect();
            Outline { name: probe.path(), shape, dense: probe.dtype, place: Some(place) }
        });
        let lengths = Outline { name: "lengths".into(), shape: vec![samples], dense: DType::F64, place: None };
        probes.chain([lengths]).collect()
    }

    /// Makes one of them.
    pub(crate) fn array(&self, outline: &Outline) -> Result<Array, BatchError> {
        let samples: Vec<Trajectory<'_>> = self.runs.iter().collect();
        if let Some(place) = outline.place {
            return Batch::array(&samples, place, self.steps);
        }
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        Ok(Array { shape: outline.shape.clone(), data: ArrayData::F64(lengths) })
    }
}

/// Reports arrays as samples, in proportion to their cells.
pub(crate) struct DenseProgress<'a> {
    name: String,
    progress: &'a dyn Progress,
    samples: usize,
    total: usize,
    written: usize,
    reported: usize,
}

impl<'a> DenseProgress<'a> {
    pub(crate) fn new(set: &Set, dense: &DenseSet, progress: &'a dyn Progress) -> DenseProgress<'a> {
        let total = dense.outlines().iter().map(|outline| outline.shape.iter().product::<usize>()).sum();
        DenseProgress { name: set.header().name.clone(), progress, samples: dense.runs.len(), total, written: 0, reported: 0 }
    }

    /// One more array is written.
    pub(crate) fn add(&mut self, array: &Array) -> Result<(), StoreErrorKind> {
        if self.progress.is_cancelled() {
            return Err(StoreErrorKind::Cancelled);
        }
        self.written += array.shape.iter().product::<usize>();
        let done = (self.samples as u128 * self.written as u128 / self.total.max(1) as u128) as usize;
        self.progress.add_samples(&self.name, done - self.reported);
        self.reported = done;
        Ok(())
    }
}

/// The cells as they lie in memory, which is how files want them.
pub(crate) fn bytes(data: &ArrayData) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "cells are written as they lie in memory") };
    match data {
        ArrayData::F64(cells) => bytemuck::cast_slice(cells),
        ArrayData::F32(cells) => bytemuck::cast_slice(cells),
        ArrayData::I64(cells) => bytemuck::cast_slice(cells),
    }
}
