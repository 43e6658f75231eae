use std::path::{Path, PathBuf};

use clrs::Trajectories;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::parent;
use crate::native::{Extent, Header, SetReader, Shard, file_name};

/// A complete set: one file, or all of its shards in order.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::{Set, Shard};
///
/// let dir = tempfile::tempdir()?;
/// let bfs = Registry::builtin().find("bfs")?;
/// let dataset = DatasetSpec::new("bfs_train", bfs, 8, 10, 1);
/// for index in 0..3 {
///     let shard = dataset.clone().with_shard(Shard { index, count: 3 });
///     generate(&[shard], dir.path(), GenerateOptions::default(), &())?;
/// }
/// let mut set = Set::open(dir.path(), "bfs", "train")?;
/// assert_eq!((set.shards().len(), set.samples()), (3, 10));
/// assert_eq!(set.read_all()?.len(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Set {
    header: Header,
    shards: Vec<SetReader>,
}

/// Why files do not form a complete set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum ShardError {
    #[error("shard {index} of {count} is missing")]
    Missing { index: u32, count: u32 },
    #[error("shard {index} of {count} is given twice")]
    Duplicate { index: u32, count: u32 },
    #[error("not a shard of the same set as {}", .first.display())]
    Foreign { first: PathBuf },
    #[error("shard {index} of {count} has {found} samples instead of {expected}")]
    Samples { index: u32, count: u32, expected: u64, found: u64 },
}

impl Set {
    /// Opens the set of an algorithm and split, and checks that it is complete.
    ///
    /// `path` is a directory that contains `ALGORITHM_SPLIT.arrow` or all shards `ALGORITHM_SPLIT-IIIII-of-NNNNN.arrow`; or
    /// the file of the set; or any of its shards, next to the others. In a directory, the single file is preferred to
    /// shards.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::MissingSet`] if there is no such set, [`StoreErrorKind::NameMismatch`] and
    /// [`StoreErrorKind::AlgorithmMismatch`] if a file contains another set than its name says, and
    /// [`StoreErrorKind::Shards`] if the shards are not complete or do not fit together.
    pub fn open(path: &Path, algorithm: &str, split: &str) -> Result<Set, StoreError> {
        let name = format!("{algorithm}_{split}");
        let readers = if path.is_dir() {
            open_by_name(path, &name)?
        } else {
            let reader = SetReader::open(path)?;
            match reader.header().provenance.shard {
                Some(shard) if shard.count > 1 && reader.header().name == name => {
                    open_shards(parent(path), &name, Some(shard.count))?
                }
                _ => vec![reader],
            }
        };
        for reader in &readers {
            let header = reader.header();
            if header.name != name {
                return Err(StoreErrorKind::NameMismatch { expected: name, found: header.name.clone() }).at(reader.path());
            }
            if header.algorithm != algorithm {
                let (expected, found) = (algorithm.into(), header.algorithm.clone());
                return Err(StoreErrorKind::AlgorithmMismatch { expected, found }).at(reader.path());
            }
        }
        Set::new(readers)
    }

    /// Files of sets: the given one, or those of a directory by name.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::NoSets`] if a directory contains none, [`StoreErrorKind::NotAFile`] if the path is neither a
    /// directory nor a regular file.
    pub fn files(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let metadata = path.metadata().at(path)?;
        if metadata.is_file() {
            return Ok(vec![path.into()]);
        }
        if !metadata.is_dir() {
            return Err(StoreErrorKind::NotAFile).at(path);
        }
        let mut files = Vec::new();
        for entry in path.read_dir().at(path)? {
            let file = entry.at(path)?.path();
            // Files that are being written are hidden.
            let is_hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && file.extension().is_some_and(|extension| extension == "arrow") {
                files.push(file);
            }
        }
        files.sort();
        if files.is_empty() { Err(StoreErrorKind::NoSets).at(path) } else { Ok(files) }
    }

    /// Opens files of any sets, and groups the shards of each. Sets are in the order of their first file.
    ///
    /// # Errors
    ///
    /// As for [`open`](Set::open).
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Set>, StoreError> {
        let mut sets: Vec<Vec<SetReader>> = Vec::new();
        for path in paths {
            let reader = SetReader::open(path)?;
            match sets.iter_mut().find(|set| set[0].header().name == reader.header().name) {
                Some(set) => set.push(reader),
                None => sets.push(vec![reader]),
            }
        }
        sets.into_iter().map(Set::new).collect()
    }

    fn new(mut readers: Vec<SetReader>) -> Result<Set, StoreError> {
        readers.iter().try_for_each(ensure_named_like_its_file)?;
        readers.sort_by_key(|reader| shard_of(reader).index);
        ensure_complete(&readers)?;
        let mut header = readers[0].header().clone();
        header.provenance.shard = None;
        header.max_nodes = readers.iter().map(|reader| reader.header().max_nodes).max().unwrap_or(header.max_nodes);
        Ok(Set { header, shards: readers })
    }

    /// Description of the set, without a shard.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of samples of all shards.
    pub fn samples(&self) -> u64 {
        self.shards.iter().map(SetReader::samples).sum()
    }

    /// Readers of the files, in order.
    pub fn shards(&mut self) -> &mut [SetReader] {
        &mut self.shards
    }

    /// Iterates over all samples, one record batch at a time, and compares the content hash of every file. See
    /// [`SetReader::batches`].
    pub fn batches(&mut self) -> impl Iterator<Item = Result<Trajectories, StoreError>> {
        self.shards.iter_mut().flat_map(SetReader::batches)
    }

    /// Reads all samples, and compares the content hash of every file.
    pub fn read_all(&mut self) -> Result<Trajectories, StoreError> {
        let mut all = Trajectories::new(self.header.spec.clone());
        for batch in self.batches() {
            all.append(&batch?);
        }
        Ok(all)
    }

    /// Nodes and steps of every sample, in order. See [`SetReader::extents`].
    pub fn extents(&mut self) -> Result<Vec<Extent>, StoreError> {
        let mut extents = Vec::new();
        for shard in &mut self.shards {
            extents.extend(shard.extents()?);
        }
        Ok(extents)
    }

    /// Path of the first file.
    pub fn path(&self) -> &Path {
        self.shards[0].path()
    }
}

/// Checks that a file contains the set, or the shard, that its name says.
pub(crate) fn ensure_named_like_its_file(reader: &SetReader) -> Result<(), StoreError> {
    let header = reader.header();
    if header.is_named_like(reader.path()) {
        return Ok(());
    }
    let stem = |file: &str| file.strip_suffix(".arrow").unwrap_or(file).to_owned();
    let expected = stem(&reader.path().file_name().unwrap_or_default().to_string_lossy());
    let found = stem(&header.file_name());
    Err(StoreErrorKind::NameMismatch { expected, found }).at(reader.path())
}

/// The files of a set in a directory.
fn open_by_name(dir: &Path, name: &str) -> Result<Vec<SetReader>, StoreError> {
    let file = dir.join(file_name(name, None));
    if file.symlink_metadata().is_ok() { Ok(vec![SetReader::open(&file)?]) } else { open_shards(dir, name, None) }
}

/// The shards of a set in a directory: those of one number of shards, or all there are.
fn open_shards(dir: &Path, name: &str, count: Option<u32>) -> Result<Vec<SetReader>, StoreError> {
    let mut paths = Vec::new();
    for entry in dir.read_dir().at(dir)? {
        let entry = entry.at(dir)?;
        let shard = entry.file_name().to_str().and_then(|file| parse_shard(file, name));
        if shard.is_some_and(|shard| count.is_none_or(|count| shard.count == count)) {
            paths.push(entry.path());
        }
    }
    if paths.is_empty() {
        return Err(StoreErrorKind::MissingSet { name: name.into() }).at(dir);
    }
    paths.sort();
    paths.iter().map(|path| SetReader::open(path)).collect()
}

/// The shard that the name of a file says it contains.
fn parse_shard(file: &str, name: &str) -> Option<Shard> {
    let (index, count) = file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".arrow")?.split_once("-of-")?;
    let shard = Shard { index: index.parse().ok()?, count: count.parse().ok()? };
    (file == file_name(name, Some(shard))).then_some(shard)
}

/// Checks that every shard is given once, and that they are shards of the same set.
fn ensure_complete(readers: &[SetReader]) -> Result<(), StoreError> {
    let first = &readers[0];
    let count = shard_of(first).count;
    for (position, reader) in readers.iter().enumerate() {
        let shard = shard_of(reader);
        if shard.count != count || !is_same_set(first.header(), reader.header()) {
            return Err(ShardError::Foreign { first: first.path().into() }).at(reader.path());
        }
        if (shard.index as usize) < position {
            return Err(ShardError::Duplicate { index: shard.index, count }).at(reader.path());
        }
        if shard.index as usize > position {
            return Err(missing(position, count)).at(first.path());
        }
        let range = shard.range(reader.header().provenance.samples);
        let (expected, found) = (range.end - range.start, reader.samples());
        if reader.header().provenance.shard.is_some() && found != expected {
            return Err(ShardError::Samples { index: shard.index, count, expected, found }).at(reader.path());
        }
    }
    if (readers.len() as u64) < u64::from(count) {
        return Err(missing(readers.len(), count)).at(first.path());
    }
    Ok(())
}

fn missing(position: usize, count: u32) -> ShardError {
    ShardError::Missing { index: u32::try_from(position).unwrap_or(u32::MAX), count }
}

/// Whether two headers differ in the shard only. The program that wrote it and the width of nodes may differ too.
fn is_same_set(a: &Header, b: &Header) -> bool {
    let without_shard = |header: &Header| {
        let mut header = header.clone();
        header.provenance.shard = None;
        header.provenance.program.clear();
        header.max_nodes = 0;
        header
    };
    without_shard(a) == without_shard(b)
}

fn shard_of(reader: &SetReader) -> Shard {
    reader.header().provenance.shard.unwrap_or(Shard { index: 0, count: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_shard_names_are_parsed() {
        let shard = |file| parse_shard(file, "bfs_train");
        assert_eq!(shard("bfs_train-00002-of-00010.arrow"), Some(Shard { index: 2, count: 10 }));
        for other in ["bfs_train.arrow", "bfs_train-2-of-10.arrow", "bfs_train-00002-of-00010", "dfs_train-00002-of-00010.arrow"]
        {
            assert_eq!(shard(other), None, "{other}");
        }
    }
}
