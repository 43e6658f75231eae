//! Decodes record batches to trajectories.
//!
//! arrow-ipc's own reader trusts a file's offsets and lengths. The layout is fixed here, so it is decoded by hand from
//! messages that arrow-ipc has verified: first nodes and steps, from which the length of every other buffer follows. A
//! buffer that claims another length is rejected before memory is allocated for it.

use std::io;

use arrow_ipc::{BodyCompressionMethod, CompressionType, FieldNode, RecordBatch, root_as_message};
use clrs::trajectory::TrajectoriesError;
use clrs::{Column, Probe, Spec, Trajectories};
use zstd::bulk::Decompressor;

use super::encode::size_of_cell;
use super::schema::NodeWidth;
use super::{Extent, Header};

/// Maximum ratio of a zstd frame: a block of four bytes can stand for 128 KiB of one value.
const MAX_RATIO: usize = 128 * 1024 / 4;

/// Memory for one sample besides its cells: where it starts, in every column.
const BYTES_PER_SAMPLE: usize = 32;

/// Nodes and steps come before the columns of the probes.
const EXTENT_COLUMNS: usize = 2;

/// What is wrong with a record batch.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum Corruption {
    #[error("it reaches past the end of the file, or into the batch before it")]
    OutOfBounds,
    #[error("found {0} instead of a record batch")]
    Message(String),
    #[error("its {0} do not fit its columns")]
    Layout(&'static str),
    #[error("it claims more values than {bytes} bytes can contain")]
    Claim { bytes: usize },
    #[error("it takes more than {max_bytes} bytes of memory")]
    TooLarge { max_bytes: usize },
    #[error("a buffer cannot be decompressed: {0}")]
    Zstd(#[source] io::Error),
    #[error("the offsets of `{probe}` do not follow from the nodes and steps of its samples")]
    Offsets { probe: String },
    #[error("sample {sample} has {nodes} nodes, and the set was created for at most {max_nodes}")]
    Nodes { sample: usize, nodes: usize, max_nodes: usize },
    #[error("{0}")]
    Trajectories(#[from] TrajectoriesError),
}

/// The record batch of a message.
fn record_batch(message: &[u8]) -> Result<RecordBatch<'_>, Corruption> {
    let message = message.get(8..).ok_or(Corruption::OutOfBounds)?; // continuation marker and length
    let message = root_as_message(message).map_err(|error| Corruption::Message(error.to_string()))?;
    message.header_as_record_batch().ok_or_else(|| Corruption::Message(format!("a {:?}", message.header_type())))
}

/// Number of bytes at the start of the body that hold the nodes and steps.
pub(super) fn extents_length(message: &[u8]) -> Result<usize, Corruption> {
    let buffers = record_batch(message)?.buffers().ok_or(Corruption::Layout("buffers"))?;
    let ends = buffers.iter().take(2 * EXTENT_COLUMNS).map(|buffer| buffer.offset().checked_add(buffer.length()));
    let end = ends.map(|end| end.and_then(|end| usize::try_from(end).ok())).try_fold(0, |max, end| Some(max.max(end?)));
    end.ok_or(Corruption::OutOfBounds)
}

/// Decodes the record batches of one set.
pub(super) struct Decoder {
    spec: Spec,
    max_nodes: usize,
    max_bytes: usize,
    decompressor: Decompressor<'static>,
    scratch: Vec<u8>,
}

impl Decoder {
    /// `max_bytes` limits the memory of one record batch.
    pub(super) fn new(header: &Header, max_bytes: usize) -> io::Result<Decoder> {
        let decompressor = Decompressor::new()?;
        Ok(Decoder { spec: header.spec.clone(), max_nodes: header.max_nodes, max_bytes, decompressor, scratch: Vec::new() })
    }

    /// Reads the trajectories of a message and its body.
    pub(super) fn decode(&mut self, message: &[u8], body: &[u8]) -> Result<Trajectories, Corruption> {
        let batch = record_batch(message)?;
        let mut buffers = self.buffers(batch, body)?;
        let (nodes, steps) = self.extents(&mut buffers, batch)?;
        let samples = nodes.len();
        let extents = || nodes.iter().zip(&steps).map(|(&nodes, &steps)| (nodes as usize, steps as usize));
        let lengths = |probe: &Probe| {
            let length = |(nodes, steps)| probe.rows(steps).saturating_mul(probe.width(nodes));
            extents().map(length).fold(0, usize::saturating_add)
        };
        let spec = self.spec.clone();
        let bytes = spec.iter().map(|probe| lengths(probe).saturating_mul(size_of_cell(&Column::of(probe.kind))));
        if bytes.fold(0, usize::saturating_add) > self.max_bytes {
            return Err(Corruption::TooLarge { max_bytes: self.max_bytes });
        }

        let mut columns = Vec::with_capacity(spec.len());
        for probe in spec.iter() {
            buffers.node(samples)?;
            buffers.validity()?;
            self.offsets(&mut buffers, probe, extents())?;
            buffers.node(lengths(probe))?;
            buffers.validity()?;
            columns.push(self.column(&mut buffers, probe, lengths(probe))?);
        }
        Ok(Trajectories::from_columns(spec, extents(), columns)?)
    }

    /// Reads the nodes and steps of every sample of a message. Only the [first bytes](extents_length) of the body are needed.
    pub(super) fn decode_extents(&mut self, message: &[u8], body: &[u8]) -> Result<Vec<Extent>, Corruption> {
        let batch = record_batch(message)?;
        let mut buffers = self.buffers(batch, body)?;
        let (nodes, steps) = self.extents(&mut buffers, batch)?;
        let extent = |(nodes, steps): (u32, u32)| Extent { nodes: nodes as usize, steps: steps as usize };
        Ok(nodes.into_iter().zip(steps).map(extent).collect())
    }

    fn buffers<'a>(&self, batch: RecordBatch<'a>, body: &'a [u8]) -> Result<Buffers<'a>, Corruption> {
        Buffers::new(batch, body, EXTENT_COLUMNS + 2 * self.spec.len(), self.max_bytes)
    }

    /// The first two columns: nodes and steps of every sample.
    fn extents(&mut self, buffers: &mut Buffers<'_>, batch: RecordBatch<'_>) -> Result<(Vec<u32>, Vec<u32>), Corruption> {
        let samples = usize::try_from(batch.length()).map_err(|_| Corruption::Layout("rows"))?;
        if samples.saturating_mul(BYTES_PER_SAMPLE) > self.max_bytes {
            return Err(Corruption::TooLarge { max_bytes: self.max_bytes });
        }
        let nodes = self.counts(buffers, samples)?;
        let steps = self.counts(buffers, samples)?;
        match nodes.iter().position(|&nodes| nodes as usize > self.max_nodes) {
            Some(sample) => Err(Corruption::Nodes { sample, nodes: nodes[sample] as usize, max_nodes: self.max_nodes }),
            None => Ok((nodes, steps)),
        }
    }

    /// A column of one number per sample.
    fn counts(&mut self, buffers: &mut Buffers<'_>, samples: usize) -> Result<Vec<u32>, Corruption> {
        buffers.node(samples)?;
        buffers.validity()?;
        self.cells(buffers, samples)
    }

    /// Checks that the offsets of a column follow from the nodes and steps.
    fn offsets(
        &mut self,
        buffers: &mut Buffers<'_>,
        probe: &Probe,
        extents: impl ExactSizeIterator<Item = (usize, usize)>,
    ) -> Result<(), Corruption> {
        let offsets: Vec<i32> = self.cells(buffers, extents.len() + 1)?;
        let ends = extents.scan(0, |end, (nodes, steps)| {
            *end += probe.rows(steps) * probe.width(nodes); // the sum is below `max_bytes`
            Some(*end)
        });
        let is_valid = [0].into_iter().chain(ends).zip(&offsets).all(|(end, &offset)| usize::try_from(offset) == Ok(end));
        if is_valid { Ok(()) } else { Err(Corruption::Offsets { probe: probe.name.to_string() }) }
    }

    fn column(&mut self, buffers: &mut Buffers<'_>, probe: &Probe, length: usize) -> Result<Column, Corruption> {
        Ok(match Column::of(probe.kind) {
            Column::Scalar(_) => Column::Scalar(self.cells(buffers, length)?),
            Column::Class(_) => Column::Class(self.cells(buffers, length)?),
            Column::Node(_) => Column::Node(match NodeWidth::of(self.max_nodes) {
                NodeWidth::One => self.widened(buffers, length, |&[node]: &[u8; 1]| u32::from(node))?,
                NodeWidth::Two => self.widened(buffers, length, |&pair| u32::from(u16::from_le_bytes(pair)))?,
                NodeWidth::Four => self.cells(buffers, length)?,
            }),
        })
    }

    /// The next buffer, of `count` nodes stored in `BYTES` bytes each.
    fn widened<const BYTES: usize>(
        &mut self,
        buffers: &mut Buffers<'_>,
        count: usize,
        widen: impl Fn(&[u8; BYTES]) -> u32,
    ) -> Result<Vec<u32>, Corruption> {
        let source = buffers.next(count.saturating_mul(BYTES))?;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.resize(count * BYTES, 0); // `next` has bounded the product
        self.fill(source, &mut scratch)?;
        let cells = scratch.as_chunks().0.iter().map(widen).collect();
        self.scratch = scratch;
        Ok(cells)
    }

    /// The next buffer, of `count` values.
    fn cells<T: bytemuck::Pod>(&mut self, buffers: &mut Buffers<'_>, count: usize) -> Result<Vec<T>, Corruption> {
        let source = buffers.next(count.saturating_mul(size_of::<T>()))?;
        let mut cells = vec![T::zeroed(); count];
        self.fill(source, bytemuck::cast_slice_mut(&mut cells))?;
        Ok(cells)
    }

    fn fill(&mut self, source: BufferBytes<'_>, into: &mut [u8]) -> Result<(), Corruption> {
        match source {
            BufferBytes::Plain(bytes) => into.copy_from_slice(bytes),
            BufferBytes::Zstd(bytes) => {
                let written = self.decompressor.decompress_to_buffer(bytes, into).map_err(Corruption::Zstd)?;
                if written != into.len() {
                    return Err(Corruption::Layout("compressed buffers"));
                }
            }
        }
        Ok(())
    }
}

/// The buffers of a record batch, in order.
struct Buffers<'a> {
    nodes: flatbuffers::VectorIter<'a, FieldNode>,
    locations: flatbuffers::VectorIter<'a, arrow_ipc::Buffer>,
    body: &'a [u8],
    is_compressed: bool,
    max_bytes: usize,
}

/// Contents of a buffer.
#[derive(Clone, Copy)]
enum BufferBytes<'a> {
    /// The bytes themselves, as many as requested.
    Plain(&'a [u8]),
    /// A frame that claims to hold as many.
    Zstd(&'a [u8]),
}

impl<'a> Buffers<'a> {
    fn new(batch: RecordBatch<'a>, body: &'a [u8], nodes: usize, max_bytes: usize) -> Result<Buffers<'a>, Corruption> {
        let is_compressed = match batch.compression() {
            None => false,
            Some(how) if how.codec() == CompressionType::ZSTD && how.method() == BodyCompressionMethod::BUFFER => true,
            Some(_) => return Err(Corruption::Message("another compression".into())),
        };
        let (Some(field_nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
            return Err(Corruption::Layout("buffers"));
        };
        if field_nodes.len() != nodes || buffers.len() != 2 * nodes {
            return Err(Corruption::Layout("buffers"));
        }
        Ok(Buffers { nodes: field_nodes.iter(), locations: buffers.iter(), body, is_compressed, max_bytes })
    }

    /// Checks that the next column has `length` values, none of them null.
    fn node(&mut self, length: usize) -> Result<(), Corruption> {
        let node = self.nodes.next().ok_or(Corruption::Layout("columns"))?;
        let is_valid = usize::try_from(node.length()) == Ok(length) && node.null_count() == 0;
        if is_valid { Ok(()) } else { Err(Corruption::Layout("lengths")) }
    }

    /// Skips a validity buffer: there are no nulls.
    fn validity(&mut self) -> Result<(), Corruption> {
        self.locations.next().map(|_| ()).ok_or(Corruption::Layout("buffers"))
    }

    /// The next buffer, which must hold `bytes` bytes once decompressed.
    fn next(&mut self, bytes: usize) -> Result<BufferBytes<'a>, Corruption> {
        if bytes > self.max_bytes {
            return Err(Corruption::TooLarge { max_bytes: self.max_bytes });
        }
        let buffer = self.locations.next().ok_or(Corruption::Layout("buffers"))?;
        let start = usize::try_from(buffer.offset()).map_err(|_| Corruption::OutOfBounds)?;
        let length = usize::try_from(buffer.length()).map_err(|_| Corruption::OutOfBounds)?;
        let end = start.checked_add(length).ok_or(Corruption::OutOfBounds)?;
        let stored = self.body.get(start..end).ok_or(Corruption::OutOfBounds)?;
        let claim = Corruption::Claim { bytes: stored.len() };
        if !self.is_compressed || (bytes == 0 && stored.is_empty()) {
            return stored.get(..bytes).map(BufferBytes::Plain).ok_or(claim);
        }
        // A compressed buffer starts with its decompressed length, or with -1 if it is stored uncompressed.
        let Some((claimed, stored)) = stored.split_first_chunk::<8>() else { return Err(claim) };
        match i64::from_le_bytes(*claimed) {
            -1 => stored.get(..bytes).map(BufferBytes::Plain).ok_or(claim),
            claimed if usize::try_from(claimed) != Ok(bytes) => Err(Corruption::Layout("buffers")),
            _ if bytes / MAX_RATIO > stored.len() => Err(claim),
            _ => Ok(BufferBytes::Zstd(stored)),
        }
    }
}
