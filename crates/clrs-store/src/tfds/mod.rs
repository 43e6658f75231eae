//! TensorFlow Datasets directories, as dm-clrs's builder writes them and `clrs.create_dataset` reads them.
//!
//! `ROOT/clrs_dataset/ALGORITHM_SPLIT/1.0.0/` contains `features.json` (names, types and shapes), `dataset_info.json` (the
//! shards) and the shards, files of `tf.train.Example` records: `clrs_dataset-SPLIT.tfrecord-00000-of-00001`. Features are named
//! `input_NAME`, `output_NAME`, `hint_NAME` and `lengths`; hints are `[T, ...]`, padded to the longest sample of the set.
//!
//! - Floats are stored as float32, which drops the last 29 bits of their significand.
//! - Records are sorted by the MD5 of the split's name and the sample's index. [`import`] restores the order.
//! - `python -m clrs.examples.run --train_lengths=-1 --dataset_path=DIR` looks for `DIR/CLRS30_v1.0.0`: make that the root.

mod example;
mod export;
mod features;
mod import;
mod info;
mod order;
mod record;

pub use export::export;
pub use import::{ImportedSet, Layout, LayoutError, RecordError, import, read, records_of};
pub use record::write_record;

/// Name of dm-clrs's dataset, and the version in the names of its directories.
const DATASET: &str = "clrs_dataset";
const VERSION: &str = "1.0.0";

const FEATURES_FILE: &str = "features.json";
const INFO_FILE: &str = "dataset_info.json";

/// Name of a shard's file.
fn shard_name(split: &str, shard: usize, shards: usize) -> String {
    format!("{DATASET}-{split}.tfrecord-{shard:05}-of-{shards:05}")
}
