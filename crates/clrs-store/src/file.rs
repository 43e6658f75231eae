//! Files that appear when they are whole.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::{NamedTempFile, TempDir};

use crate::error::{At, StoreError, StoreErrorKind};

/// What is done where a file is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExisting {
    /// It stays; that is an error.
    #[default]
    Fail,
    /// It is replaced once the new one is whole.
    Replace,
}

/// A file under a temporary name beside its own, `.NAME.XXXXXX.partial`. It is gone if it is dropped before it is whole.
pub(crate) struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
    on_existing: OnExisting,
}

impl AtomicFile {
    pub(crate) fn create(path: &Path, on_existing: OnExisting) -> Result<AtomicFile, StoreError> {
        let name =
            path.file_name().ok_or_else(|| StoreErrorKind::Io(io::Error::from(io::ErrorKind::InvalidFilename))).at(path)?;
        // Said before the work, and made sure of after it.
        if on_existing == OnExisting::Fail && path.symlink_metadata().is_ok() {
            return Err(StoreErrorKind::Exists).at(path);
        }
        // A device or a folder gives its name to no file.
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there, and no plain file")).at(path);
        }
        if !folder(path).is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the folder it should be in is not there")).at(path);
        }
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".partial");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask, like any other file
        let file = builder.tempfile_in(folder(path)).at(path)?;
        Ok(AtomicFile { file, path: path.into(), on_existing })
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        let kept = match self.on_existing {
            OnExisting::Fail => self.file.persist_noclobber(&self.path),
            OnExisting::Replace => self.file.persist(&self.path),
        };
        match kept {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(StoreErrorKind::Exists).at(&self.path),
            Err(error) => Err(error.error).at(&self.path),
        }
    }
}

/// Writes a file that appears when it is whole.
pub fn write_atomic(path: &Path, on_existing: OnExisting, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    file.file().write_all(bytes).at(path)?;
    file.commit()
}

/// A folder under a temporary name beside its own. It is gone if it is dropped before it is whole.
pub(crate) struct AtomicDir {
    folder: TempDir,
    path: PathBuf,
    on_existing: OnExisting,
}

impl AtomicDir {
    /// The folders above are made if they are not there.
    pub(crate) fn create(path: &Path, on_existing: OnExisting) -> Result<AtomicDir, StoreError> {
        if on_existing == OnExisting::Fail && path.symlink_metadata().is_ok() {
            return Err(StoreErrorKind::Exists).at(path);
        }
        let above = folder(path);
        std::fs::create_dir_all(above).at(above)?;
        Ok(AtomicDir { folder: temporary_folder(path)?, path: path.into(), on_existing })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives the folder its name.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        // A folder takes no other's place, unless that is empty: an old one is moved away first.
        let old = temporary_folder(&self.path)?;
        if self.on_existing == OnExisting::Replace && self.path.is_dir() {
            std::fs::rename(&self.path, old.path().join("old")).at(&self.path)?;
        }
        match std::fs::rename(self.folder.path(), &self.path) {
            Ok(()) => {
                let _ = self.folder.keep(); // it has its name: nothing is to be removed
                Ok(())
            }
            Err(_) if self.path.exists() => Err(StoreErrorKind::Exists).at(&self.path),
            Err(error) => Err(error).at(&self.path),
        }
    }
}

fn temporary_folder(path: &Path) -> Result<TempDir, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".partial").tempdir_in(folder(path)).at(path)
}

/// Makes sure that files and their names survive a power cut. Once per run, and all at once: it waits for the disk, which can
/// take as long as the writing.
pub fn sync<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), StoreError> {
    let paths: Vec<&Path> = paths.into_iter().collect();
    paths.par_iter().try_for_each(|path| File::open(path).and_then(|file| file.sync_all()).at(path))?;
    let folders: BTreeSet<&Path> = paths.into_iter().map(folder).collect();
    // Where a folder cannot be opened as a file, its names are not ours to sync.
    if cfg!(unix) {
        for folder in folders {
            File::open(folder).and_then(|folder| folder.sync_all()).at(folder)?;
        }
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
