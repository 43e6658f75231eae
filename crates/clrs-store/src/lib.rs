//! Files of the benchmark: the native store, and what others read.
//!
//! - [`native`]: sets as Arrow IPC files, typed and ragged, with their spec, provenance and content hash.
//! - [`generate`], [`verify`], [`stats`]: sets are made, checked and described.
//! - [`npz`], [`safetensors`]: dense arrays in the reference's layout.
//! - [`parquet`]: a row per sample, for data frames and Hugging Face's `datasets`.
//! - [`tfds`]: what the reference's own client reads; and from there into native sets.
//!
//! A file appears under its name when it is whole, and takes no other's place unless asked to ([`OnExisting`]). Files that are
//! read are not trusted: what they claim is bounded before memory is taken for it, and checked before it is used.

mod dense;
mod error;
mod file;
pub mod generate;
pub mod native;
pub mod npz;
pub mod parquet;
mod progress;
pub mod safetensors;
mod set;
pub mod stats;
pub mod tfds;
pub mod verify;

pub use error::{StoreError, StoreErrorKind};
pub use file::{OnExisting, sync, write_atomic};
pub use native::{Header, Provenance, SetReader, SetSummary, SetWriter};
pub use progress::Progress;
pub use set::Set;
