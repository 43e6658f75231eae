//! Samples on their way to the network: loaders, batches, chunks, prefetching, evaluation sets.

pub mod batch;
pub mod chunk;
pub mod eval_set;
pub mod loader;
pub(crate) mod prefetch;
