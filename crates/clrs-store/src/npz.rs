//! Dense arrays for numpy: a zip archive of `.npy` files, which `numpy.load` opens.
//!
//! Arrays are in the reference's layout and types: inputs and outputs `[B, ...]`, hints `[T, B, ...]` padded with zeros, under
//! `input/NAME`, `output/NAME` and `hint/NAME`, and the number of steps of each sample under `lengths`.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clrs::{Array, ArrayData, Batch};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::dense::{DenseProgress, DenseSet, bytes};
use crate::error::{At, StoreError};
use crate::file::{AtomicFile, OnExisting};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a whole set, an array at a time.
pub fn export(set: &mut Set, path: &Path, on_existing: OnExisting, progress: &dyn Progress) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let dense = DenseSet::read(set, path)?;
    let mut archive = ZipWriter::new(BufWriter::new(file.file()));
    let mut report = DenseProgress::new(set, &dense, progress);
    for outline in dense.outlines() {
        let array = dense.array(&outline).at(path)?;
        add(&mut archive, &outline.name, &array).at(path)?;
        report.add(&array).at(path)?;
    }
    finish(archive).at(path)?;
    file.commit()?;
    progress.finish_set(&set.header().name);
    Ok(())
}

/// Writes a batch.
pub fn write_batch(path: &Path, batch: &Batch, on_existing: OnExisting) -> Result<(), StoreError> {
    let lengths = Array { shape: vec![batch.samples()], data: ArrayData::F64(batch.lengths.clone()) };
    let arrays: Vec<(String, &Array)> = batch.iter().map(|(probe, array)| (probe.path(), array)).collect();
    let arrays = arrays.iter().map(|(name, array)| (name.as_str(), *array));
    write_npz(path, arrays.chain([("lengths", &lengths)]), on_existing)
}

/// Writes arrays under the names that are given.
pub fn write_npz<'a>(
    path: &Path,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
    on_existing: OnExisting,
) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let mut archive = ZipWriter::new(BufWriter::new(file.file()));
    for (name, array) in arrays {
        add(&mut archive, name, array).at(path)?;
    }
    finish(archive).at(path)?;
    file.commit()
}

/// One `.npy` file: a magic number, a Python literal that says what follows, and the cells.
fn add<W: Write + io::Seek>(archive: &mut ZipWriter<W>, name: &str, array: &Array) -> io::Result<()> {
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
    archive.start_file(format!("{name}.npy"), options)?;
    archive.write_all(&npy_header(dtype, &array.shape))?;
    archive.write_all(bytes)
}

fn finish<W: Write + io::Seek>(archive: ZipWriter<W>) -> io::Result<()> {
    archive.finish()?.flush()
}

/// Version 1.0 of the format; the cells begin at a multiple of 64.
fn npy_header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let axes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let comma = if shape.len() == 1 { "," } else { "" }; // a tuple of one
    let mut literal = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}{comma}), }}");
    let before = 10; // magic, version, and the length of the literal
    let padding = (before + literal.len() + 1).next_multiple_of(64) - (before + literal.len() + 1);
    literal.extend(std::iter::repeat_n(' ', padding));
    literal.push('\n');
    let length = u16::try_from(literal.len()).expect("a few axes");
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], literal.as_bytes()].concat()
}
