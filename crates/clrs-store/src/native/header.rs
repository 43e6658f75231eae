use clrs::Spec;
use clrs::sampling::Seeding;
use serde::{Deserialize, Serialize};

/// What a set is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// What it is called: `bfs_train`.
    pub name: String,
    /// The algorithm whose runs it holds.
    pub algorithm: String,
    /// No sample has more nodes. It decides how wide nodes are kept.
    pub max_nodes: usize,
    /// Where it comes from.
    pub provenance: Provenance,
    /// The probes, one per column.
    pub spec: Spec,
}

/// Where a set comes from: enough to make it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that wrote it, with its version.
    pub program: String,
    /// The benchmark it is part of: `clrs30@2.0.3`.
    pub benchmark: Option<String>,
    /// The size that problems were drawn at.
    pub size: usize,
    /// How many samples the whole set has, all shards together.
    pub samples: u64,
    /// The seed.
    pub seed: u32,
    /// How samples got their random numbers.
    pub seeding: Seeding,
    /// Options of the distribution that were set, in order.
    pub options: Vec<(String, String)>,
    /// Which shard it is, counted from 0, and of how many.
    pub shard: Option<(u32, u32)>,
    /// What it was imported from.
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
            seeding: Seeding::Reference,
            options: Vec::new(),
            shard: None,
            source: None,
        }
    }
}

/// Whether a set may be called so: it becomes the name of files.
pub fn is_valid_set_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
    !name.is_empty() && name.len() <= 200 && name.chars().all(allowed) && !name.starts_with('.')
}
