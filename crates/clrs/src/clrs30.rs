//! The benchmark's data as named versions: thirty algorithms, each with a train, a val and a test set.
//!
//! | split | samples | size | seed |
//! |---|---|---|---|
//! | train | 1000 | 16 | 1 |
//! | val | 32 | 16 | 2 |
//! | test | 32 | 64 | 3 |
//!
//! Algorithms that answer with few numbers have 32 or 64 times as many val and test samples, so that scores are as certain.
//!
//! - `clrs30@2.0.3`, also `clrs30`: what dm-clrs 2.0.3 samples.
//! - `clrs30@1.0.0`: the data behind the paper's numbers. It differs in three things: the string matchers have 20 nodes, and
//!   80 in test; quickselect has no `pivot` hint; the sorts' `pred` is a plain pointer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::algorithm::{AnyAlgorithm, Family};
use crate::hash::ContentHash;
use crate::registry::Registry;
use crate::spec::{Kind, Probe, Spec, Stage};

/// A version of the benchmark's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Version {
    /// What dm-clrs 2.0.3 samples.
    #[default]
    V2_0_3,
    /// The data behind the paper's numbers.
    V1_0_0,
}

/// A part of the benchmark's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the field's words")]
pub enum Split {
    Train,
    Val,
    Test,
}

/// How many algorithms of the registry the benchmark has: the first thirty.
const ALGORITHMS: usize = 30;

/// One of the benchmark's sets: everything that decides its values.
#[derive(Clone)]
pub struct BenchmarkSet {
    /// Whose runs it holds.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// Which part it is.
    pub split: Split,
    /// The size that problems are drawn at.
    pub size: usize,
    /// How many.
    pub samples: usize,
    /// The seed of the one stream they are drawn from.
    pub seed: u32,
    /// The probes that are kept.
    pub spec: Spec,
}

impl BenchmarkSet {
    /// `bfs_train`.
    pub fn name(&self) -> String {
        format!("{}_{}", self.algorithm.name(), self.split.name())
    }

    /// The content hash that the set has.
    pub fn pinned_hash(&self, version: Version) -> Option<ContentHash> {
        let name = self.name();
        let line = version.hashes().lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        line.and_then(|hash| ContentHash::try_from(hash.to_owned()).ok())
    }
}

impl Split {
    /// All of them.
    pub const ALL: [Split; 3] = [Split::Train, Split::Val, Split::Test];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::Val => "val",
            Split::Test => "test",
        }
    }
}

impl Version {
    /// All of them, the newest first.
    pub const ALL: [Version; 2] = [Version::V2_0_3, Version::V1_0_0];

    /// `clrs30@2.0.3`.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V2_0_3 => "clrs30@2.0.3",
            Version::V1_0_0 => "clrs30@1.0.0",
        }
    }

    /// A line per set: its name and its content hash. Written by `cargo xtask hashes`.
    const fn hashes(self) -> &'static str {
        match self {
            Version::V2_0_3 => include_str!("../hashes/clrs30@2.0.3.txt"),
            Version::V1_0_0 => include_str!("../hashes/clrs30@1.0.0.txt"),
        }
    }

    /// The ninety sets, by algorithm and split.
    pub fn sets(self) -> Vec<BenchmarkSet> {
        let algorithms = Registry::builtin();
        let algorithms = algorithms.iter().take(ALGORITHMS);
        algorithms.flat_map(|algorithm| Split::ALL.map(|split| self.set(algorithm, split))).collect()
    }

    fn set(self, algorithm: &'static dyn AnyAlgorithm, split: Split) -> BenchmarkSet {
        let (samples, size, seed) = match split {
            Split::Train => (1000, 16, 1),
            Split::Val => (32 * algorithm.eval_multiplier(), 16, 2),
            Split::Test => (32 * algorithm.eval_multiplier(), 64, 3),
        };
        // Version 1.0.0 gave the text its size, and the pattern a quarter of that beside it.
        let size = if self == Version::V1_0_0 && algorithm.family() == Family::Strings { size + size / 4 } else { size };
        BenchmarkSet { algorithm, split, size, samples, seed, spec: self.spec(algorithm) }
    }

    /// The probes that this version has of an algorithm.
    pub fn spec(self, algorithm: &dyn AnyAlgorithm) -> Spec {
        let spec = Spec::from(algorithm.spec());
        if self == Version::V2_0_3 {
            return spec;
        }
        let is_newer = |probe: &Probe| algorithm.added_since_1_0_0().contains(&&*probe.name);
        let plain = |probe: &Probe| match probe.kind {
            Kind::Permutation if probe.stage == Stage::Output => Probe { kind: Kind::Pointer, ..probe.clone() },
            _ => probe.clone(),
        };
        let probes = spec.iter().filter(|probe| !is_newer(probe)).map(plain).collect();
        Spec::new(probes).expect("fewer probes than there were, under the same names")
    }
}

/// No version of the benchmark has the name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no benchmark is called `{0}`; there are: clrs30 (= clrs30@2.0.3), clrs30@1.0.0")]
pub struct UnknownVersion(pub String);

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Version, UnknownVersion> {
        if text == "clrs30" {
            return Ok(Version::default());
        }
        Version::ALL.into_iter().find(|version| version.name() == text).ok_or_else(|| UnknownVersion(text.into()))
    }
}

impl TryFrom<String> for Version {
    type Error = UnknownVersion;

    fn try_from(text: String) -> Result<Version, UnknownVersion> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.name().into()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
