//! SHA-256 digests of the little-endian bytes of each array of a [`Batch`](crate::Batch), for comparison with dm-clrs.
//! The arrays, which can take gigabytes, are digested one time step at a time.

use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::batch::{BatchError, row_shape, same_size, write_slab};
use crate::column::Cells;
use crate::spec::{DType, Probe, Stage};
use crate::trajectory::Trajectory;

/// A SHA-256 digest; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sha256Digest(pub [u8; 32]);

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// As text.
impl Serialize for Sha256Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The digests of all arrays of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    /// Inputs, outputs and hints, in spec order.
    pub arrays: Vec<(Probe, Sha256Digest)>,
    /// Digest of the lengths.
    pub lengths: Sha256Digest,
}

impl Digests {
    /// Digests a batch of the samples, padded to the longest.
    ///
    /// # Errors
    /// If there are no samples, or their sizes differ.
    pub fn new(samples: &[Trajectory<'_>]) -> Result<Digests, BatchError> {
        let (spec, nodes) = same_size(samples)?;
        let steps = samples.iter().map(Trajectory::steps).max().unwrap_or(0);
        let arrays = spec.iter().enumerate().map(|(index, probe)| {
            let cells: Vec<Cells<'_>> = samples.iter().map(|sample| sample.cells(index)).collect();
            (probe.clone(), digest(probe, nodes, steps, &cells))
        });
        let lengths: Vec<f64> = samples.iter().map(|sample| sample.steps() as f64).collect();
        Ok(Digests { arrays: arrays.collect(), lengths: Sha256Digest(Sha256::digest(bytemuck::cast_slice(&lengths)).into()) })
    }

    /// The digest of the set: over the digests of inputs, hints, outputs and lengths, in this order.
    pub fn total(&self) -> Sha256Digest {
        let mut total = Sha256::new();
        for stage in [Stage::Input, Stage::Hint, Stage::Output] {
            self.arrays.iter().filter(|(probe, _)| probe.stage == stage).for_each(|(_, digest)| total.update(digest.0));
        }
        total.update(self.lengths.0);
        Sha256Digest(total.finalize().into())
    }
}

/// As a map from the names of arrays to digests, with the digest of the set under `total`.
impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arrays = self.arrays.iter().map(|(probe, digest)| (probe.path(), *digest));
        serializer.collect_map(arrays.chain([("lengths".into(), self.lengths), ("total".into(), self.total())]))
    }
}

fn digest(probe: &Probe, nodes: usize, steps: usize, samples: &[Cells<'_>]) -> Sha256Digest {
    let mut hasher = Sha256::new();
    let mut slab = vec![0.0; samples.len() * row_shape(probe, nodes).iter().product::<usize>()];
    for step in 0..probe.rows(steps) {
        slab.fill(0.0);
        write_slab(probe, nodes, step, samples, &mut slab);
        #[expect(clippy::cast_possible_truncation, reason = "only nodes, masks and integer weights are f32 or i64")]
        match probe.dtype {
            DType::F64 => hasher.update(bytemuck::cast_slice(&slab)),
            DType::F32 => hasher.update(bytemuck::cast_slice(&slab.iter().map(|&x| x as f32).collect::<Vec<_>>())),
            DType::I64 => hasher.update(bytemuck::cast_slice(&slab.iter().map(|&x| x as i64).collect::<Vec<_>>())),
        }
    }
    Sha256Digest(hasher.finalize().into())
}
