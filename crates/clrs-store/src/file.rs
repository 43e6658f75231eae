//! Files and directories that appear under their name only when they are complete, and reading of regular files only.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::{NamedTempFile, TempDir};

use crate::error::{At, StoreError, StoreErrorKind};

/// What to do when the file to be written exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExisting {
    /// Leave the existing file alone and return an error.
    #[default]
    Fail,
    /// Replace the existing file once the new one is complete.
    Replace,
}

/// A file that is written under a temporary name and gets its own name in [`commit`](AtomicFile::commit).
///
/// The temporary file is next to its target as `.NAME.XXXXXX.partial`. It is removed when the value is dropped without
/// a commit. A process that is killed leaves it behind; the next [`create`](AtomicFile::create) for the same target
/// removes it. Temporary files are locked while they are written, so those of running processes stay.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use clrs_store::{AtomicFile, OnExisting};
///
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("scores.json");
/// let mut file = AtomicFile::create(&path, OnExisting::Fail)?;
/// file.write_all(b"{}")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
    on_existing: OnExisting,
}

impl AtomicFile {
    /// Creates the temporary file. The target's directory must exist.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Exists`] if the target exists and is not to be replaced, [`StoreErrorKind::IsADirectory`] or
    /// [`StoreErrorKind::NotAFile`] if it is a directory, a device or a pipe, which are never replaced.
    pub fn create(path: &Path, on_existing: OnExisting) -> Result<AtomicFile, StoreError> {
        let Some(name) = path.file_name() else { return Err(io::Error::from(io::ErrorKind::InvalidFilename)).at(path) };
        if let Ok(existing) = path.metadata() {
            ensure_regular(&existing).at(path)?;
        }
        // Checked before the work, and enforced after it.
        if on_existing == OnExisting::Fail && path.symlink_metadata().is_ok() {
            return Err(StoreErrorKind::Exists).at(path);
        }
        if !parent(path).is_dir() {
            return Err(StoreErrorKind::NoDirectory).at(path);
        }
        remove_stale(path);
        let file = create_temporary(name, parent(path)).map_err(without_temporary_path).at(path)?;
        Ok(AtomicFile { file, path: path.into(), on_existing })
    }

    /// Path of the target.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name. The contents may still be in the operating system's cache; see
    /// [`commit_durable`](AtomicFile::commit_durable).
    pub fn commit(self) -> Result<(), StoreError> {
        let persisted = match self.on_existing {
            OnExisting::Fail => self.file.persist_noclobber(&self.path),
            OnExisting::Replace => self.file.persist(&self.path),
        };
        match persisted {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(StoreErrorKind::Exists).at(&self.path),
            Err(error) => Err(error.error).at(&self.path),
        }
    }

    /// Gives the file its name such that it survives a power failure: the contents are on the disk before the name is,
    /// and the name is when this returns.
    pub fn commit_durable(self) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.file.as_file().sync_all().at(&path)?;
        self.commit()?;
        sync_directory(parent(&path))
    }
}

/// Errors do not name the temporary file.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.as_file_mut().seek(position)
    }
}

/// Writes a file that appears only when it is complete. See [`AtomicFile`].
pub fn write_atomic(path: &Path, on_existing: OnExisting, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    file.write_all(bytes).at(path)?;
    file.commit()
}

/// Like [`write_atomic`], and the file survives a power failure. See [`AtomicFile::commit_durable`].
pub fn write_atomic_durable(path: &Path, on_existing: OnExisting, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    file.write_all(bytes).at(path)?;
    file.commit_durable()
}

/// A directory that is filled under a temporary name and gets its own name in [`commit`](AtomicDir::commit).
pub(crate) struct AtomicDir {
    dir: TempDir,
    path: PathBuf,
    on_existing: OnExisting,
    /// Marks the temporary directory as in use.
    _lock: Option<File>,
}

impl AtomicDir {
    /// Creates the temporary directory, and the directories above it.
    pub(crate) fn create(path: &Path, on_existing: OnExisting) -> Result<AtomicDir, StoreError> {
        if path.symlink_metadata().is_ok() && !path.is_dir() {
            return Err(StoreErrorKind::NotADirectory).at(path);
        }
        if on_existing == OnExisting::Fail && path.is_dir() {
            return Err(StoreErrorKind::Exists).at(path);
        }
        create_directory(parent(path))?;
        remove_stale(path);
        loop {
            let dir = temporary_dir(path, TEMPORARY_SUFFIX).map_err(without_temporary_path).at(path)?;
            let lock = File::open(dir.path()).ok().filter(|lock| lock.lock().is_ok());
            // As for files: another process may have taken it for a stale one.
            if lock.is_none() || dir.path().exists() {
                return Ok(AtomicDir { dir, path: path.into(), on_existing, _lock: lock });
            }
        }
    }

    /// Path of the temporary directory.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Gives the directory its name. If that fails, a previous directory stays or is restored.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        // A directory can only be renamed over an empty one: a previous one is moved away first, and removed last.
        let mut previous = None;
        if self.on_existing == OnExisting::Replace && self.path.is_dir() {
            let backup = temporary_dir(&self.path, ".replaced").map_err(without_temporary_path).at(&self.path)?;
            std::fs::rename(&self.path, backup.path().join(PREVIOUS)).at(&self.path)?;
            previous = Some(backup);
        }
        let Err(error) = std::fs::rename(self.dir.path(), &self.path) else {
            let _ = self.dir.keep(); // renamed: nothing to remove
            return Ok(());
        };
        if let Some(backup) = previous
            && std::fs::rename(backup.path().join(PREVIOUS), &self.path).is_err()
        {
            let kept = backup.keep().join(PREVIOUS);
            return Err(StoreErrorKind::NotRestored { kept, error }).at(&self.path);
        }
        let is_taken = self.on_existing == OnExisting::Fail && self.path.exists();
        if is_taken { Err(StoreErrorKind::Exists).at(&self.path) } else { Err(error).at(&self.path) }
    }
}

/// Name of a previous directory while it is out of the way.
const PREVIOUS: &str = "previous";

/// Opens a regular file for reading.
///
/// Anything else is rejected, also behind a symbolic link: opening a pipe waits for a writer, and a device may have no end.
///
/// # Errors
///
/// [`StoreErrorKind::IsADirectory`] or [`StoreErrorKind::NotAFile`] if it is not a regular file.
pub fn open_regular(path: &Path) -> Result<File, StoreError> {
    ensure_regular(&path.metadata().at(path)?).at(path)?;
    let file = File::open(path).at(path)?;
    // It may have been replaced in between.
    ensure_regular(&file.metadata().at(path)?).at(path)?;
    Ok(file)
}

fn ensure_regular(metadata: &Metadata) -> Result<(), StoreErrorKind> {
    match metadata {
        metadata if metadata.is_file() => Ok(()),
        metadata if metadata.is_dir() => Err(StoreErrorKind::IsADirectory),
        _ => Err(StoreErrorKind::NotAFile),
    }
}

/// Reads a regular file of at most `max_bytes` bytes.
///
/// # Errors
///
/// Those of [`open_regular`], and [`StoreErrorKind::FileTooLarge`] if it is larger.
pub fn read_regular(path: &Path, max_bytes: u64) -> Result<Vec<u8>, StoreError> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    // Some special files claim to be regular and empty: the limit applies to what is read.
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).at(path)?;
    if bytes.len() as u64 > max_bytes { Err(StoreErrorKind::FileTooLarge { max_bytes }).at(path) } else { Ok(bytes) }
}

/// Creates a directory and those above it. Existing directories are left as they are.
///
/// # Errors
///
/// [`StoreErrorKind::NotADirectory`] if the path, or one above it, is a file.
pub fn create_directory(path: &Path) -> Result<(), StoreError> {
    if let Some(file) = path.ancestors().find(|above| above.exists()).filter(|existing| !existing.is_dir()) {
        return Err(StoreErrorKind::NotADirectory).at(file);
    }
    std::fs::create_dir_all(path).at(path)
}

/// Makes sure that files and their names survive a power failure.
///
/// Call it once for all files of a command: it waits for the disk, which can take as long as the writing.
pub fn sync<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), StoreError> {
    let paths: Vec<&Path> = paths.into_iter().collect();
    paths.par_iter().try_for_each(|path| File::open(path).and_then(|file| file.sync_all()).at(path))?;
    let directories: BTreeSet<&Path> = paths.into_iter().map(parent).collect();
    directories.into_iter().try_for_each(sync_directory)
}

/// Only Unix opens a directory as a file.
fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(directory).and_then(|directory| directory.sync_all()).at(directory)?;
    }
    Ok(())
}

const TEMPORARY_SUFFIX: &str = ".partial";

/// Random characters of a temporary name; the default of `tempfile`.
const RANDOM_CHARACTERS: usize = 6;

fn temporary_prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

fn create_temporary(name: &OsStr, directory: &Path) -> io::Result<NamedTempFile> {
    let prefix = temporary_prefix(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX).rand_bytes(RANDOM_CHARACTERS);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask, like any other file
    loop {
        let file = builder.tempfile_in(directory)?;
        // Between creation and locking, another process may have taken it for a stale one. Where the file system has no
        // locks, nothing is taken for stale.
        if file.as_file().lock().is_err() || file.path().exists() {
            return Ok(file);
        }
    }
}

fn temporary_dir(path: &Path, suffix: &str) -> io::Result<TempDir> {
    let prefix = temporary_prefix(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(suffix).rand_bytes(RANDOM_CHARACTERS);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777)); // less the umask
    builder.tempdir_in(parent(path))
}

/// An error of `tempfile` without the name of the temporary file, which users have never heard of.
fn without_temporary_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Removes temporary files and directories of a target that no running process holds. Best effort: errors are ignored.
fn remove_stale(path: &Path) {
    let prefix = temporary_prefix(path.file_name().unwrap_or_default());
    let is_temporary = |name: &OsStr| {
        let (name, prefix) = (name.as_encoded_bytes(), prefix.as_encoded_bytes());
        name.len() == prefix.len() + RANDOM_CHARACTERS + TEMPORARY_SUFFIX.len()
            && name.starts_with(prefix)
            && name.ends_with(TEMPORARY_SUFFIX.as_bytes())
    };
    let Ok(entries) = parent(path).read_dir() else { return };
    for entry in entries.flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let Ok(file_type) = entry.file_type() else { continue };
        if !file_type.is_file() && !file_type.is_dir() {
            continue;
        }
        let path = entry.path();
        // The lock is held until the file is gone.
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() {
            let _ = if file_type.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

/// Serializes a path as text, for `#[serde(serialize_with = "clrs_store::lossy_path")]`. Bytes that are not UTF-8 are replaced:
/// JSON cannot represent them.
pub fn lossy_path<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// A path or another word as a shell reads it, for commands that users copy.
///
/// ```
/// assert_eq!(clrs_store::shell_quoted("runs/bfs".as_ref()), "runs/bfs");
/// assert_eq!(clrs_store::shell_quoted("my runs".as_ref()), "'my runs'");
/// ```
pub fn shell_quoted(word: &Path) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,@+:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Directory that a path is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = dir.read_dir().expect("a directory").map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn stale_temporary_files_are_removed_and_those_in_use_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("set.arrow");
        let in_use = AtomicFile::create(&path, OnExisting::Fail).expect("created");
        std::fs::write(dir.path().join(".set.arrow.abc123.partial"), b"stale").expect("written");
        std::fs::create_dir(dir.path().join(".set.arrow.dir456.partial")).expect("created");
        std::fs::write(dir.path().join(".other.arrow.abc123.partial"), b"of another target").expect("written");
        std::fs::write(dir.path().join(".set.arrow.x.abc123.partial"), b"of set.arrow.x").expect("written");

        let second = AtomicFile::create(&path, OnExisting::Fail).expect("created");
        let temporary = |file: &AtomicFile| file.file.path().file_name().expect("a name").to_owned();
        let mut expected: Vec<OsString> = vec![temporary(&in_use), temporary(&second)];
        expected.extend([".other.arrow.abc123.partial", ".set.arrow.x.abc123.partial"].map(OsString::from));
        expected.sort();
        assert_eq!(names(dir.path()), expected);
        in_use.commit().expect("it was not removed");
    }

    #[test]
    fn a_failed_replacement_restores_the_previous_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("export");
        std::fs::create_dir(&path).expect("created");
        std::fs::write(path.join("data"), b"previous").expect("written");
        let dir = AtomicDir::create(&path, OnExisting::Replace).expect("created");
        std::fs::remove_dir_all(dir.path()).expect("removed: the second rename fails");
        assert!(matches!(dir.commit().expect_err("nothing to rename").kind, StoreErrorKind::Io(_)));
        assert_eq!(std::fs::read(path.join("data")).expect("restored"), b"previous");
        assert_eq!(names(root.path()), ["export"]);
    }

    #[test]
    fn a_directory_is_replaced_and_its_temporary_names_are_gone() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("a/export");
        for contents in ["first", "second"] {
            let dir = AtomicDir::create(&path, OnExisting::Replace).expect("created");
            std::fs::write(dir.path().join("data"), contents).expect("written");
            dir.commit().expect("committed");
            assert_eq!(std::fs::read_to_string(path.join("data")).expect("a file"), contents);
        }
        assert_eq!(names(&root.path().join("a")), ["export"]);
        let kind = AtomicDir::create(&path, OnExisting::Fail).err().expect("it exists").kind;
        assert!(matches!(kind, StoreErrorKind::Exists));
        let file = path.join("data");
        for on_existing in [OnExisting::Fail, OnExisting::Replace] {
            let kind = AtomicDir::create(&file, on_existing).err().expect("a file is in the way").kind;
            assert!(matches!(kind, StoreErrorKind::NotADirectory));
            let kind = AtomicFile::create(&path, on_existing).expect_err("a directory is in the way").kind;
            assert!(matches!(kind, StoreErrorKind::IsADirectory));
        }
    }

    #[test]
    fn a_file_in_the_way_of_a_directory_is_named() {
        let root = tempfile::tempdir().expect("a directory");
        let file = root.path().join("file");
        std::fs::write(&file, b"").expect("written");
        for path in [file.clone(), file.join("a"), file.join("a/b")] {
            let error = create_directory(&path).expect_err("a file is in the way");
            assert_eq!(error.to_string(), format!("{}: exists and is not a directory", file.display()));
        }
        let nested = root.path().join("a/b");
        create_directory(&nested).expect("created");
        create_directory(&nested).expect("exists");
        assert!(nested.is_dir());
    }

    /// No file can be created in /proc, not even by root.
    #[cfg(target_os = "linux")]
    #[test]
    fn errors_do_not_name_temporary_files() {
        let path = Path::new("/proc/x.npz");
        let file = AtomicFile::create(path, OnExisting::Fail).expect_err("not writable").to_string();
        let dir = AtomicDir::create(path, OnExisting::Fail).err().expect("not writable").to_string();
        for error in [file, dir] {
            assert_eq!(error, "/proc/x.npz: No such file or directory (os error 2)");
        }
    }

    #[test]
    fn durable_files_are_complete_and_replace_only_if_asked() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("state");
        write_atomic_durable(&path, OnExisting::Fail, b"one").expect("written");
        let kind = write_atomic_durable(&path, OnExisting::Fail, b"two").expect_err("it exists").kind;
        assert!(matches!(kind, StoreErrorKind::Exists));
        assert_eq!(read_regular(&path, 3).expect("a file"), b"one");
        write_atomic_durable(&path, OnExisting::Replace, b"three").expect("replaced");
        let kind = read_regular(&path, 4).expect_err("larger").kind;
        assert!(matches!(kind, StoreErrorKind::FileTooLarge { max_bytes: 4 }));
        assert_eq!(names(dir.path()), ["state"]);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_text_are_written_and_read() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(OsStr::from_bytes(b"set\xff.arrow"));
        write_atomic(&path, OnExisting::Fail, b"bytes").expect("written");
        assert_eq!(read_regular(&path, 5).expect("a file"), b"bytes");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_directories_are_not_read_as_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let link = dir.path().join("endless");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("linked");
        for path in [Path::new("/dev/zero"), &link] {
            assert!(matches!(open_regular(path).expect_err("not a file").kind, StoreErrorKind::NotAFile));
            assert!(matches!(read_regular(path, 10).expect_err("not a file").kind, StoreErrorKind::NotAFile));
        }
        assert!(matches!(open_regular(dir.path()).expect_err("not a file").kind, StoreErrorKind::IsADirectory));
    }
}
