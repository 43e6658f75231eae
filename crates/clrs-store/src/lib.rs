//! Files of the CLRS benchmark: the native store, exports to other formats, imports.
//!
//! - [`native`]: sets as Arrow IPC files, typed and ragged, with their spec, provenance and content hash.
//! - [`Set`]: a set that is one file or several shards.
//! - [`generate`], [`verify`], [`stats`], [`memory`]: generate, check and describe sets; estimate the memory of samples.
//! - [`npz`], [`safetensors`]: dense arrays in the layout of dm-clrs.
//! - [`parquet`]: one row per sample, for data frames and Hugging Face's `datasets`.
//! - [`table`]: tables of texts and integers as Parquet.
//! - [`tfds`]: the TensorFlow Datasets directories that dm-clrs's client reads; exports and imports.
//!
//! # Invariants
//!
//! - A file appears under its name only when it is complete, and replaces another only if asked to ([`OnExisting`]).
//! - Files are not trusted when read: only regular files are opened, lengths are compared with the file's own size and
//!   with explicit limits ([`ReadLimits`]) before memory is allocated, and values are validated before they are used.
//! - All values of a set are compared with its content hash whenever all of them are read.

mod dense;
mod error;
mod export;
mod file;
pub mod generate;
pub mod memory;
pub mod native;
pub mod npz;
pub mod parquet;
mod progress;
pub mod safetensors;
mod set;
pub mod stats;
pub mod table;
pub mod tfds;
pub mod verify;

pub use error::{StoreError, StoreErrorKind};
pub use export::{ExportFormat, estimate_export_bytes};
pub use file::{
    AtomicFile, OnExisting, create_directory, lossy_path, open_regular, read_regular, shell_quoted, sync, write_atomic,
    write_atomic_durable,
};
pub use native::{Header, Provenance, ReadLimits, SetReader, SetSummary, SetWriter, Shard};
pub use progress::Progress;
pub use set::{Set, ShardError};
