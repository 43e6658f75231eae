//! One row per sample, for `datasets.load_dataset("parquet", data_files=...)` and other readers of Parquet.
//!
//! Columns are `nodes`, `steps`, and one per probe named `input/NAME`, `output/NAME` or `hint/NAME`, as nested lists of the
//! true shape: `[N]` for nodes, `[N, N]` for edges, a scalar for graphs, with the steps in front for hints. Nothing is padded.
//!
//! | kind | cell |
//! |---|---|
//! | scalar | `double`, or `int64` where dm-clrs has integers |
//! | mask | `int8`: 0, 1, or -1 where it is masked out |
//! | one-hot mask | `int8` over the nodes: 1 at one of them |
//! | categorical | `int8`: the class, or -1 where it is masked out |
//! | pointer, permutation | `int32`: the node |
//!
//! If all samples have the same number of nodes, columns of two and three axes are declared as `Array2D` and `Array3D` of the
//! `datasets` library, which then loads them as arrays. Other readers see the lists. The file's metadata has the [`Header`]
//! of the set as JSON under `clrs.header`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, ListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Metadata, Schema, SchemaRef};
use clrs::{Cells, DType, Kind, Location, Probe, Stage, Trajectories};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{AtomicFile, OnExisting};
use crate::native::{HEADER_KEY, Header};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a complete set, one record batch at a time.
pub fn export(set: &mut Set, path: &Path, on_existing: OnExisting, progress: &dyn Progress) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let nodes = same_nodes(set)?;
    let schema = Arc::new(schema(set.header(), nodes));
    let writer = ArrowWriter::try_new(&mut file, Arc::clone(&schema), Some(properties(set.header())));
    let mut writer = writer.map_err(into_io).at(path)?;
    let name = set.header().name.clone();
    for trajectories in set.batches() {
        if progress.is_cancelled() {
            return Err(StoreErrorKind::Cancelled).at(path);
        }
        let trajectories = trajectories?;
        let batch = record_batch(&trajectories, &schema).at(path)?;
        writer.write(&batch).map_err(into_io).at(path)?;
        progress.add_samples(&name, trajectories.len());
    }
    writer.close().map_err(into_io).at(path)?;
    file.commit()?;
    progress.finish_set(&name);
    Ok(())
}

/// The number of nodes, if all samples have the same.
fn same_nodes(set: &mut Set) -> Result<Option<usize>, StoreError> {
    let extents = set.extents()?;
    let first = extents.first().map(|extent| extent.nodes);
    Ok(first.filter(|&nodes| extents.iter().all(|extent| extent.nodes == nodes)))
}

fn properties(header: &Header) -> WriterProperties {
    let json = serde_json::to_string(header).expect("a header is valid JSON");
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![KeyValue::new(HEADER_KEY.to_owned(), json)]))
        .build()
}

fn schema(header: &Header, nodes: Option<usize>) -> Schema {
    let extents = ["nodes", "steps"].map(|name| Field::new(name, DataType::UInt32, false));
    let probes = header.spec.iter().map(|probe| {
        let field = Field::new(probe.path(), nested(cell_type(probe), axes(probe)), false);
        match nodes {
            Some(nodes) if axes(probe) > 1 => field.with_metadata(array_type(probe, nodes)),
            _ => field,
        }
    });
    Schema::new(extents.into_iter().chain(probes).collect::<Vec<_>>())
}

/// Metadata by which the `datasets` library recognizes a column of arrays.
fn array_type(probe: &Probe, nodes: usize) -> Metadata {
    let dtype = match cell_type(probe) {
        DataType::Float64 => "float64",
        DataType::Int64 => "int64",
        DataType::Int32 => "int32",
        _ => "int8",
    };
    let steps = (probe.stage == Stage::Hint).then_some(None);
    let shape: Vec<Option<usize>> = steps.into_iter().chain(row_axes(probe, nodes).into_iter().map(Some)).collect();
    let name = format!("datasets.features.features.Array{}DExtensionType", shape.len());
    let shape = serde_json::json!([shape, dtype]).to_string();
    [("ARROW:extension:name".to_owned(), name), ("ARROW:extension:metadata".to_owned(), shape)].into_iter().collect()
}

fn cell_type(probe: &Probe) -> DataType {
    match probe.kind {
        Kind::Scalar if probe.dtype == DType::I64 => DataType::Int64,
        Kind::Scalar => DataType::Float64,
        Kind::Mask | Kind::MaskOne | Kind::Categorical { .. } => DataType::Int8,
        Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => DataType::Int32,
    }
}

/// Shape of one step.
fn row_axes(probe: &Probe, nodes: usize) -> Vec<usize> {
    match probe.location {
        Location::Node => vec![nodes],
        Location::Edge => vec![nodes, nodes],
        Location::Graph => vec![],
    }
}

/// Number of axes of a column, without that of the samples.
fn axes(probe: &Probe) -> usize {
    usize::from(probe.stage == Stage::Hint) + row_axes(probe, 1).len()
}

fn nested(cell: DataType, axes: usize) -> DataType {
    (0..axes).fold(cell, |inner, _| DataType::List(item(inner)))
}

/// Lists as pyarrow writes them.
fn item(cell: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", cell, true))
}

fn record_batch(trajectories: &Trajectories, schema: &SchemaRef) -> io::Result<RecordBatch> {
    let nodes = trajectories.iter().map(|sample| sample.nodes());
    let steps = trajectories.iter().map(|sample| sample.steps());
    let mut columns = vec![counts(nodes)?, counts(steps)?];
    for (index, probe) in trajectories.spec().iter().enumerate() {
        let mut column = cells(trajectories, index, probe);
        // Innermost axis first: the length of every list of that axis.
        for axis in (0..axes(probe)).rev() {
            let lengths = trajectories.iter().flat_map(|sample| {
                let steps = (probe.stage == Stage::Hint).then_some(sample.steps());
                let shape: Vec<usize> = steps.into_iter().chain(row_axes(probe, sample.nodes())).collect();
                std::iter::repeat_n(shape[axis], shape[..axis].iter().product())
            });
            let offsets = OffsetBuffer::from_lengths(lengths);
            let list = ListArray::try_new(item(column.data_type().clone()), offsets, column, None);
            column = Arc::new(list.map_err(io::Error::other)?);
        }
        columns.push(column);
    }
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(io::Error::other)
}

fn counts(counts: impl Iterator<Item = usize>) -> io::Result<ArrayRef> {
    let counts = counts.map(|count| u32::try_from(count).map_err(io::Error::other));
    Ok(array::<UInt32Type>(counts.collect::<io::Result<_>>()?))
}

/// All cells of a probe, end to end.
#[expect(clippy::cast_possible_truncation, reason = "scalars of probes with an integer dtype are integers")]
#[expect(clippy::cast_possible_wrap, reason = "a sample has at most 65536 nodes")]
fn cells(trajectories: &Trajectories, index: usize, probe: &Probe) -> ArrayRef {
    if probe.kind == Kind::MaskOne {
        return one_hot(trajectories, index);
    }
    match trajectories.cells(index, 0..trajectories.len()) {
        Cells::Scalar(cells) if probe.dtype == DType::I64 => array::<Int64Type>(cells.iter().map(|&x| x as i64).collect()),
        Cells::Scalar(cells) => array::<Float64Type>(cells.to_vec()),
        Cells::Class(cells) => array::<Int8Type>(cells.to_vec()),
        Cells::Node(cells) => array::<Int32Type>(cells.iter().map(|&node| node as i32).collect()),
    }
}

fn one_hot(trajectories: &Trajectories, index: usize) -> ArrayRef {
    let mut cells = Vec::new();
    for sample in trajectories.iter() {
        let Cells::Node(rows) = sample.cells(index) else { unreachable!("a one-hot mask is stored as its node") };
        for &row in rows {
            let start = cells.len();
            cells.resize(start + sample.nodes(), 0);
            cells[start + row as usize] = 1;
        }
    }
    array::<Int8Type>(cells)
}

fn array<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None))
}

pub(crate) fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}
