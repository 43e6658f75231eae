use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Footer, KeyValue, root_as_footer};
use clrs::{ContentHash, ContentHasher, Trajectories};

use super::decode::{Corruption, Decoder, extents_length};
use super::schema::fields;
use super::{
    FORMAT, FORMAT_KEY, HASH_KEY, HEADER_HASH_KEY, HEADER_KEY, Header, MAGIC, MAX_BATCH_BYTES, SAMPLES_KEY, is_valid_set_name,
};
use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::open_regular;

/// Reads the file of a set, or of a shard of one.
///
/// Opening a file reads its header; samples are read and validated on demand. The values are compared with the content hash
/// whenever all of them are read. Sets that may be sharded are opened with [`Set`](crate::Set), which also compares the
/// header with the name of the file.
///
/// # Examples
///
/// ```
/// use clrs::sampling::Sampler;
/// use clrs::{Registry, SamplerOptions};
/// use clrs_store::{Header, OnExisting, Provenance, SetReader, SetWriter};
///
/// let bfs = Registry::builtin().find("bfs")?;
/// let mut recorder = bfs.recorder();
/// Sampler::new(bfs, 8, 1, &SamplerOptions::default())?.record(3, &mut recorder)?;
/// let trajectories = recorder.into_trajectories();
///
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("bfs_train.arrow");
/// let header = Header {
///     name: "bfs_train".into(),
///     algorithm: "bfs".into(),
///     max_nodes: 8,
///     provenance: Provenance { size: 8, samples: 3, seed: 1, ..Provenance::default() },
///     spec: trajectories.spec().clone(),
/// };
/// let mut writer = SetWriter::create(&path, &header, OnExisting::Fail)?;
/// writer.write(&trajectories)?;
/// let summary = writer.finish()?;
///
/// let mut reader = SetReader::open(&path)?;
/// assert_eq!((reader.samples(), reader.hash()), (3, summary.hash));
/// assert_eq!(reader.read_all()?, trajectories);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SetReader<R = File> {
    path: PathBuf,
    file: R,
    header: Header,
    samples: u64,
    hash: ContentHash,
    blocks: Vec<Block>,
    limits: ReadLimits,
    decoder: Decoder,
    scratch: Vec<u8>,
}

/// Limits on the memory that reading may take. A file that claims more is rejected before the memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Maximum memory, in bytes, of the samples of one record batch. By default [`MAX_BATCH_BYTES`], which no writer exceeds.
    pub batch_bytes: usize,
    /// Maximum memory, in bytes, of all samples in `read_all`. By default unlimited.
    pub total_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> ReadLimits {
        ReadLimits { batch_bytes: MAX_BATCH_BYTES, total_bytes: usize::MAX }
    }
}

/// Number of nodes and of hint steps of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented by the struct")]
pub struct Extent {
    pub nodes: usize,
    pub steps: usize,
}

/// Location of a record batch, inside the file.
#[derive(Clone, Copy)]
struct Block {
    start: u64,
    message: usize,
    body: usize,
}

impl SetReader {
    /// Opens a file. Only regular files are opened.
    pub fn open(path: &Path) -> Result<SetReader, StoreError> {
        SetReader::new(open_regular(path)?, path)
    }
}

impl<R: Read + Seek> SetReader<R> {
    /// Reads from any source; `path` is used in error messages.
    pub fn new(file: R, path: &Path) -> Result<SetReader<R>, StoreError> {
        SetReader::with_limits(file, path, ReadLimits::default())
    }

    /// Like [`new`](SetReader::new), with explicit limits.
    pub fn with_limits(mut file: R, path: &Path, limits: ReadLimits) -> Result<SetReader<R>, StoreError> {
        let length = file.seek(SeekFrom::End(0)).at(path)?;
        let footer = read_footer(&mut file, length).at(path)?;
        let footer = root_as_footer(&footer).map_err(|error| StoreErrorKind::NotASet(format!("corrupt footer: {error}")));
        let footer = footer.at(path)?;
        let header = read_header(&footer).at(path)?;
        let samples = find(footer.custom_metadata(), SAMPLES_KEY).and_then(|samples| samples.parse().ok());
        let hash = find(footer.custom_metadata(), HASH_KEY).and_then(|hash| ContentHash::try_from(hash.to_owned()).ok());
        let (Some(samples), Some(hash)) = (samples, hash) else {
            return Err(StoreErrorKind::NotASet(format!("`{SAMPLES_KEY}` or `{HASH_KEY}` is missing"))).at(path);
        };
        let blocks = read_blocks(&footer, length).at(path)?;
        let decoder = Decoder::new(&header, limits.batch_bytes).at(path)?;
        Ok(SetReader { path: path.into(), file, header, samples, hash, blocks, limits, decoder, scratch: Vec::new() })
    }

    /// Description of the set.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of samples in the file, as stored.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Content hash of the file's samples, as stored.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Iterates over all samples, one record batch at a time.
    ///
    /// After the last batch, the number of samples and their content hash are compared with those stored: an iteration that
    /// ends without an error has yielded what was written.
    pub fn batches(&mut self) -> Batches<'_, R> {
        let hasher = ContentHasher::new(&self.header.spec);
        Batches { reader: self, next: 0, samples: 0, hasher }
    }

    /// Reads all samples, and compares the content hash.
    pub fn read_all(&mut self) -> Result<Trajectories, StoreError> {
        let mut all = Trajectories::new(self.header.spec.clone());
        let max_bytes = self.limits.total_bytes;
        for batch in self.batches() {
            let batch = batch?;
            if all.bytes().saturating_add(batch.bytes()) > max_bytes {
                return Err(StoreErrorKind::SetTooLarge { max_bytes }).at(&self.path);
            }
            all.append(&batch);
        }
        Ok(all)
    }

    /// Reads all samples, one record batch at a time, only to compare the content hash.
    pub fn verify(&mut self) -> Result<(), StoreError> {
        self.batches().try_for_each(|batch| batch.map(drop))
    }

    /// Nodes and steps of every sample, in order. Takes a fraction of the time of reading the samples, and compares no hash.
    pub fn extents(&mut self) -> Result<Vec<Extent>, StoreError> {
        let mut extents = Vec::new();
        for batch in 0..self.blocks.len() {
            extents.extend(self.read_extents(batch).at(&self.path)?);
        }
        let (expected, found) = (self.samples, extents.len() as u64);
        if found == expected { Ok(extents) } else { Err(StoreErrorKind::SampleCount { expected, found }).at(&self.path) }
    }

    fn read_batch(&mut self, batch: usize) -> Result<Trajectories, StoreErrorKind> {
        let Block { start, message, body } = self.blocks[batch];
        self.read_bytes(start, message + body)?;
        let (message, body) = self.scratch.split_at(message);
        self.decoder.decode(message, body).map_err(|corruption| StoreErrorKind::CorruptBatch { batch, corruption })
    }

    fn read_extents(&mut self, batch: usize) -> Result<Vec<Extent>, StoreErrorKind> {
        let corrupt = |corruption| StoreErrorKind::CorruptBatch { batch, corruption };
        let Block { start, message, body } = self.blocks[batch];
        self.read_bytes(start, message)?;
        let needed = extents_length(&self.scratch).map_err(corrupt)?;
        self.read_bytes(start, message + needed.min(body))?;
        let (message, body) = self.scratch.split_at(message);
        self.decoder.decode_extents(message, body).map_err(corrupt)
    }

    /// Reads bytes that are known to be inside the file.
    fn read_bytes(&mut self, start: u64, length: usize) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(start))?;
        self.scratch.clear();
        self.scratch.resize(length, 0);
        self.file.read_exact(&mut self.scratch)
    }
}

/// Iterator over the samples of a set, one record batch at a time. Ends after the first error.
pub struct Batches<'r, R = File> {
    reader: &'r mut SetReader<R>,
    next: usize,
    samples: u64,
    hasher: ContentHasher,
}

impl<R: Read + Seek> Iterator for Batches<'_, R> {
    type Item = Result<Trajectories, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = self.reader.blocks.len();
        if self.next > batches {
            return None;
        }
        let batch = self.next;
        self.next += 1;
        let read = if batch < batches { self.reader.read_batch(batch).map(Some) } else { self.finish().map(|()| None) };
        match &read {
            Ok(Some(trajectories)) => self.hash(trajectories),
            Ok(None) => {}
            Err(_) => self.next = batches + 1,
        }
        read.at(&self.reader.path).transpose()
    }
}

impl<R> Batches<'_, R> {
    fn hash(&mut self, trajectories: &Trajectories) {
        self.samples += trajectories.len() as u64;
        trajectories.iter().for_each(|sample| self.hasher.update(&sample));
    }

    fn finish(&self) -> Result<(), StoreErrorKind> {
        let (expected, found) = (self.reader.samples, self.samples);
        if found != expected {
            return Err(StoreErrorKind::SampleCount { expected, found });
        }
        let (expected, found) = (self.reader.hash, self.hasher.finish());
        if found == expected { Ok(()) } else { Err(StoreErrorKind::HashMismatch { expected, found }) }
    }
}

/// The footer is before the last ten bytes: its length and the magic number.
fn read_footer(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<u8>, StoreErrorKind> {
    let not_arrow = || StoreErrorKind::NotASet("not an Arrow IPC file, or an incomplete one".into());
    let end = length.checked_sub(10).ok_or_else(not_arrow)?;
    let mut tail = [0; 10];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut tail)?;
    let (&size, magic) = tail.split_first_chunk::<4>().ok_or_else(not_arrow)?;
    let size = u64::try_from(i32::from_le_bytes(size)).ok().filter(|&size| size <= end && magic == MAGIC);
    let size = size.ok_or_else(not_arrow)?;
    file.seek(SeekFrom::Start(end - size))?;
    let mut footer = vec![0; usize::try_from(size).map_err(io::Error::other)?];
    file.read_exact(&mut footer)?;
    Ok(footer)
}

/// Reads the header, and checks that the columns are those of its spec.
fn read_header(footer: &Footer<'_>) -> Result<Header, StoreErrorKind> {
    let schema = footer.schema().ok_or_else(|| StoreErrorKind::NotASet("the schema is missing".into()))?;
    let format = find(schema.custom_metadata(), FORMAT_KEY);
    let format = format.ok_or_else(|| StoreErrorKind::NotASet(format!("an Arrow file without `{FORMAT_KEY}`")))?;
    if format != FORMAT {
        return Err(StoreErrorKind::UnsupportedFormat { found: format.chars().take(32).collect() });
    }
    let header = find(schema.custom_metadata(), HEADER_KEY).unwrap_or_default();
    let hash = find(footer.custom_metadata(), HEADER_HASH_KEY);
    if hash != Some(ContentHash::of_header(header.as_bytes()).to_string().as_str()) {
        return Err(StoreErrorKind::NotASet("the header has been changed".into()));
    }
    let header: Header =
        serde_json::from_str(header).map_err(|error| StoreErrorKind::NotASet(format!("invalid header: {error}")))?;
    if !is_valid_set_name(&header.name) {
        return Err(StoreErrorKind::NotASet("its name is not valid for a set".into()));
    }
    let columns = try_fb_to_schema(schema).map_err(|error| StoreErrorKind::NotASet(error.to_string()))?;
    if columns.fields != fields(&header) {
        return Err(StoreErrorKind::NotASet("its columns are not those of its spec".into()));
    }
    Ok(header)
}

fn find<'a>(metadata: Option<Metadata<'a>>, key: &str) -> Option<&'a str> {
    metadata?.iter().find(|pair| pair.key() == Some(key))?.value()
}

type Metadata<'a> = flatbuffers::Vector<'a, flatbuffers::ForwardsUOffset<KeyValue<'a>>>;

/// Locations of the record batches. They are inside the file and do not overlap, so that together they take no more memory
/// than the file has bytes before they are decompressed.
fn read_blocks(footer: &Footer<'_>, length: u64) -> Result<Vec<Block>, StoreErrorKind> {
    let mut previous_end = 0;
    let mut locate = |block: &arrow_ipc::Block| {
        let start = u64::try_from(block.offset()).ok().filter(|&start| start >= previous_end)?;
        let message = u64::try_from(block.metaDataLength()).ok()?;
        let body = u64::try_from(block.bodyLength()).ok()?;
        previous_end = start.checked_add(message)?.checked_add(body).filter(|&end| end <= length)?;
        Some(Block { start, message: usize::try_from(message).ok()?, body: usize::try_from(body).ok()? })
    };
    let blocks = footer.recordBatches().into_iter().flatten().enumerate();
    let outside = |batch| StoreErrorKind::CorruptBatch { batch, corruption: Corruption::OutOfBounds };
    blocks.map(|(batch, block)| locate(block).ok_or_else(|| outside(batch))).collect()
}
