//! Dense arrays as safetensors: the arrays of [`npz`](crate::npz), not compressed, to be mapped into memory.
//!
//! The file's metadata has the set's [`Header`] as JSON under `clrs.header`: the spec says what arrays mean.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clrs::DType;
use serde_json::{Map, Value, json};

use crate::dense::{DenseProgress, DenseSet, Outline, bytes};
use crate::error::{At, StoreError};
use crate::file::{AtomicFile, OnExisting};
use crate::native::{HEADER_KEY, Header};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a whole set, an array at a time.
pub fn export(set: &mut Set, path: &Path, on_existing: OnExisting, progress: &dyn Progress) -> Result<(), StoreError> {
    let mut file = AtomicFile::create(path, on_existing)?;
    let dense = DenseSet::read(set, path)?;
    let outlines = dense.outlines();
    let mut writer = BufWriter::new(file.file());
    write_header(&mut writer, set.header(), &outlines).at(path)?;
    let mut report = DenseProgress::new(set, &dense, progress);
    for outline in &outlines {
        let array = dense.array(outline).at(path)?;
        writer.write_all(bytes(&array.data)).at(path)?;
        report.add(&array).at(path)?;
    }
    writer.flush().at(path)?;
    drop(writer);
    file.commit()?;
    progress.finish_set(&set.header().name);
    Ok(())
}

/// The length of a JSON text, and the text, filled up so that cells are aligned: where each array is, and what the set is.
fn write_header(file: &mut impl Write, header: &Header, outlines: &[Outline]) -> io::Result<()> {
    let mut tensors = Map::new();
    tensors.insert("__metadata__".into(), json!({ HEADER_KEY: serde_json::to_string(header)? }));
    let mut start = 0;
    for outline in outlines {
        let (dtype, width) = match outline.dense {
            DType::F64 => ("F64", 8),
            DType::F32 => ("F32", 4),
            DType::I64 => ("I64", 8),
        };
        let end = start + width * outline.shape.iter().product::<usize>();
        let tensor = json!({ "dtype": dtype, "shape": outline.shape, "data_offsets": [start, end] });
        tensors.insert(outline.name.clone(), tensor);
        start = end;
    }
    let mut text = Value::Object(tensors).to_string();
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    file.write_all(&(text.len() as u64).to_le_bytes())?;
    file.write_all(text.as_bytes())
}
