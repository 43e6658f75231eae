use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{Float64Type, Int8Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrowPrimitiveType, ListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::writer::{DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use clrs::{Cells, Column, ContentHash, Spec, Trajectories};
use rayon::prelude::*;

use super::schema::{NodeWidth, item, schema};
use super::{Header, MAX_BATCH_BYTES};
use crate::error::StoreErrorKind;

/// Memory of a record batch, unless a single sample takes more: enough for zstd to find repetitions.
const BATCH_BYTES: usize = 16 << 20;

/// Measured with `examples/store_speed.rs`: level 3 takes a fifth longer for files that are 2% larger; level -1 is no faster, and
/// its files are a third larger.
const ZSTD_LEVEL: i32 = 1;

/// Compresses trajectories for a set, which is most of the work of writing and can be done on any thread.
#[derive(Clone)]
pub struct Encoder {
    spec: Spec,
    max_nodes: usize,
    pub(super) schema: SchemaRef,
    pub(super) options: IpcWriteOptions,
}

/// Trajectories, ready to be written.
pub struct Encoded {
    pub(super) batches: Vec<EncodedData>,
    pub(super) hashes: Vec<ContentHash>,
}

impl Encoder {
    pub(super) fn new(header: &Header) -> Result<Encoder, ArrowError> {
        let options = IpcWriteOptions::try_new(64, false, MetadataVersion::V5)?
            .try_with_compression(Some(CompressionType::ZSTD))?
            .try_with_compression_level(Some(ZSTD_LEVEL))?;
        let schema = Arc::new(schema(header));
        Ok(Encoder { spec: header.spec.clone(), max_nodes: header.max_nodes, schema, options })
    }

    /// Hashes and compresses trajectories.
    pub fn encode(&self, trajectories: &Trajectories) -> Result<Encoded, StoreErrorKind> {
        if *trajectories.spec() != self.spec {
            return Err(StoreErrorKind::SpecMismatch);
        }
        if let Some(nodes) = trajectories.iter().map(|sample| sample.nodes()).find(|&nodes| nodes > self.max_nodes) {
            return Err(StoreErrorKind::TooManyNodes { nodes, max_nodes: self.max_nodes });
        }
        let hash = || {
            let samples = (0..trajectories.len()).into_par_iter();
            samples.map(|sample| ContentHash::of_sample(&trajectories.get(sample))).collect()
        };
        let (hashes, batches) = rayon::join(hash, || self.compress(trajectories));
        Ok(Encoded { batches: batches?, hashes })
    }

    fn compress(&self, trajectories: &Trajectories) -> Result<Vec<EncodedData>, StoreErrorKind> {
        let mut context = IpcWriteContext::default();
        let mut batches = Vec::new();
        for samples in split_into_batches(trajectories)? {
            let batch = self.record_batch(trajectories, samples).map_err(into_io)?;
            let mut dictionaries = DictionaryTracker::new(true);
            let encoded = IpcDataGenerator::default().encode(&batch, &mut dictionaries, &self.options, &mut context);
            batches.push(encoded.map_err(into_io)?.1);
        }
        Ok(batches)
    }

    fn record_batch(&self, trajectories: &Trajectories, samples: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let width = NodeWidth::of(self.max_nodes);
        let trajectories_of = || samples.clone().map(|sample| trajectories.get(sample));
        let nodes = trajectories_of().map(|trajectory| count(trajectory.nodes())).collect::<Result<Vec<u32>, _>>()?;
        let steps = trajectories_of().map(|trajectory| count(trajectory.steps())).collect::<Result<Vec<u32>, _>>()?;
        let mut columns: Vec<Arc<dyn Array>> = vec![array::<UInt32Type>(nodes), array::<UInt32Type>(steps)];
        for (index, probe) in self.spec.iter().enumerate() {
            let values = values(trajectories.cells(index, samples.clone()), width);
            let lengths = trajectories_of().map(|trajectory| trajectory.cells(index).count());
            let list = ListArray::try_new(item(probe, width), OffsetBuffer::from_lengths(lengths), values, None)?;
            columns.push(Arc::new(list));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// The samples of each record batch.
fn split_into_batches(trajectories: &Trajectories) -> Result<Vec<Range<usize>>, StoreErrorKind> {
    let (mut batches, mut start, mut sum) = (Vec::new(), 0, 0);
    for (index, sample) in trajectories.iter().enumerate() {
        let bytes = sample.iter().map(|(_, cells)| size_of_cells(cells)).sum();
        if bytes > MAX_BATCH_BYTES {
            return Err(StoreErrorKind::SampleTooLarge { bytes });
        }
        if index > start && sum + bytes > BATCH_BYTES {
            batches.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += bytes;
    }
    if start < trajectories.len() {
        batches.push(start..trajectories.len());
    }
    Ok(batches)
}

/// Narrows nodes to the width they are stored in.
#[expect(clippy::cast_possible_truncation, reason = "every node is below the number of nodes, which the width is for")]
fn values(cells: Cells<'_>, width: NodeWidth) -> Arc<dyn Array> {
    match (cells, width) {
        (Cells::Scalar(cells), _) => array::<Float64Type>(cells.to_vec()),
        (Cells::Class(cells), _) => array::<Int8Type>(cells.to_vec()),
        (Cells::Node(cells), NodeWidth::One) => array::<UInt8Type>(cells.iter().map(|&node| node as u8).collect()),
        (Cells::Node(cells), NodeWidth::Two) => array::<UInt16Type>(cells.iter().map(|&node| node as u16).collect()),
        (Cells::Node(cells), NodeWidth::Four) => array::<UInt32Type>(cells.to_vec()),
    }
}

fn array<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> Arc<dyn Array> {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None))
}

fn count(count: usize) -> Result<u32, ArrowError> {
    u32::try_from(count).map_err(|_| ArrowError::InvalidArgumentError(format!("{count} does not fit in 32 bits")))
}

fn size_of_cells(cells: Cells<'_>) -> usize {
    match cells {
        Cells::Scalar(cells) => size_of_val(cells),
        Cells::Node(cells) => size_of_val(cells),
        Cells::Class(cells) => size_of_val(cells),
    }
}

/// Number of bytes of a cell in memory.
pub(super) fn size_of_cell(column: &Column) -> usize {
    match column {
        Column::Scalar(_) => size_of::<f64>(),
        Column::Node(_) => size_of::<u32>(),
        Column::Class(_) => size_of::<i8>(),
    }
}

pub(super) fn into_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
