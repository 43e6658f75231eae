use std::io;
use std::path::{Path, PathBuf};

use clrs::ContentHash;

use crate::native::{Damage, FORMAT};

/// What went wrong with which file, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct StoreError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Problem {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it exists already")]
    Exists,
    #[error("this is no set of trajectories: {0}")]
    Foreign(String),
    #[error(
        "the file has format {found}; {} {} reads format {FORMAT}: use the version that wrote it, or a newer one",
        env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")
    )]
    Format { found: String },
    #[error("record batch {batch} is damaged: {damage}")]
    Damaged { batch: usize, damage: Damage },
    #[error("it holds {found} samples, and says {expected}")]
    Samples { expected: u64, found: u64 },
    #[error("its values have the hash {found}, and it says {expected}: they are not what was written")]
    Hash { expected: ContentHash, found: ContentHash },
    #[error("the runs have other probes than the set")]
    Spec,
    #[error("a sample has {nodes} nodes, and the set was made for {max_nodes} at most")]
    Nodes { nodes: usize, max_nodes: usize },
    #[error("a sample takes {bytes} bytes: no record batch holds more than {}", crate::native::MAX_BATCH_BYTES)]
    TooLarge { bytes: usize },
    #[error("{0}")]
    Shards(String),
    #[error("TFDS needs the name of a split, and `{0}` does not end in one: give it one, such as train")]
    Split(String),
    #[error("{0}")]
    Features(String),
    #[error("record {record} is damaged: {damage}")]
    Record { record: usize, damage: crate::tfds::Damage },
    #[error("{0}")]
    Batch(#[from] clrs::batch::BatchError),
}

/// Says which file it was.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, StoreError>;
}

impl<T, P: Into<Problem>> At<T> for Result<T, P> {
    fn at(self, path: &Path) -> Result<T, StoreError> {
        self.map_err(|problem| StoreError { path: path.into(), problem: problem.into() })
    }
}
