use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clrs::batch::{BatchError, same_size};
use clrs::{ArrayData, Batch, Trajectories};
use prost::Message;

use super::example::{Example, Feature, Features, FloatList, Int64List, List};
use super::features::{LENGTHS, feature_name, tensors, to_json};
use super::info::info;
use super::order::order;
use super::record::{OVERHEAD, write_record};
use super::{DATASET, FEATURES_FILE, INFO_FILE, VERSION, shard_name};
use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{AtomicDir, OnExisting};
use crate::progress::Progress;
use crate::set::Set;

/// Writes a set below a root directory, and returns the directory of the set.
///
/// `split` is the name of the split; by default that of the set's name, `ALGORITHM_SPLIT`. The typed samples are in memory,
/// and one dense sample at a time.
pub fn export(
    set: &mut Set,
    root: &Path,
    split: Option<&str>,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<PathBuf, StoreError> {
    let header = set.header();
    let name = header.name.clone();
    let split = split.or_else(|| header.name.strip_prefix(&header.algorithm)?.strip_prefix('_'));
    let split = split.filter(|split| is_valid_split(split)).map(str::to_owned);
    let split = split.ok_or_else(|| StoreErrorKind::NoSplit(name.clone())).at(set.path())?;
    let config = format!("{}_{split}", header.algorithm);
    let path = root.join(DATASET).join(&config).join(VERSION);
    let dir = AtomicDir::create(&path, on_existing)?;

    let trajectories = set.read_all()?;
    let on_sample = || {
        progress.add_samples(&name, 1);
        if progress.is_cancelled() { Err(StoreErrorKind::Cancelled) } else { Ok(()) }
    };
    write(dir.path(), &trajectories, &config, &split, &on_sample).at(&path)?;
    dir.commit()?;
    progress.finish_set(&name);
    Ok(path)
}

/// Whether a split may have this name, which becomes part of file names.
fn is_valid_split(split: &str) -> bool {
    !split.is_empty() && split.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.') && !split.starts_with('.')
}

fn write(
    dir: &Path,
    trajectories: &Trajectories,
    config: &str,
    split: &str,
    on_sample: &dyn Fn() -> Result<(), StoreErrorKind>,
) -> Result<(), StoreErrorKind> {
    let (spec, nodes) = same_size(&trajectories.iter().collect::<Vec<_>>())?;
    let steps = trajectories.max_steps();
    let encoded_bytes = |sample| Ok(example(&[sample], steps)?.encoded_len() as u64);
    let bytes = trajectories.iter().map(encoded_bytes).sum::<Result<u64, BatchError>>()?;
    let bounds = bounds(trajectories.len(), shards(bytes, trajectories.len()));

    let order = order(split, trajectories.len());
    for (shard, bound) in bounds.windows(2).enumerate() {
        let mut file = BufWriter::new(File::create(dir.join(shard_name(split, shard, bounds.len() - 1)))?);
        for &sample in &order[bound[0]..bound[1]] {
            write_record(&mut file, &example(&[trajectories.get(sample)], steps)?.encode_to_vec())?;
            on_sample()?;
        }
        file.flush()?;
    }
    std::fs::write(dir.join(FEATURES_FILE), to_json(&tensors(spec, nodes, steps)))?;
    std::fs::write(dir.join(INFO_FILE), info(config, split, bytes, &bounds))?;
    Ok(())
}

/// One sample, padded.
#[expect(clippy::cast_possible_truncation, reason = "records have floats as float32")]
fn example(sample: &[clrs::Trajectory<'_>; 1], steps: usize) -> Result<Example, BatchError> {
    let batch = Batch::new(sample, steps)?;
    let float = |value: Vec<f32>| Feature { list: Some(List::Float(FloatList { value })) };
    let lengths = (LENGTHS.to_owned(), float(batch.lengths.iter().map(|&steps| steps as f32).collect()));
    let features = batch.spec.iter().zip(batch.arrays).map(|(probe, array)| {
        let feature = match array.data {
            ArrayData::F64(cells) => float(cells.iter().map(|&x| x as f32).collect()),
            ArrayData::F32(cells) => float(cells),
            ArrayData::I64(value) => Feature { list: Some(List::Int64(Int64List { value })) },
        };
        (feature_name(probe), feature)
    });
    Ok(Example { features: Some(Features { feature: features.chain([lengths]).collect() }) })
}

/// Number of shards that TFDS writes: the largest power of two with at least 64 MiB each and a sample for each. Beyond 1024,
/// enough for at most 1 GiB each.
fn shards(bytes: u64, samples: usize) -> usize {
    let bytes = bytes + OVERHEAD * samples as u64;
    let (max, min) = (bytes >> 26, bytes >> 30);
    let fits = |shards: u64| shards <= samples as u64 && min <= shards;
    let powers = (0..=10).rev().map(|power| 1 << power).filter(|&shards| shards <= max);
    let thousands = (2..).map(|thousands| thousands * 1024).take_while(|&shards| shards <= samples as u64);
    let shards =
        if min > 1024 { thousands.into_iter().find(|&shards| fits(shards)) } else { powers.into_iter().find(|&n| fits(n)) };
    usize::try_from(shards.unwrap_or(1)).unwrap_or(1)
}

/// Indices of the samples at which shards start and end. Ties round to even, as in Python.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of samples")]
fn bounds(samples: usize, shards: usize) -> Vec<usize> {
    (0..=shards).map(|shard| ((samples * shard) as f64 / shards as f64).round_ties_even() as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_those_that_tfds_writes() {
        let mib = 1 << 20;
        assert_eq!(shards(127 * mib, 2048), 1);
        assert_eq!(shards(128 * mib, 2048), 2);
        assert_eq!(shards(128 * mib - 1, 2048), 2, "checksums and lengths count");
        assert_eq!(shards(1600 * mib, 2048), 16);
        assert_eq!(shards(1600 * mib, 15), 8);
        assert_eq!(shards(100 << 30, 5000), 1024);
        assert_eq!(shards(3000 << 30, 1_000_000), 3072);
        assert_eq!(bounds(1000, 16)[..4], [0, 62, 125, 188]);
        assert_eq!(bounds(3, 2), [0, 2, 3]);
    }
}
