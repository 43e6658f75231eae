//! Dense arrays as safetensors: the arrays of [`npz`](crate::npz), uncompressed, to be mapped into memory.
//!
//! The file's metadata has the [`Header`] of the set as JSON under `clrs.header`, with the spec of the arrays.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clrs::DType;
use serde_json::{Map, Value, json};

use crate::dense::{ArrayInfo, DenseSet, bytes};
use crate::error::{At, StoreError};
use crate::file::{AtomicFile, OnExisting};
use crate::native::{HEADER_KEY, Header};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a complete set. The typed samples are in memory, and one dense array at a time.
pub fn export(set: &mut Set, path: &Path, on_existing: OnExisting, progress: &dyn Progress) -> Result<(), StoreError> {
    let file = AtomicFile::create(path, on_existing)?;
    let dense = DenseSet::read(set, path)?;
    let mut writer = BufWriter::new(file);
    write_header(&mut writer, set.header(), &dense.arrays()).at(path)?;
    dense.for_each(progress, |_, array| Ok(writer.write_all(bytes(&array.data))?)).at(path)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error).at(path)?.commit()?;
    progress.finish_set(&set.header().name);
    Ok(())
}

/// The length of a JSON text, and the text, padded so that cells are aligned: the header of the set, and the type, shape and
/// location of each array.
fn write_header(file: &mut impl Write, header: &Header, arrays: &[ArrayInfo]) -> io::Result<()> {
    let mut tensors = Map::new();
    tensors.insert("__metadata__".into(), json!({ HEADER_KEY: serde_json::to_string(header)? }));
    let mut start = 0;
    for array in arrays {
        let dtype = match array.dtype {
            DType::F64 => "F64",
            DType::F32 => "F32",
            DType::I64 => "I64",
        };
        let end = start + array.bytes();
        let tensor = json!({ "dtype": dtype, "shape": array.shape, "data_offsets": [start, end] });
        tensors.insert(array.name.clone(), tensor);
        start = end;
    }
    let mut text = Value::Object(tensors).to_string();
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    file.write_all(&(text.len() as u64).to_le_bytes())?;
    file.write_all(text.as_bytes())
}
