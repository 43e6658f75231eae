use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{Footer, KeyValue, root_as_footer};
use clrs::{ContentHash, ContentHasher, Trajectories};

use super::decode::{Corruption, Decoder};
use super::schema::fields;
use super::{FORMAT, FORMAT_KEY, HASH_KEY, HEADER_HASH_KEY, HEADER_KEY, Header, MAGIC, SAMPLES_KEY, is_valid_set_name};
use crate::error::{At, StoreError, StoreErrorKind};

/// Reads a set. Opening it reads what it says of itself; samples are read, and checked, as they are asked for.
pub struct SetReader<R = File> {
    path: PathBuf,
    file: R,
    header: Header,
    samples: u64,
    hash: ContentHash,
    blocks: Vec<Block>,
    decoder: Decoder,
    scratch: Vec<u8>,
}

/// Where a record batch is: inside the file, that is known.
#[derive(Clone, Copy)]
struct Block {
    start: u64,
    message: usize,
    body: usize,
}

impl SetReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<SetReader, StoreError> {
        SetReader::new(File::open(path).at(path)?, path)
    }
}

impl<R: Read + Seek> SetReader<R> {
    /// Opens what is at hand; `path` is what messages call it.
    pub fn new(mut file: R, path: &Path) -> Result<SetReader<R>, StoreError> {
        let length = file.seek(SeekFrom::End(0)).at(path)?;
        let footer = read_footer(&mut file, length).at(path)?;
        let footer = root_as_footer(&footer).map_err(|error| StoreErrorKind::NotASet(format!("its footer is damaged: {error}")));
        let footer = footer.at(path)?;
        let header = read_header(&footer).at(path)?;
        let samples = find(footer.custom_metadata(), SAMPLES_KEY).and_then(|samples| samples.parse().ok());
        let hash = find(footer.custom_metadata(), HASH_KEY).and_then(|hash| ContentHash::try_from(hash.to_owned()).ok());
        let (Some(samples), Some(hash)) = (samples, hash) else {
            return Err(StoreErrorKind::NotASet("it does not say how many samples it has, or their hash".into())).at(path);
        };
        let blocks = read_blocks(&footer, length).at(path)?;
        let decoder = Decoder::new(&header).at(path)?;
        Ok(SetReader { path: path.into(), file, header, samples, hash, blocks, decoder, scratch: Vec::new() })
    }

    /// What the set is.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many samples it says it has.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The content hash it says it has.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// What messages call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All samples, a record batch at a time.
    pub fn batches(&mut self) -> Batches<'_, R> {
        Batches { reader: self, next: 0, samples: 0 }
    }

    /// All samples at once.
    pub fn read_all(&mut self) -> Result<Trajectories, StoreError> {
        let mut all = Trajectories::new(self.header.spec.clone());
        for runs in self.batches() {
            all.append(&runs?);
        }
        Ok(all)
    }

    /// Reads everything, and compares the content hash.
    pub fn verify(&mut self) -> Result<(), StoreError> {
        let mut hasher = ContentHasher::new(&self.header.spec);
        for runs in self.batches() {
            for run in runs?.iter() {
                hasher.update(&run);
            }
        }
        let (expected, found) = (self.hash, hasher.finish());
        if found == expected { Ok(()) } else { Err(StoreErrorKind::HashMismatch { expected, found }).at(&self.path) }
    }

    fn read_batch(&mut self, batch: usize) -> Result<Trajectories, StoreErrorKind> {
        let Block { start, message, body } = self.blocks[batch];
        self.file.seek(SeekFrom::Start(start))?;
        self.scratch.clear();
        self.scratch.resize(message + body, 0);
        self.file.read_exact(&mut self.scratch)?;
        let (message, body) = self.scratch.split_at(message);
        self.decoder.decode(message, body).map_err(|corruption| StoreErrorKind::CorruptBatch { batch, corruption })
    }
}

/// The samples of a set, a record batch at a time. Ends after the first error.
pub struct Batches<'r, R> {
    reader: &'r mut SetReader<R>,
    next: usize,
    samples: u64,
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
        let read = if batch < batches { self.reader.read_batch(batch).map(Some) } else { self.end().map(|()| None) };
        match &read {
            Ok(runs) => self.samples += runs.as_ref().map_or(0, |runs| runs.len() as u64),
            Err(_) => self.next = batches + 1,
        }
        read.at(&self.reader.path).transpose()
    }
}

impl<R> Batches<'_, R> {
    fn end(&self) -> Result<(), StoreErrorKind> {
        let (expected, found) = (self.reader.samples, self.samples);
        if found == expected { Ok(()) } else { Err(StoreErrorKind::SampleCount { expected, found }) }
    }
}

/// The bytes before the last ten, which say how many they are.
fn read_footer(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<u8>, StoreErrorKind> {
    let not_arrow = || StoreErrorKind::NotASet("it is no Arrow IPC file, or not a whole one".into());
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

/// What the set says it is. Its columns are those of its spec.
fn read_header(footer: &Footer<'_>) -> Result<Header, StoreErrorKind> {
    let schema = footer.schema().ok_or_else(|| StoreErrorKind::NotASet("it has no schema".into()))?;
    let format = find(schema.custom_metadata(), FORMAT_KEY);
    let format = format.ok_or_else(|| StoreErrorKind::NotASet(format!("an Arrow file without `{FORMAT_KEY}`")))?;
    if format != FORMAT {
        return Err(StoreErrorKind::UnsupportedFormat { found: format.chars().take(32).collect() });
    }
    let header = find(schema.custom_metadata(), HEADER_KEY).unwrap_or_default();
    let hash = find(footer.custom_metadata(), HEADER_HASH_KEY);
    if hash != Some(ContentHash::of_bytes(header.as_bytes()).to_string().as_str()) {
        return Err(StoreErrorKind::NotASet("its header is not what was written".into()));
    }
    let header: Header = serde_json::from_str(header).map_err(|error| StoreErrorKind::NotASet(format!("its header: {error}")))?;
    if !is_valid_set_name(&header.name) {
        return Err(StoreErrorKind::NotASet("its name is none that a set can have".into()));
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

/// Where the record batches are. None reaches over the end of the file, so none takes more memory than the file has bytes.
fn read_blocks(footer: &Footer<'_>, length: u64) -> Result<Vec<Block>, StoreErrorKind> {
    let inside = |block: &arrow_ipc::Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let message = u64::try_from(block.metaDataLength()).ok()?;
        let body = u64::try_from(block.bodyLength()).ok()?;
        start.checked_add(message)?.checked_add(body).filter(|&end| end <= length)?;
        Some(Block { start, message: usize::try_from(message).ok()?, body: usize::try_from(body).ok()? })
    };
    let blocks = footer.recordBatches().into_iter().flatten().enumerate();
    let outside = |batch| StoreErrorKind::CorruptBatch { batch, corruption: Corruption::Outside };
    blocks.map(|(batch, block)| inside(block).ok_or_else(|| outside(batch))).collect()
}
