//! Samples on their way to the network: sets, transforms, loaders, batches, chunks, prefetching.

pub mod batch;
pub mod chunk;
pub mod chunk_rows;
pub mod dense;
pub mod error;
pub mod eval_set;
pub mod loader;
pub(crate) mod prefetch;
pub mod sets;
pub mod tasks;
pub mod transform;
