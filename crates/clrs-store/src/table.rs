//! Tables of texts and integers as Parquet files, for data that are not trajectories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{AtomicFile, OnExisting};
use crate::parquet::into_io;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// 64-bit integers.
    Integer,
    /// Texts of which many are equal.
    Label,
    /// Texts.
    Text,
}

/// Values of a column.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values<'a> {
    /// One per row.
    Integers(&'a [i64]),
    /// Texts end to end, and where each of them ends.
    #[expect(missing_docs, reason = "explained above")]
    Texts { text: &'a str, ends: &'a [usize] },
}

/// Writes a table to a file that appears when it is complete.
///
/// ```
/// use clrs_store::OnExisting;
/// use clrs_store::table::{ColumnType, TableWriter, Values};
///
/// let dir = tempfile::tempdir()?;
/// let columns = [("index", ColumnType::Integer), ("text", ColumnType::Text)];
/// let mut writer = TableWriter::create(&dir.path().join("t.parquet"), OnExisting::Fail, &columns, &[])?;
/// writer.write(&[Values::Integers(&[0, 1]), Values::Texts { text: "onetwo", ends: &[3, 6] }])?;
/// writer.finish()?.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: ArrowWriter<AtomicFile>,
}

/// Size of a row group, which is in memory until it is complete.
const ROW_GROUP_BYTES: usize = 16 << 20;

impl TableWriter {
    /// Creates the file with columns and metadata, given as keys and values.
    pub fn create(
        path: &Path,
        on_existing: OnExisting,
        columns: &[(&str, ColumnType)],
        metadata: &[(&str, String)],
    ) -> Result<TableWriter, StoreError> {
        let file = AtomicFile::create(path, on_existing)?;
        let data_type = |column: ColumnType| if column == ColumnType::Integer { DataType::Int64 } else { DataType::Utf8 };
        let fields = columns.iter().map(|&(name, column)| Field::new(name, data_type(column), false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let metadata = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
            .set_key_value_metadata(Some(metadata));
        // Long texts are all different: looking for equal ones, or for the least, takes time and finds nothing.
        for (name, _) in columns.iter().filter(|(_, column)| *column == ColumnType::Text) {
            let column = ColumnPath::from(*name);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_statistics_enabled(column, EnabledStatistics::None);
        }
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties.build())).map_err(into_io).at(path)?;
        Ok(TableWriter { path: path.into(), schema, writer })
    }

    /// Appends rows, given as the values of every column.
    pub fn write(&mut self, columns: &[Values<'_>]) -> Result<(), StoreError> {
        let arrays = columns.iter().map(array).collect::<Result<_, _>>().at(&self.path)?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(std::io::Error::other).at(&self.path)?;
        self.writer.write(&batch).map_err(into_io).at(&self.path)
    }

    /// Completes the file, which has no name yet.
    pub fn finish(self) -> Result<AtomicFile, StoreError> {
        self.writer.into_inner().map_err(into_io).at(&self.path)
    }
}

fn array(values: &Values<'_>) -> Result<ArrayRef, StoreErrorKind> {
    Ok(match values {
        Values::Integers(integers) => {
            Arc::new(PrimitiveArray::<Int64Type>::new(ScalarBuffer::from(integers.to_vec()), None)) as ArrayRef
        }
        Values::Texts { text, ends } => {
            let offsets = std::iter::once(&0).chain(*ends).map(|&end| i32::try_from(end));
            let offsets = offsets.collect::<Result<Vec<i32>, _>>().map_err(std::io::Error::other)?;
            if !offsets.is_sorted() {
                return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput).into());
            }
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let texts = StringArray::try_new(offsets, Buffer::from(text.as_bytes().to_vec()), None);
            Arc::new(texts.map_err(std::io::Error::other)?)
        }
    })
}
