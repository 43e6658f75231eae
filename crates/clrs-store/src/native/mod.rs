//! The native store: a set or a shard of one, as an Arrow IPC file that any Arrow library opens.
//!
//! A row is a sample: `nodes` and `steps`, then a column per probe in the order of the spec, named `input/NAME`, `hint/NAME`
//! or `output/NAME`, with the cells of all its rows end to end. How long a row is follows from nodes, steps and the spec.
//! Scalars are `Float64`. Nodes (pointers, orders, the one node of a one-hot mask) are in the narrowest of `UInt8`, `UInt16`
//! and `UInt32` that holds every node of the set. Masks and classes are `Int8`, with -1 where the question is not asked.
//! Record batches are compressed with zstd.
//!
//! The schema's metadata has the format's version (`clrs.format`) and the [`Header`] (`clrs.header`, JSON); the footer's has
//! what is known when all is written: the number of samples (`clrs.samples`), the content hash over the values (`clrs.hash`) and
//! the hash of the header's text (`clrs.header_hash`).

mod decode;
mod encode;
mod header;
mod read;
mod schema;
mod write;

pub use decode::Corruption;
pub use encode::{Encoded, Encoder};
pub use header::{Header, Provenance, is_valid_set_name};
pub use read::{Batches, SetReader};
pub use write::{SetSummary, SetWriter};

/// The version of the format. Readers refuse every other.
pub const FORMAT: &str = "1";

/// The most memory that the samples of one record batch may take. A file that claims more is refused before any is taken.
pub const MAX_BATCH_BYTES: usize = 1 << 30;

const FORMAT_KEY: &str = "clrs.format";
pub(crate) const HEADER_KEY: &str = "clrs.header";
const SAMPLES_KEY: &str = "clrs.samples";
const HASH_KEY: &str = "clrs.hash";
const HEADER_HASH_KEY: &str = "clrs.header_hash";

const MAGIC: &[u8; 6] = b"ARROW1";
