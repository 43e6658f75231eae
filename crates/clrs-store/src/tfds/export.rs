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

/// Writes a set under a root folder, and gives the folder that it went to. The split is taken from the set's name,
/// `ALGORITHM_SPLIT`, unless it is given. The samples are all in memory, typed; dense they are one at a time.
pub fn export(
    set: &mut Set,
    root: &Path,
    split: Option<&str>,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<PathBuf, StoreError> {
    let header = set.header();
    let split = split.or_else(|| header.name.strip_prefix(&header.algorithm)?.strip_prefix('_'));
    let split = split.filter(|split| is_split(split)).map(str::to_owned);
    let split = split.ok_or_else(|| StoreErrorKind::NoSplit(header.name.clone())).at(set.path())?;
    let config = format!("{}_{split}", header.algorithm);
    let path = root.join(DATASET).join(&config).join(VERSION);
    let folder = AtomicDir::create(&path, on_existing)?;

    let runs = set.read_all()?;
    let report = || {
        progress.add_samples(&set.header().name, 1);
        if progress.is_cancelled() { Err(StoreErrorKind::Cancelled) } else { Ok(()) }
    };
    let written = write(folder.path(), &runs, &config, &split, &report).at(&path);
    written.and_then(|()| folder.commit())?;
    progress.finish_set(&set.header().name);
    Ok(path)
}

/// Whether it can be the name of a split: it becomes part of the names of files.
fn is_split(split: &str) -> bool {
    !split.is_empty() && split.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.') && !split.starts_with('.')
}

fn write(
    folder: &Path,
    runs: &Trajectories,
    config: &str,
    split: &str,
    report: &dyn Fn() -> Result<(), StoreErrorKind>,
) -> Result<(), StoreErrorKind> {
    let (spec, nodes) = same_size(&runs.iter().collect::<Vec<_>>())?;
    let steps = runs.max_steps();
    let bytes = runs.iter().map(|run| Ok(example(&[run], steps)?.encoded_len() as u64)).sum::<Result<u64, BatchError>>()?;
    let bounds = bounds(runs.len(), shards(bytes, runs.len()));

    let order = order(split, runs.len());
    for (shard, bound) in bounds.windows(2).enumerate() {
        let mut file = BufWriter::new(File::create(folder.join(shard_name(split, shard, bounds.len() - 1)))?);
        for &sample in &order[bound[0]..bound[1]] {
            write_record(&mut file, &example(&[runs.get(sample)], steps)?.encode_to_vec())?;
            report()?;
        }
        file.flush()?;
    }
    std::fs::write(folder.join(FEATURES_FILE), to_json(&tensors(spec, nodes, steps)))?;
    std::fs::write(folder.join(INFO_FILE), info(config, split, bytes, &bounds))?;
    Ok(())
}

/// One sample, padded.
#[expect(clippy::cast_possible_truncation, reason = "records hold real numbers as float32")]
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

/// How many shards TFDS cuts so many bytes into: the largest power of two that leaves each at least 64 MiB, as long as there
/// is a sample for each. Beyond 1024, enough for at most 1 GiB each.
fn shards(bytes: u64, samples: usize) -> usize {
    let bytes = bytes + OVERHEAD * samples as u64;
    let (most, least) = (bytes >> 26, bytes >> 30);
    let fits = |shards: u64| shards <= samples as u64 && least <= shards;
    let powers = (0..=10).rev().map(|power| 1 << power).filter(|&shards| shards <= most);
    let thousands = (2..).map(|thousands| thousands * 1024).take_while(|&shards| shards <= samples as u64);
    let shards =
        if least > 1024 { thousands.into_iter().find(|&shards| fits(shards)) } else { powers.into_iter().find(|&n| fits(n)) };
    usize::try_from(shards.unwrap_or(1)).unwrap_or(1)
}

/// Where shards begin and end. Halves go to the even number, as Python rounds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of samples")]
fn bounds(samples: usize, shards: usize) -> Vec<usize> {
    (0..=shards).map(|shard| ((samples * shard) as f64 / shards as f64).round_ties_even() as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_those_of_tfds() {
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
