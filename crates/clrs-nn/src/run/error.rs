//! Errors of run directories.

use std::io;
use std::path::PathBuf;

use clrs_store::StoreError;

use super::tensor_file::TensorFileError;
use crate::config::recipe::RecipeError;

/// Why a run directory cannot be read, written or resumed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum RunError {
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot write at step {step}: {source}{}", previous(*.step))]
    Write { step: usize, source: StoreError },
    #[error("{}: contains a run already", .0.display())]
    Exists(PathBuf),
    #[error("{}: exists, but its directory contains no run; choose another directory", .0.display())]
    Occupied(PathBuf),
    #[error("{}: not a run directory (no config.toml)", .0.display())]
    NoRun(PathBuf),
    #[error("{}: another process is training in it", .0.display())]
    InUse(PathBuf),
    #[error("{}: {source}", .path.display())]
    Recipe { path: PathBuf, source: RecipeError },
    #[error(transparent)]
    TensorFile(TensorFileError),
    #[error("{}: {source}", .path.display())]
    Checkpoint { path: PathBuf, source: TensorFileError },
    #[error("{}: not a checkpoint of format 1 or 2", .0.display())]
    Format(PathBuf),
    #[error("{}: damaged (its checksum does not match)", .0.display())]
    Checksum(PathBuf),
    #[error("{}: belongs to another recipe than the config.toml beside it", .0.display())]
    OtherRecipe(PathBuf),
    #[error("{}: its recurrent state does not fit the recipe", .0.display())]
    RecurrentState(PathBuf),
    #[error("{}: damaged, or an evaluation of another version of this program; evaluating again replaces it", .0.display())]
    StoredEval(PathBuf),
    #[error("{}: damaged; remove it, and the run resumes from its last checkpoint", .0.display())]
    Status(PathBuf),
    #[error("{}: missing; the run cannot be resumed", .0.display())]
    NoCheckpoint(PathBuf),
}

/// State of the run directory after a failed write.
fn previous(step: usize) -> &'static str {
    if step == 0 { "" } else { "; the previous checkpoint is intact" }
}

/// Adds a path to an I/O error.
pub(super) fn at(path: &std::path::Path) -> impl Fn(io::Error) -> RunError {
    let path = path.to_path_buf();
    move |source| RunError::Io { path: path.clone(), source }
}
