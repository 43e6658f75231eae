use std::io::{self, BufWriter, Write};
use std::path::Path;

use arrow_ipc::convert::{IpcSchemaEncoder, metadata_to_fb};
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, write_message};
use arrow_ipc::{Block, FooterBuilder, MetadataVersion};
use clrs::{ContentHash, ContentHasher, Trajectories};
use flatbuffers::FlatBufferBuilder;
use serde::Serialize;

use super::encode::{Encoded, Encoder, into_io};
use super::{HASH_KEY, HEADER_HASH_KEY, HEADER_KEY, Header, MAGIC, SAMPLES_KEY};
use crate::error::{At, StoreError};
use crate::file::{AtomicFile, OnExisting};

/// Writes a set while it is generated: samples that are written are no longer in memory.
///
/// The file appears in [`finish`](SetWriter::finish). See [`SetReader`](crate::SetReader) for an example.
pub struct SetWriter {
    encoder: Encoder,
    hasher: ContentHasher,
    samples: u64,
    blocks: Vec<Block>,
    file: BufWriter<CountingFile>,
}

/// Contents of a file that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetSummary {
    /// Content hash of the samples.
    pub hash: ContentHash,
    /// Number of samples.
    pub samples: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl SetWriter {
    /// Creates a set without samples. The header is final.
    pub fn create(path: &Path, header: &Header, on_existing: OnExisting) -> Result<SetWriter, StoreError> {
        let file = AtomicFile::create(path, on_existing)?;
        let encoder = Encoder::new(header).map_err(into_io).at(path)?;
        let mut file = BufWriter::new(CountingFile { file, bytes: 0 });
        write_schema(&mut file, &encoder).at(path)?;
        Ok(SetWriter { encoder, hasher: ContentHasher::new(&header.spec), samples: 0, blocks: Vec::new(), file })
    }

    /// Adds samples.
    pub fn write(&mut self, trajectories: &Trajectories) -> Result<(), StoreError> {
        let encoded = self.encoder.encode(trajectories).at(self.path())?;
        self.append(encoded)
    }

    /// Returns an encoder for this set, for use on other threads.
    pub fn encoder(&self) -> Encoder {
        self.encoder.clone()
    }

    /// Adds samples that the set's [`encoder`](SetWriter::encoder) has compressed.
    pub fn append(&mut self, encoded: Encoded) -> Result<(), StoreError> {
        for hash in &encoded.hashes {
            self.hasher.push(*hash);
        }
        self.samples += encoded.hashes.len() as u64;
        for batch in encoded.batches {
            let start = self.file.get_ref().bytes + self.file.buffer().len() as u64;
            let lengths = write_message(&mut self.file, batch, &self.encoder.options);
            let (message, body) = lengths.map_err(into_io).at(self.path())?;
            self.blocks.push(block(start, message, body).at(self.path())?);
        }
        Ok(())
    }

    /// Writes the footer, and gives the file its name.
    pub fn finish(mut self) -> Result<SetSummary, StoreError> {
        let hash = self.hasher.finish();
        let path = self.path().to_owned();
        self.write_footer(hash).at(&path)?;
        let CountingFile { file, bytes } = self.file.into_inner().map_err(io::IntoInnerError::into_error).at(&path)?;
        file.commit()?;
        Ok(SetSummary { hash, samples: self.samples, bytes })
    }

    fn write_footer(&mut self, hash: ContentHash) -> io::Result<()> {
        let mut builder = FlatBufferBuilder::new();
        let no_dictionaries = builder.create_vector::<Block>(&[]);
        let blocks = builder.create_vector(&self.blocks);
        let schema = IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &self.encoder.schema);
        let header = self.encoder.schema.metadata().get(HEADER_KEY).map_or(&[][..], |header| header.as_bytes());
        let metadata = [
            (HASH_KEY.to_owned(), hash.to_string()),
            (HEADER_HASH_KEY.to_owned(), ContentHash::of_header(header).to_string()),
            (SAMPLES_KEY.to_owned(), self.samples.to_string()),
        ];
        let metadata = metadata_to_fb(&mut builder, &metadata.into_iter().collect());
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(no_dictionaries);
        footer.add_recordBatches(blocks);
        footer.add_custom_metadata(metadata);
        let footer = footer.finish();
        builder.finish(footer, None);
        let footer = builder.finished_data();

        self.file.write_all(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])?; // end of messages
        self.file.write_all(footer)?;
        self.file.write_all(&i32::try_from(footer.len()).map_err(io::Error::other)?.to_le_bytes())?;
        self.file.write_all(MAGIC)?;
        self.file.flush()
    }

    fn path(&self) -> &Path {
        self.file.get_ref().file.path()
    }
}

fn write_schema(file: &mut BufWriter<CountingFile>, encoder: &Encoder) -> io::Result<()> {
    file.write_all(MAGIC)?;
    file.write_all(&[0; 64 - MAGIC.len()])?;
    let mut dictionaries = DictionaryTracker::new(true);
    let schema =
        IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(&encoder.schema, &mut dictionaries, &encoder.options);
    write_message(file, schema, &encoder.options).map_err(into_io)?;
    Ok(())
}

/// Location of a record batch.
fn block(start: u64, message: usize, body: usize) -> io::Result<Block> {
    let start = i64::try_from(start).map_err(io::Error::other)?;
    let message = i32::try_from(message).map_err(io::Error::other)?;
    let body = i64::try_from(body).map_err(io::Error::other)?;
    Ok(Block::new(start, message, body))
}

/// Counts the bytes that are written.
struct CountingFile {
    file: AtomicFile,
    bytes: u64,
}

impl Write for CountingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
