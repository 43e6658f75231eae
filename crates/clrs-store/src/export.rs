use clrs::{DType, Kind, Probe, Stage};

use crate::dense;
use crate::error::StoreError;
use crate::native::Extent;
use crate::set::Set;

/// A format that sets are exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// [`npz`](crate::npz).
    Npz,
    /// [`safetensors`](crate::safetensors).
    Safetensors,
    /// [`parquet`](crate::parquet).
    Parquet,
    /// [`tfds`](crate::tfds).
    Tfds,
}

/// Estimates the number of bytes of a set in another format, before compression.
///
/// Dense formats pad every sample to the longest one of the set, and can be a hundred times larger than the native file.
/// Files of safetensors and TFDS are about as large as estimated; those of npz and Parquet are compressed and much smaller,
/// but programs that load them allocate that memory. Only the numbers of nodes and steps are read, which is fast.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::{ExportFormat, OnExisting, Set, estimate_export_bytes, safetensors};
///
/// let dir = tempfile::tempdir()?;
/// let dataset = DatasetSpec::new("bfs_train", Registry::builtin().find("bfs")?, 16, 100, 1);
/// generate(&[dataset], dir.path(), GenerateOptions::default(), &())?;
/// let mut set = Set::open(dir.path(), "bfs", "train")?;
/// let estimate = estimate_export_bytes(&mut set, ExportFormat::Safetensors)?;
/// let path = dir.path().join("bfs_train.safetensors");
/// safetensors::export(&mut set, &path, OnExisting::Fail, &())?;
/// let header = path.metadata()?.len() - estimate;
/// assert!(header < 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate_export_bytes(set: &mut Set, format: ExportFormat) -> Result<u64, StoreError> {
    let extents = set.extents()?;
    let spec = &set.header().spec;
    let nodes = extents.iter().map(|extent| extent.nodes).max().unwrap_or(0);
    let steps = extents.iter().map(|extent| extent.steps).max().unwrap_or(0);
    let arrays = || dense::arrays(spec, extents.len(), nodes, steps).into_iter();
    Ok(match format {
        ExportFormat::Npz | ExportFormat::Safetensors => arrays().map(|array| array.bytes()).sum(),
        // Floats take four bytes there, and small integers one.
        ExportFormat::Tfds => {
            arrays().map(|array| array.cells().saturating_mul(if array.dtype == DType::I64 { 1 } else { 4 })).sum()
        }
        ExportFormat::Parquet => spec.iter().map(|probe| parquet_bytes(probe, &extents)).sum(),
    })
}

/// Cells of a column in their true shape.
fn parquet_bytes(probe: &Probe, extents: &[Extent]) -> u64 {
    let width = match probe.kind {
        Kind::Scalar => 8,
        Kind::Mask | Kind::MaskOne | Kind::Categorical { .. } => 1,
        Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => 4,
    };
    let cells = |extent: &Extent| {
        let steps = if probe.stage == Stage::Hint { extent.steps as u64 } else { 1 };
        let row: u64 = match probe.location {
            clrs::Location::Node => extent.nodes as u64,
            clrs::Location::Edge => (extent.nodes as u64).saturating_mul(extent.nodes as u64),
            clrs::Location::Graph => 1,
        };
        steps.saturating_mul(row)
    };
    extents.iter().map(cells).fold(0, u64::saturating_add).saturating_mul(width)
}
