//! Files of questions and answers.

use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use clrs_store::table::{ColumnType, TableWriter, Values};
use clrs_store::{AtomicFile, OnExisting, StoreError};
use serde::{Deserialize, Serialize};

use crate::rows::{Row, Rows, Texts};

/// A file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileFormat {
    /// One row per sample, compressed, with columns for the identity of the trajectory.
    #[default]
    Parquet,
    /// One object per line, with the identity of the trajectory.
    Jsonl,
    /// The document that dm-clrs writes, one per algorithm.
    Json,
}

impl FileFormat {
    /// The extension of file names.
    pub const fn extension(self) -> &'static str {
        match self {
            FileFormat::Parquet => "parquet",
            FileFormat::Jsonl => "jsonl",
            FileFormat::Json => "json",
        }
    }
}

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum FileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {error}", .path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

/// Writes rows to a file that appears when it is complete.
pub(crate) struct RowWriter {
    path: PathBuf,
    hints: bool,
    sink: Sink,
}

enum Sink {
    Parquet(Box<TableWriter>),
    Jsonl(BufWriter<AtomicFile>),
    Json { out: BufWriter<AtomicFile>, is_first: bool },
}

/// Key of the settings in the metadata of a Parquet file.
const SETTINGS_KEY: &str = "clrs.text";

const COLUMNS: [(&str, ColumnType); 6] = [
    ("algorithm", ColumnType::Label),
    ("size", ColumnType::Integer),
    ("seed", ColumnType::Integer),
    ("index", ColumnType::Integer),
    ("question", ColumnType::Text),
    ("answer", ColumnType::Text),
];

impl RowWriter {
    /// Creates a file of rows of which all are of `name`, and have traces or not; `settings` becomes metadata.
    pub(crate) fn create(
        path: &Path,
        format: FileFormat,
        on_existing: OnExisting,
        name: &str,
        hints: bool,
        settings: String,
    ) -> Result<RowWriter, FileError> {
        let buffered = || Ok::<_, FileError>(BufWriter::with_capacity(1 << 16, AtomicFile::create(path, on_existing)?));
        let io = |error| FileError::Io { path: path.into(), error };
        let sink = match format {
            FileFormat::Parquet => {
                Sink::Parquet(Box::new(TableWriter::create(path, on_existing, &COLUMNS, &[(SETTINGS_KEY, settings)])?))
            }
            FileFormat::Jsonl => Sink::Jsonl(buffered()?),
            FileFormat::Json => {
                let mut out = buffered()?;
                write!(out, "{{\n  \"name\": \"clrs_text_{name}\",\n  \"examples\": [").map_err(io)?;
                Sink::Json { out, is_first: true }
            }
        };
        Ok(RowWriter { path: path.into(), hints, sink })
    }

    pub(crate) fn write(&mut self, rows: &Rows) -> Result<(), FileError> {
        let written = match &mut self.sink {
            Sink::Parquet(table) => return Ok(write_table(table, rows)?),
            Sink::Jsonl(out) => rows.iter().try_for_each(|row| write_line(out, row)),
            Sink::Json { out, is_first } => rows.iter().try_for_each(|row| {
                out.write_all(if std::mem::take(is_first) { b"\n" } else { b",\n" })?;
                write_example(out, row, self.hints)
            }),
        };
        written.map_err(|error| self.error(error))
    }

    /// Completes the file, which has no name yet. Returns it and its size.
    pub(crate) fn finish(self) -> Result<(AtomicFile, u64), FileError> {
        let path = self.path;
        let io = |error| FileError::Io { path: path.clone(), error };
        let mut file = match self.sink {
            Sink::Parquet(table) => table.finish()?,
            Sink::Jsonl(out) => out.into_inner().map_err(|error| io(error.into_error()))?,
            Sink::Json { mut out, is_first } => {
                out.write_all(if is_first { b"]\n}" } else { b"\n  ]\n}" }).map_err(io)?;
                out.into_inner().map_err(|error| io(error.into_error()))?
            }
        };
        let bytes = file.stream_position().map_err(io)?;
        Ok((file, bytes))
    }

    fn error(&self, error: io::Error) -> FileError {
        FileError::Io { path: self.path.clone(), error }
    }
}

/// Writes a row as one line of JSON.
pub fn write_line(out: &mut impl Write, row: Row<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &row)?;
    out.write_all(b"\n")
}

/// Writes a row as dm-clrs does.
fn write_example(out: &mut impl Write, row: Row<'_>, hints: bool) -> io::Result<()> {
    let (size, seed) = (row.identity.size, row.identity.seed);
    write!(
        out,
        "    {{\n      \"auxiliary\": {{\n        \"length\": {size},\n        \"seed\": {seed},\n        \
         \"use_hints\": {hints}\n      }},\n      \"prompt\": "
    )?;
    serde_json::to_writer(&mut *out, row.question)?;
    out.write_all(b",\n      \"references\": [\n        ")?;
    serde_json::to_writer(&mut *out, row.answer)?;
    out.write_all(b"\n      ]\n    }")
}

fn write_table(table: &mut TableWriter, rows: &Rows) -> Result<(), StoreError> {
    let mut algorithms = Texts::default();
    let (mut sizes, mut seeds, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for identity in &rows.identities {
        algorithms.push(identity.algorithm.name());
        sizes.push(i64::try_from(identity.size).unwrap_or(i64::MAX));
        seeds.push(identity.seed.into());
        indices.push(i64::try_from(identity.index).unwrap_or(i64::MAX));
    }
    let [algorithms, questions, answers] =
        [&algorithms, &rows.questions, &rows.answers].map(|texts| Values::Texts { text: &texts.text, ends: &texts.ends });
    let [sizes, seeds, indices] = [&sizes, &seeds, &indices].map(|integers| Values::Integers(integers));
    table.write(&[algorithms, sizes, seeds, indices, questions, answers])
}
