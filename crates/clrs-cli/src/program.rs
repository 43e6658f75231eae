//! Path of the program, which jobs on a cluster start.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static PATH: OnceLock<PathBuf> = OnceLock::new();

/// Sets the path, once per process.
pub(crate) fn set_path(path: PathBuf) {
    let _ = PATH.set(path);
}

/// The path, if it is known.
pub(crate) fn path() -> Option<&'static Path> {
    PATH.get().map(PathBuf::as_path)
}
