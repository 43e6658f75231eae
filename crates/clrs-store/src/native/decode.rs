//! Record batches to runs.
//!
//! arrow-ipc's own reader takes a file's word for where buffers lie and how long they get. The layout here is a single one,
//! so it is read by hand, from the messages that arrow-ipc has verified: first nodes and steps, from which the length of
//! every other buffer follows. A buffer that claims another length is refused before memory is taken for it.

use std::io;

use arrow_ipc::{BodyCompressionMethod, CompressionType, FieldNode, RecordBatch, root_as_message};
use clrs::trajectory::TrajectoriesError;
use clrs::{Column, Probe, Spec, Trajectories};
use zstd::bulk::Decompressor;

use super::encode::size_of_cell;
use super::schema::NodeWidth;
use super::{Header, MAX_BATCH_BYTES};

/// No zstd frame holds more per byte: a block of four bytes can stand for 128 KiB of one value.
const MAX_RATIO: usize = 128 * 1024 / 4;

/// What is wrong with a record batch.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Corruption {
    #[error("it lies outside the file")]
    Outside,
    #[error("there is no record batch, but {0}")]
    Message(String),
    #[error("its {0} do not fit its columns")]
    Layout(&'static str),
    #[error("it claims more than its {bytes} bytes can hold")]
    Claim { bytes: usize },
    #[error("it takes more than {MAX_BATCH_BYTES} bytes of memory")]
    TooLarge,
    #[error("a buffer does not decompress: {0}")]
    Zstd(io::Error),
    #[error("`{probe}` is cut into samples at other places than their nodes and steps say")]
    Offsets { probe: String },
    #[error("sample {sample} has {nodes} nodes, and the set was made for {max_nodes} at most")]
    Nodes { sample: usize, nodes: usize, max_nodes: usize },
    #[error("{0}")]
    Runs(#[from] TrajectoriesError),
}

/// Reads the record batches of one set.
pub(super) struct Decoder {
    spec: Spec,
    max_nodes: usize,
    decompressor: Decompressor<'static>,
    scratch: Vec<u8>,
}

impl Decoder {
    pub(super) fn new(header: &Header) -> io::Result<Decoder> {
        let decompressor = Decompressor::new()?;
        Ok(Decoder { spec: header.spec.clone(), max_nodes: header.max_nodes, decompressor, scratch: Vec::new() })
    }

    /// Reads the runs of a message and its body.
    pub(super) fn decode(&mut self, message: &[u8], body: &[u8]) -> Result<Trajectories, Corruption> {
        let message = message.get(8..).ok_or(Corruption::Outside)?; // the mark and the length of a message
        let message = root_as_message(message).map_err(|error| Corruption::Message(error.to_string()))?;
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| Corruption::Message(format!("a {:?}", message.header_type())))?;
        let mut buffers = Buffers::new(batch, body, 2 + 2 * self.spec.len())?;

        let samples = usize::try_from(batch.length()).map_err(|_| Corruption::Layout("rows"))?;
        let nodes = self.counts(&mut buffers, samples)?;
        let steps = self.counts(&mut buffers, samples)?;
        let extents = || nodes.iter().zip(&steps).map(|(&nodes, &steps)| (nodes as usize, steps as usize));
        for (sample, (nodes, _)) in extents().enumerate() {
            if nodes > self.max_nodes {
                return Err(Corruption::Nodes { sample, nodes, max_nodes: self.max_nodes });
            }
        }

        let lengths = |probe: &Probe| {
            let length = |(nodes, steps)| probe.rows(steps).saturating_mul(probe.width(nodes));
            extents().map(length).fold(0, usize::saturating_add)
        };
        let spec = self.spec.clone();
        let bytes = spec.iter().map(|probe| lengths(probe).saturating_mul(size_of_cell(&Column::of(probe.kind))));
        if bytes.fold(0, usize::saturating_add) > MAX_BATCH_BYTES {
            return Err(Corruption::TooLarge);
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

    /// A column of one number per sample.
    fn counts(&mut self, buffers: &mut Buffers<'_>, samples: usize) -> Result<Vec<u32>, Corruption> {
        buffers.node(samples)?;
        buffers.validity()?;
        self.cells(buffers, samples)
    }

    /// Looks whether a column is cut into samples where it must be.
    fn offsets(
        &mut self,
        buffers: &mut Buffers<'_>,
        probe: &Probe,
        extents: impl ExactSizeIterator<Item = (usize, usize)>,
    ) -> Result<(), Corruption> {
        let offsets: Vec<i32> = self.cells(buffers, extents.len() + 1)?;
        let ends = extents.scan(0, |end, (nodes, steps)| {
            *end += probe.rows(steps) * probe.width(nodes); // the sum is known to be small
            Some(*end)
        });
        let holds = [0].into_iter().chain(ends).zip(&offsets).all(|(end, &offset)| usize::try_from(offset) == Ok(end));
        if holds { Ok(()) } else { Err(Corruption::Offsets { probe: probe.name.to_string() }) }
    }

    fn column(&mut self, buffers: &mut Buffers<'_>, probe: &Probe, length: usize) -> Result<Column, Corruption> {
        Ok(match Column::of(probe.kind) {
            Column::Scalar(_) => Column::Scalar(self.cells(buffers, length)?),
            Column::Class(_) => Column::Class(self.cells(buffers, length)?),
            Column::Node(_) => Column::Node(match NodeWidth::of(self.max_nodes) {
                NodeWidth::One => self.wider(buffers, length, |&[node]: &[u8; 1]| u32::from(node))?,
                NodeWidth::Two => self.wider(buffers, length, |&pair| u32::from(u16::from_le_bytes(pair)))?,
                NodeWidth::Four => self.cells(buffers, length)?,
            }),
        })
    }

    /// The next buffer, of so many numbers that are kept in fewer bytes.
    fn wider<const BYTES: usize>(
        &mut self,
        buffers: &mut Buffers<'_>,
        count: usize,
        widen: impl Fn(&[u8; BYTES]) -> u32,
    ) -> Result<Vec<u32>, Corruption> {
        let source = buffers.next(count.saturating_mul(BYTES))?;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.resize(count * BYTES, 0);
        self.fill(source, &mut scratch)?;
        let cells = scratch.as_chunks().0.iter().map(widen).collect();
        self.scratch = scratch;
        Ok(cells)
    }

    /// The next buffer, of so many numbers.
    fn cells<T: bytemuck::Pod>(&mut self, buffers: &mut Buffers<'_>, count: usize) -> Result<Vec<T>, Corruption> {
        let source = buffers.next(count.saturating_mul(size_of::<T>()))?;
        let mut cells = vec![T::zeroed(); count];
        self.fill(source, bytemuck::cast_slice_mut(&mut cells))?;
        Ok(cells)
    }

    fn fill(&mut self, source: Source<'_>, into: &mut [u8]) -> Result<(), Corruption> {
        match source {
            Source::Plain(bytes) => into.copy_from_slice(bytes),
            Source::Zstd(bytes) => {
                let written = self.decompressor.decompress_to_buffer(bytes, into).map_err(Corruption::Zstd)?;
                if written != into.len() {
                    return Err(Corruption::Layout("compressed buffers"));
                }
            }
        }
        Ok(())
    }
}

/// The buffers of a record batch, one after another.
struct Buffers<'a> {
    nodes: flatbuffers::VectorIter<'a, FieldNode>,
    places: flatbuffers::VectorIter<'a, arrow_ipc::Buffer>,
    body: &'a [u8],
    is_compressed: bool,
}

/// What a buffer holds.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// The bytes themselves, as many as were asked for.
    Plain(&'a [u8]),
    /// A frame that claims as many.
    Zstd(&'a [u8]),
}

impl<'a> Buffers<'a> {
    fn new(batch: RecordBatch<'a>, body: &'a [u8], nodes: usize) -> Result<Buffers<'a>, Corruption> {
        let is_compressed = match batch.compression() {
            None => false,
            Some(how) if how.codec() == CompressionType::ZSTD && how.method() == BodyCompressionMethod::BUFFER => true,
            Some(_) => return Err(Corruption::Message("one of another compression".into())),
        };
        let (Some(field_nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
            return Err(Corruption::Layout("buffers"));
        };
        if field_nodes.len() != nodes || buffers.len() != 2 * nodes {
            return Err(Corruption::Layout("buffers"));
        }
        Ok(Buffers { nodes: field_nodes.iter(), places: buffers.iter(), body, is_compressed })
    }

    /// The next column has so many values, none of them null.
    fn node(&mut self, length: usize) -> Result<(), Corruption> {
        let node = self.nodes.next().ok_or(Corruption::Layout("columns"))?;
        let holds = usize::try_from(node.length()) == Ok(length) && node.null_count() == 0;
        if holds { Ok(()) } else { Err(Corruption::Layout("lengths")) }
    }

    /// A column without nulls may say so once more.
    fn validity(&mut self) -> Result<(), Corruption> {
        self.places.next().map(|_| ()).ok_or(Corruption::Layout("buffers"))
    }

    /// The next buffer, which must be able to hold so many bytes.
    fn next(&mut self, bytes: usize) -> Result<Source<'a>, Corruption> {
        let buffer = self.places.next().ok_or(Corruption::Layout("buffers"))?;
        let start = usize::try_from(buffer.offset()).map_err(|_| Corruption::Outside)?;
        let length = usize::try_from(buffer.length()).map_err(|_| Corruption::Outside)?;
        let end = start.checked_add(length).ok_or(Corruption::Outside)?;
        let held = self.body.get(start..end).ok_or(Corruption::Outside)?;
        let claim = Corruption::Claim { bytes: held.len() };
        if !self.is_compressed || (bytes == 0 && held.is_empty()) {
            return held.get(..bytes).map(Source::Plain).ok_or(claim);
        }
        // A compressed buffer begins with its length, or with -1 where it is not compressed after all.
        let Some((claimed, held)) = held.split_first_chunk::<8>() else { return Err(claim) };
        match i64::from_le_bytes(*claimed) {
            -1 => held.get(..bytes).map(Source::Plain).ok_or(claim),
            claimed if usize::try_from(claimed) != Ok(bytes) => Err(Corruption::Layout("buffers")),
            _ if bytes / MAX_RATIO > held.len() => Err(claim),
            _ => Ok(Source::Zstd(held)),
        }
    }
}
