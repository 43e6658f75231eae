//! The native store: a set, or a shard of one, as an Arrow IPC file that any Arrow library opens.
//!
//! A row is a sample: `nodes` and `steps`, then one column per probe in the order of the spec, named `input/NAME`,
//! `hint/NAME` or `output/NAME`, with the cells of all steps end to end. The length of a row follows from nodes, steps and
//! the spec. Scalars are `Float64`. Nodes (pointers, permutations, the node of a one-hot mask) are stored in the narrowest of
//! `UInt8`, `UInt16` and `UInt32` that holds every node of the set. Masks and classes are `Int8`, with -1 where they are
//! masked out. Record batches are compressed with zstd.
//!
//! The schema's metadata has the version of the format (`clrs.format`) and the [`Header`] (`clrs.header`, JSON). The
//! footer's metadata has what is known at the end of writing: the number of samples (`clrs.samples`), the content hash of
//! the values (`clrs.hash`) and the hash of the header's text (`clrs.header_hash`).

mod decode;
mod encode;
mod header;
mod read;
mod schema;
mod write;

pub use decode::Corruption;
pub use encode::{Encoded, Encoder};
pub(crate) use header::file_name;
pub use header::{Header, Provenance, Shard, is_valid_set_name};
pub use read::{Batches, Extent, ReadLimits, SetReader};
pub use write::{SetSummary, SetWriter};

/// Version of the format. Readers reject every other.
pub const FORMAT: &str = "1";

/// Maximum memory, in bytes, of the samples of one record batch.
pub const MAX_BATCH_BYTES: usize = 1 << 30;

const FORMAT_KEY: &str = "clrs.format";
pub(crate) const HEADER_KEY: &str = "clrs.header";
const SAMPLES_KEY: &str = "clrs.samples";
const HASH_KEY: &str = "clrs.hash";
const HEADER_HASH_KEY: &str = "clrs.header_hash";

const MAGIC: &[u8; 6] = b"ARROW1";
