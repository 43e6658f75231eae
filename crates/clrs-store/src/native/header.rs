use std::ops::Range;
use std::path::Path;

use clrs::Spec;
use clrs::sampling::Seeding;
use serde::{Deserialize, Serialize};

/// Description of a set, stored in its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the set, `ALGORITHM_SPLIT` for those that are trained on: `bfs_train`. Files are named after it.
    pub name: String,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Maximum number of nodes of a sample. Decides the stored width of a node.
    pub max_nodes: usize,
    /// Where the set comes from.
    pub provenance: Provenance,
    /// The probes, one per column.
    pub spec: Spec,
}

impl Header {
    /// Name of the file of the set, or of the shard: `bfs_train.arrow`, `bfs_train-00000-of-00004.arrow`.
    pub fn file_name(&self) -> String {
        file_name(&self.name, self.provenance.shard)
    }

    /// Whether a path has the name of the set's file.
    pub(crate) fn is_named_like(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == self.file_name().as_str())
    }
}

/// Where a set comes from: enough to generate it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program that wrote the set, with its version.
    pub program: String,
    /// Benchmark that the set is part of: `clrs30@2.0.3`.
    pub benchmark: Option<String>,
    /// Size that the problems were sampled at.
    pub size: usize,
    /// Number of samples of the set, all shards together.
    pub samples: u64,
    /// Seed of the sampler.
    pub seed: u32,
    /// How samples got their random numbers.
    pub seeding: Seeding,
    /// Options of the sampler that were set, in order.
    pub options: Vec<(String, String)>,
    /// The shard that the file contains, if the set is sharded.
    pub shard: Option<Shard>,
    /// What the set was imported from.
    pub source: Option<String>,
}

impl Default for Provenance {
    fn default() -> Provenance {
        Provenance {
            program: concat!("clrs ", env!("CARGO_PKG_VERSION")).into(),
            benchmark: None,
            size: 0,
            samples: 0,
            seed: 0,
            seeding: Seeding::DmClrs,
            options: Vec::new(),
            shard: None,
            source: None,
        }
    }
}

/// A shard of a set. In JSON, `[index, count]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u32)", from = "(u32, u32)")]
pub struct Shard {
    /// Index of the shard, from 0.
    pub index: u32,
    /// Number of shards of the set.
    pub count: u32,
}

impl Shard {
    /// Indices of the shard's samples among `samples` of the set. Empty if the index is out of range.
    pub fn range(self, samples: u64) -> Range<u64> {
        let start = |index: u32| {
            let start = u128::from(samples) * u128::from(index.min(self.count)) / u128::from(self.count.max(1));
            u64::try_from(start).unwrap_or(samples)
        };
        start(self.index)..start(self.index.saturating_add(1))
    }
}

impl From<Shard> for (u32, u32) {
    fn from(Shard { index, count }: Shard) -> (u32, u32) {
        (index, count)
    }
}

impl From<(u32, u32)> for Shard {
    fn from((index, count): (u32, u32)) -> Shard {
        Shard { index, count }
    }
}

/// Name of the file of a set, or of one of its shards.
pub(crate) fn file_name(name: &str, shard: Option<Shard>) -> String {
    match shard {
        None => format!("{name}.arrow"),
        Some(Shard { index, count }) => format!("{name}-{index:05}-of-{count:05}.arrow"),
    }
}

/// Whether a set may have this name, which becomes part of file names.
pub fn is_valid_set_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
    !name.is_empty() && name.len() <= 200 && name.chars().all(is_allowed) && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_partition_the_samples() {
        for (samples, count) in [(10, 3), (2, 5), (0, 2), (u64::MAX, 7)] {
            let ranges: Vec<_> = (0..count).map(|index| Shard { index, count }.range(samples)).collect();
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, samples));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        assert!(Shard { index: 9, count: 3 }.range(10).is_empty());
        assert!(Shard { index: 0, count: 0 }.range(10).is_empty());
    }

    #[test]
    fn file_names_are_those_of_headers() {
        let name = |shard| file_name("bfs_train", shard);
        assert_eq!(name(None), "bfs_train.arrow");
        assert_eq!(name(Some(Shard { index: 3, count: 12 })), "bfs_train-00003-of-00012.arrow");
    }
}
