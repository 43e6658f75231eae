//! A directory of TensorFlow Datasets, as the reference's builder writes it and `clrs.create_dataset` reads it.
//!
//! `ROOT/clrs_dataset/ALGORITHM_SPLIT/1.0.0/` holds `features.json` (names, types and shapes), `dataset_info.json` (the shards)
//! and the shards, files of `tf.train.Example` records: `clrs_dataset-SPLIT.tfrecord-00000-of-00001`. Features are called
//! `input_NAME`, `output_NAME`, `hint_NAME` and `lengths`; hints are `[T, ...]`, padded to the longest sample of the set.
//!
//! - Real numbers are stored as float32 there, so their last 29 bits are lost.
//! - Records are sorted by the MD5 of the split's name and the sample's number. [`import`] undoes that.
//! - `python -m clrs.examples.run --train_lengths=-1 --dataset_path=DIR` looks for `DIR/CLRS30_v1.0.0`: make that the root.

mod example;
mod export;
mod features;
mod import;
mod info;
mod order;
mod record;

pub use export::export;
pub use import::{ImportedSet, Layout, RecordError, import};
pub use record::write_record;

/// What the reference calls its dataset, and the version that names the folders.
const DATASET: &str = "clrs_dataset";
const VERSION: &str = "1.0.0";

const FEATURES_FILE: &str = "features.json";
const INFO_FILE: &str = "dataset_info.json";

/// The name of a shard's file.
fn shard_name(split: &str, shard: usize, of: usize) -> String {
    format!("{DATASET}-{split}.tfrecord-{shard:05}-of-{of:05}")
}
