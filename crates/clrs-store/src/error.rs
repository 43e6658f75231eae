use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use clrs::ContentHash;

use crate::native::{Corruption, FORMAT};
use crate::tfds::RecordError;

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
    // The kind is part of the message; the chain goes on with its cause.
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
    #[error("it exists already")]
    Exists,
    #[error("this is no set of trajectories: {0}")]
    NotASet(String),
    #[error(
        "the file has format {found}; {} {} reads format {FORMAT}: use the version that wrote it, or a newer one",
        env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")
    )]
    UnsupportedFormat { found: String },
    #[error("record batch {batch} is damaged: {corruption}")]
    CorruptBatch {
        batch: usize,
        #[source]
        corruption: Corruption,
    },
    #[error("it holds {found} samples, and says {expected}")]
    SampleCount { expected: u64, found: u64 },
    #[error("its values have the hash {found}, and it says {expected}: they are not what was written")]
    HashMismatch { expected: ContentHash, found: ContentHash },
    #[error("the runs have other probes than the set")]
    SpecMismatch,
    #[error("a sample has {nodes} nodes, and the set was made for {max_nodes} at most")]
    TooManyNodes { nodes: usize, max_nodes: usize },
    #[error("a sample takes {bytes} bytes: no record batch holds more than {}", crate::native::MAX_BATCH_BYTES)]
    SampleTooLarge { bytes: usize },
    #[error("{0}")]
    Shards(String),
    #[error("TFDS needs the name of a split, and `{0}` does not end in one: give it one, such as train")]
    NoSplit(String),
    #[error("{0}")]
    Features(String),
    #[error("record {record} is damaged: {error}")]
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

/// Attaches the path to an error.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T, K: Into<StoreErrorKind>> At<T> for Result<T, K> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|kind| StoreError { path: path.into(), kind: kind.into() })
    }
}
