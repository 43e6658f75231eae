//! The benchmark CLRS-Text: the sets that dm-clrs generates by default.
//!
//! | split | sizes of an algorithm | seeds | samples per size and seed |
//! |---|---|---|---|
//! | train | up to ten of 4, 5, 10, 11, 12, 15, 19, 23, 28, 31 | 0 | 10,000 |
//! | val | 4 to 7 up to 4 to 64 | 3, 14, 35, 81, 94 | 125 |

use std::fmt;
use std::str::FromStr;

use clrs::{AnyAlgorithm, clrs30};
use serde::{Deserialize, Serialize};

use crate::format::Format;
use crate::generator::Block;

/// A version of the benchmark: its sets in one of the formats of dm-clrs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Benchmark {
    /// In the format of dm-clrs 2.0.3.
    #[default]
    V2_0_3,
    /// In the format of dm-clrs 2.0.1.
    V2_0_1,
}

/// A split of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the usual names")]
#[non_exhaustive]
pub enum Split {
    Train,
    Val,
}

/// Sizes of the train sets. Every algorithm has the first few of them.
const TRAIN_SIZES: [usize; 10] = [4, 5, 10, 11, 12, 15, 19, 23, 28, 31];
/// Smallest size of the val sets.
const MIN_VAL_SIZE: usize = 4;

/// For every algorithm, the number of train sizes and the largest val size.
const SIZES: [(&str, usize, usize); 30] = [
    ("activity_selector", 10, 40),
    ("articulation_points", 7, 19),
    ("bellman_ford", 10, 32),
    ("bfs", 10, 41),
    ("binary_search", 10, 64),
    ("bridges", 2, 7),
    ("bubble_sort", 3, 11),
    ("dag_shortest_paths", 7, 19),
    ("dfs", 8, 20),
    ("dijkstra", 9, 25),
    ("find_maximum_subarray_kadane", 10, 64),
    ("floyd_warshall", 3, 11),
    ("graham_scan", 10, 31),
    ("heapsort", 3, 11),
    ("insertion_sort", 10, 25),
    ("jarvis_march", 5, 13),
    ("kmp_matcher", 10, 64),
    ("lcs_length", 3, 12),
    ("matrix_chain_order", 3, 12),
    ("minimum", 10, 64),
    ("mst_kruskal", 3, 10),
    ("mst_prim", 9, 26),
    ("naive_string_matcher", 10, 64),
    ("optimal_bst", 3, 10),
    ("quickselect", 10, 64),
    ("quicksort", 3, 12),
    ("segments_intersect", 10, 64),
    ("strongly_connected_components", 6, 16),
    ("task_scheduling", 10, 41),
    ("topological_sort", 8, 21),
];

impl Split {
    /// All splits.
    pub const ALL: [Split; 2] = [Split::Train, Split::Val];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Val => "val",
        }
    }

    /// Seeds of the samplers.
    pub const fn seeds(self) -> &'static [u32] {
        match self {
            Split::Train => &[0],
            Split::Val => &[3, 14, 35, 81, 94],
        }
    }

    /// Number of samples per algorithm, size and seed.
    pub const fn samples(self) -> u64 {
        match self {
            Split::Train => 10_000,
            Split::Val => 125,
        }
    }

    /// The algorithms and their sizes, in the order of dm-clrs, which differs between splits.
    pub fn sizes(self) -> Vec<(&'static dyn AnyAlgorithm, Vec<usize>)> {
        let mut algorithms: Vec<&'static dyn AnyAlgorithm> = clrs30::algorithms().collect();
        if self == Split::Val {
            algorithms.sort_by_key(|algorithm| algorithm.name());
        }
        let sizes = |algorithm: &dyn AnyAlgorithm| {
            let (_, train, val) = SIZES.iter().find(|(name, ..)| *name == algorithm.name()).expect("all thirty are listed");
            match self {
                Split::Train => TRAIN_SIZES[..*train].to_vec(),
                Split::Val => (MIN_VAL_SIZE..=*val).collect(),
            }
        };
        algorithms.into_iter().map(|algorithm| (algorithm, sizes(algorithm))).collect()
    }

    /// The samples of an algorithm: for every size, for every seed.
    pub fn blocks(self, algorithm: &'static dyn AnyAlgorithm, sizes: &[usize]) -> Vec<Block> {
        let of_size =
            |&size: &usize| self.seeds().iter().map(move |&seed| Block { algorithm, size, seed, count: self.samples() });
        sizes.iter().flat_map(of_size).collect()
    }
}

/// No split has the given name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown split `{0}`; expected train or val")]
pub struct UnknownSplit(pub String);

impl FromStr for Split {
    type Err = UnknownSplit;

    fn from_str(text: &str) -> Result<Split, UnknownSplit> {
        Split::ALL.into_iter().find(|split| split.name() == text).ok_or_else(|| UnknownSplit(text.into()))
    }
}

impl Benchmark {
    /// All versions, newest first.
    pub const ALL: [Benchmark; 2] = [Benchmark::V2_0_3, Benchmark::V2_0_1];

    /// The name, such as `clrs-text@2.0.3`.
    pub const fn name(self) -> &'static str {
        match self {
            Benchmark::V2_0_3 => "clrs-text@2.0.3",
            Benchmark::V2_0_1 => "clrs-text@2.0.1",
        }
    }

    /// The format of its texts.
    pub const fn format(self) -> Format {
        match self {
            Benchmark::V2_0_3 => Format::V2_0_3,
            Benchmark::V2_0_1 => Format::V2_0_1,
        }
    }
}

/// No version of the benchmark has the given name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown benchmark `{0}`; expected clrs-text (= clrs-text@2.0.3) or clrs-text@2.0.1")]
pub struct UnknownBenchmark(pub String);

impl FromStr for Benchmark {
    type Err = UnknownBenchmark;

    fn from_str(text: &str) -> Result<Benchmark, UnknownBenchmark> {
        if text == "clrs-text" {
            return Ok(Benchmark::default());
        }
        Benchmark::ALL.into_iter().find(|version| version.name() == text).ok_or_else(|| UnknownBenchmark(text.into()))
    }
}

impl TryFrom<String> for Benchmark {
    type Error = UnknownBenchmark;

    fn try_from(text: String) -> Result<Benchmark, UnknownBenchmark> {
        text.parse()
    }
}

impl From<Benchmark> for String {
    fn from(benchmark: Benchmark) -> String {
        benchmark.name().into()
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_have_as_many_rows_as_those_of_dm_clrs() {
        let pairs = |split: Split| split.sizes().iter().map(|(_, sizes)| sizes.len()).sum::<usize>();
        assert_eq!(Split::ALL.map(pairs), [215, 823]);
        let rows = |split: Split| {
            let blocks = split.sizes().into_iter().flat_map(|(algorithm, sizes)| split.blocks(algorithm, &sizes));
            blocks.map(|block| block.count).sum::<u64>()
        };
        assert_eq!(Split::ALL.map(rows), [2_150_000, 514_375]);
    }

    #[test]
    fn the_train_split_starts_with_articulation_points() {
        let first = |split: Split| split.sizes()[..2].iter().map(|(algorithm, _)| algorithm.name()).collect::<Vec<_>>();
        assert_eq!(first(Split::Train), ["articulation_points", "activity_selector"]);
        assert_eq!(first(Split::Val), ["activity_selector", "articulation_points"]);
    }
}
