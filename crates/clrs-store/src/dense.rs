//! Complete sets as dense arrays, one array at a time: the contents of `npz` and `safetensors` files.

use std::path::Path;

use clrs::batch::{BatchError, row_shape, same_size};
use clrs::{Array, ArrayData, Batch, DType, Spec, Stage, Trajectories, Trajectory};

use crate::error::{At, StoreError, StoreErrorKind};
use crate::progress::Progress;
use crate::set::Set;

/// The arrays of a set in the layout of dm-clrs: `input/NAME`, `output/NAME`, `hint/NAME` and `lengths`.
pub(crate) struct DenseSet {
    name: String,
    trajectories: Trajectories,
    /// The longest sample: hints are padded to it.
    steps: usize,
}

/// Name, type and shape of an array.
pub(crate) struct ArrayInfo {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: DType,
    /// Index of the probe in the spec; `None` for the lengths.
    probe: Option<usize>,
}

impl DenseSet {
    /// Reads a set. `path` is used in error messages.
    pub(crate) fn read(set: &mut Set, path: &Path) -> Result<DenseSet, StoreError> {
        let trajectories = set.read_all()?;
        let steps = trajectories.max_steps();
        same_size(&trajectories.iter().collect::<Vec<_>>()).at(path)?;
        Ok(DenseSet { name: set.header().name.clone(), trajectories, steps })
    }

    /// Describes the arrays, in the order of the spec.
    pub(crate) fn arrays(&self) -> Vec<ArrayInfo> {
        arrays(self.trajectories.spec(), self.trajectories.len(), self.trajectories.get(0).nodes(), self.steps)
    }

    /// Passes every array to `write`, and reports progress in samples, in proportion to the bytes that are written.
    pub(crate) fn for_each(
        &self,
        progress: &dyn Progress,
        mut write: impl FnMut(&ArrayInfo, &Array) -> Result<(), StoreErrorKind>,
    ) -> Result<(), StoreErrorKind> {
        let samples: Vec<Trajectory<'_>> = self.trajectories.iter().collect();
        let arrays = self.arrays();
        let total: u64 = arrays.iter().map(ArrayInfo::bytes).sum();
        let (mut written, mut reported) = (0, 0);
        for info in &arrays {
            if progress.is_cancelled() {
                return Err(StoreErrorKind::Cancelled);
            }
            write(info, &self.array(info, &samples)?)?;
            written += info.bytes();
            let done = (samples.len() as u128 * u128::from(written) / u128::from(total.max(1))) as usize;
            progress.add_samples(&self.name, done - reported);
            reported = done;
        }
        Ok(())
    }

    fn array(&self, info: &ArrayInfo, samples: &[Trajectory<'_>]) -> Result<Array, BatchError> {
        if let Some(probe) = info.probe {
            return Batch::array(samples, probe, self.steps);
        }
        let lengths = samples.iter().map(|sample| sample.steps() as f64).collect();
        Ok(Array { shape: info.shape.clone(), data: ArrayData::F64(lengths) })
    }
}

impl ArrayInfo {
    /// Number of cells.
    pub(crate) fn cells(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, &axis| product.saturating_mul(axis as u64))
    }

    /// Number of bytes, without compression.
    pub(crate) fn bytes(&self) -> u64 {
        self.cells().saturating_mul(width(self.dtype))
    }
}

/// Describes the arrays of samples of one size.
pub(crate) fn arrays(spec: &Spec, samples: usize, nodes: usize, steps: usize) -> Vec<ArrayInfo> {
    let probes = spec.iter().enumerate().map(|(index, probe)| {
        let steps = (probe.stage == Stage::Hint).then_some(steps);
        let shape = steps.into_iter().chain([samples]).chain(row_shape(probe, nodes)).collect();
        ArrayInfo { name: probe.path(), shape, dtype: probe.dtype, probe: Some(index) }
    });
    let lengths = ArrayInfo { name: "lengths".into(), shape: vec![samples], dtype: DType::F64, probe: None };
    probes.chain([lengths]).collect()
}

/// Number of bytes of a cell.
fn width(dtype: DType) -> u64 {
    match dtype {
        DType::F32 => 4,
        DType::F64 | DType::I64 => 8,
    }
}

/// The cells in memory order, which is that of the files.
pub(crate) fn bytes(data: &ArrayData) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "the formats are little endian") };
    match data {
        ArrayData::F64(cells) => bytemuck::cast_slice(cells),
        ArrayData::F32(cells) => bytemuck::cast_slice(cells),
        ArrayData::I64(cells) => bytemuck::cast_slice(cells),
    }
}
