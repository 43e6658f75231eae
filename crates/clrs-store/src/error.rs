use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use clrs::ContentHash;

use crate::native::{Corruption, FORMAT};
use crate::set::ShardError;
use crate::tfds::{LayoutError, RecordError};

/// An error of the store: the path it concerns, and what went wrong. Displays as one line.
#[derive(Debug)]
#[non_exhaustive]
pub struct StoreError {
    /// File or directory that the error concerns.
    pub path: PathBuf,
    /// What went wrong.
    pub kind: StoreErrorKind,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.kind)
    }
}

impl std::error::Error for StoreError {
    // The kind is part of the message; the chain continues with its cause.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum StoreErrorKind {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("already exists")]
    Exists,
    #[error("not a regular file")]
    NotAFile,
    #[error("is a directory")]
    IsADirectory,
    #[error("exists and is not a directory")]
    NotADirectory,
    #[error("its directory does not exist")]
    NoDirectory,
    #[error("larger than {max_bytes} bytes")]
    FileTooLarge { max_bytes: u64 },
    #[error("cannot be replaced: {error}; the previous version is in {}", .kept.display())]
    NotRestored {
        kept: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("not a set of trajectories: {0}")]
    NotASet(String),
    #[error(
        "format {found} is not supported; {} {} reads format {FORMAT}: use the version that wrote the file, or a newer one",
        env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")
    )]
    UnsupportedFormat { found: String },
    #[error("contains no sets (*.arrow)")]
    NoSets,
    #[error("no set `{name}`: neither {name}.arrow nor its shards exist")]
    MissingSet { name: String },
    #[error("contains the set `{found}`, not `{expected}`")]
    NameMismatch { expected: String, found: String },
    #[error("contains trajectories of {found}, not of {expected}")]
    AlgorithmMismatch { expected: String, found: String },
    #[error("record batch {batch} is corrupt: {corruption}")]
    CorruptBatch {
        batch: usize,
        #[source]
        corruption: Corruption,
    },
    #[error("contains {found} samples instead of {expected}")]
    SampleCount { expected: u64, found: u64 },
    #[error("the values have been changed: their hash is {found}, and {expected} was stored")]
    HashMismatch { expected: ContentHash, found: ContentHash },
    #[error("the trajectories do not have the probes of the set")]
    SpecMismatch,
    #[error("a sample has {nodes} nodes, and the set was created for at most {max_nodes}")]
    TooManyNodes { nodes: usize, max_nodes: usize },
    #[error("a sample takes {bytes} bytes, more than the {} of a record batch", crate::native::MAX_BATCH_BYTES)]
    SampleTooLarge { bytes: usize },
    #[error("the samples take more than {max_bytes} bytes of memory")]
    SetTooLarge { max_bytes: usize },
    #[error("{0}")]
    Shards(#[from] ShardError),
    #[error("`{0}` does not end in the name of a split, such as train, which TFDS needs")]
    NoSplit(String),
    #[error("{0}")]
    Layout(#[from] LayoutError),
    #[error("record {record} is corrupt: {error}")]
    CorruptRecord {
        record: usize,
        #[source]
        error: RecordError,
    },
    #[error("{0}")]
    Batch(#[from] clrs::batch::BatchError),
    #[error("cancelled")]
    Cancelled,
}

impl StoreErrorKind {
    /// Whether writing the file again with [`OnExisting::Replace`](crate::OnExisting::Replace) resolves the error: a
    /// regular file exists that is not to be replaced, is corrupt, or is another set.
    ///
    /// Programs can offer that. It is no help where a directory or a device is in the way.
    pub fn is_resolved_by_replacing(&self) -> bool {
        matches!(
            self,
            StoreErrorKind::Exists
                | StoreErrorKind::NotASet(_)
                | StoreErrorKind::UnsupportedFormat { .. }
                | StoreErrorKind::NameMismatch { .. }
                | StoreErrorKind::AlgorithmMismatch { .. }
                | StoreErrorKind::CorruptBatch { .. }
                | StoreErrorKind::SampleCount { .. }
                | StoreErrorKind::HashMismatch { .. }
        )
    }
}

/// Attaches the path to an error.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T, K: Into<StoreErrorKind>> At<T> for Result<T, K> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|kind| StoreError { path: path.into(), kind: kind.into() })
    }
}
