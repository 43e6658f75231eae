//! Dense arrays for numpy: a zip archive of `.npy` files, which `numpy.load` opens.
//!
//! Arrays have the layout and types of dm-clrs: inputs and outputs `[B, ...]`, hints `[T, B, ...]` padded with zeros, under
//! `input/NAME`, `output/NAME` and `hint/NAME`, and the number of steps of each sample under `lengths`.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use clrs::{Array, ArrayData, Batch};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::dense::{DenseSet, bytes};
use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{AtomicFile, OnExisting};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a complete set. The typed samples are in memory, and one dense array at a time.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::{OnExisting, Set, npz};
///
/// let dir = tempfile::tempdir()?;
/// let dataset = DatasetSpec::new("bfs_train", Registry::builtin().find("bfs")?, 8, 10, 1);
/// generate(&[dataset], dir.path(), GenerateOptions::default(), &())?;
/// let mut set = Set::open(dir.path(), "bfs", "train")?;
/// npz::export(&mut set, &dir.path().join("bfs_train.npz"), OnExisting::Fail, &())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export(set: &mut Set, path: &Path, on_existing: OnExisting, progress: &dyn Progress) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let dense = DenseSet::read(set, path)?;
    let write = |zip: &mut Zip<_>| dense.for_each(progress, |info, array| Ok(add(zip, &info.name, array)?));
    write_archive(&mut file, write).at(path)?;
    file.commit()?;
    progress.finish_set(&set.header().name);
    Ok(())
}

/// Writes a batch, under the names of [`export`].
pub fn write_batch(path: &Path, batch: &Batch, on_existing: OnExisting) -> Result<(), StoreError> {
    let lengths = Array { shape: vec![batch.samples()], data: ArrayData::F64(batch.lengths.clone()) };
    let arrays: Vec<(String, &Array)> = batch.iter().map(|(probe, array)| (probe.path(), array)).collect();
    let arrays = arrays.iter().map(|(name, array)| (name.as_str(), *array));
    write_npz(path, arrays.chain([("lengths", &lengths)]), on_existing)
}

/// Writes arrays under the given names.
pub fn write_npz<'a>(
    path: &Path,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
    on_existing: OnExisting,
) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let write = |zip: &mut Zip<_>| Ok(arrays.into_iter().try_for_each(|(name, array)| add(zip, name, array))?);
    write_archive(&mut file, write).at(path)?;
    file.commit()
}

type Zip<W> = ZipWriter<BufWriter<FailFastWriter<W>>>;

/// Writes an archive whose entries `write` adds.
fn write_archive<W: Write + Seek>(
    file: W,
    write: impl FnOnce(&mut Zip<W>) -> Result<(), StoreErrorKind>,
) -> Result<(), StoreErrorKind> {
    let mut zip = ZipWriter::new(BufWriter::new(FailFastWriter { file, position: 0, has_failed: false }));
    write(&mut zip)?;
    Ok(zip.finish().map_err(into_io)?.flush()?)
}

/// A writer that ignores everything after its first error.
///
/// The destructor of [`ZipWriter`] completes the archive. After an error it would fail too, and print to standard error.
struct FailFastWriter<W> {
    file: W,
    position: u64,
    has_failed: bool,
}

impl<W: Write> Write for FailFastWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.has_failed { Ok(bytes.len()) } else { self.file.write(bytes) };
        self.has_failed |= written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        self.position += *written.as_ref().unwrap_or(&0) as u64;
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = if self.has_failed { Ok(()) } else { self.file.flush() };
        self.has_failed |= flushed.is_err();
        flushed
    }
}

impl<W: Seek> Seek for FailFastWriter<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let sought = match to {
            _ if !self.has_failed => self.file.seek(to),
            SeekFrom::Start(position) => Ok(position),
            SeekFrom::Current(offset) | SeekFrom::End(offset) => Ok(self.position.saturating_add_signed(offset)),
        };
        self.has_failed |= sought.is_err();
        self.position = *sought.as_ref().unwrap_or(&self.position);
        sought
    }
}

fn into_io(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// Adds a `.npy` file: a magic number, a Python literal that describes the array, and the cells.
fn add<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str, array: &Array) -> io::Result<()> {
    let dtype = match &array.data {
        ArrayData::F64(_) => "<f8",
        ArrayData::F32(_) => "<f4",
        ArrayData::I64(_) => "<i8",
    };
    let bytes = bytes(&array.data);
    // Padding and long arrays of few values shrink a hundredfold even at the fastest level.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .large_file(bytes.len() > u32::MAX as usize / 2);
    zip.start_file(format!("{name}.npy"), options).map_err(into_io)?;
    zip.write_all(&npy_header(dtype, &array.shape))?;
    zip.write_all(bytes)
}

/// Version 1.0 of the format; the cells start at a multiple of 64.
fn npy_header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let axes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let comma = if shape.len() == 1 { "," } else { "" }; // a tuple of one
    let mut literal = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}{comma}), }}");
    let before = 10; // magic number, version, and the length of the literal
    let padding = (before + literal.len() + 1).next_multiple_of(64) - (before + literal.len() + 1);
    literal.extend(std::iter::repeat_n(' ', padding));
    literal.push('\n');
    let length = u16::try_from(literal.len()).expect("a few axes");
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], literal.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A disk with little space left.
    struct Full<'a> {
        file: Cursor<Vec<u8>>,
        space: u64,
        failures: &'a mut usize,
    }

    impl Write for Full<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.file.position() + bytes.len() as u64 > self.space {
                *self.failures += 1;
                return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"));
            }
            self.file.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full<'_> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_reported_once() {
        // Bytes that do not compress, longer than any buffer.
        let cells = (0..40_000u64).map(|x| x.wrapping_mul(0x9e37_79b9_7f4a_7c15).cast_signed()).collect();
        let array = Array { shape: vec![40_000], data: ArrayData::I64(cells) };
        let mut failures = 0;
        let mut attempt = |space: u64| {
            failures = 0;
            let file = Full { file: Cursor::new(Vec::new()), space, failures: &mut failures };
            let names = ["a", "b"];
            let written = write_archive(file, |zip| Ok(names.iter().try_for_each(|name| add(zip, name, &array))?));
            (written, failures)
        };
        for space in (0..640_000).step_by(20_000) {
            let (written, failures) = attempt(space);
            assert_eq!(written.expect_err("full").to_string(), "no space left");
            assert_eq!(failures, 1, "nothing is written after the first error");
        }
        assert!(attempt(1_000_000).0.is_ok());
    }
}
