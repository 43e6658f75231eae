//! The content hash of a set: over values, not over bytes of a file or lines of source.
//!
//! A sample's hash is BLAKE3 over its nodes and steps (u32 each) and the cells of every probe in the order of the spec, little
//! endian in their own types. The set's hash is BLAKE3 over what its probes are called and mean to a network, and the hashes
//! of its samples in order. So it does not depend on record batches, threads, compression, or how wide a file keeps a node.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column::Cells;
use crate::spec::Spec;
use crate::trajectory::Trajectory;

/// A content hash; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash(blake3::Hash);

impl ContentHash {
    /// The hash of one sample.
    pub fn of_sample(sample: &Trajectory<'_>) -> ContentHash {
        let mut hasher = Gathering::default();
        for count in [sample.nodes(), sample.steps()] {
            hasher.update(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
        }
        for (_, cells) in sample.iter() {
            hasher.update(bytes(cells));
        }
        ContentHash(hasher.finish())
    }
}

impl ContentHash {
    /// Of any bytes: what a set says about itself is hashed too.
    pub fn of_bytes(bytes: &[u8]) -> ContentHash {
        ContentHash(blake3::hash(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<ContentHash, &'static str> {
        blake3::Hash::from_hex(text).map(ContentHash).map_err(|_| "a content hash is 64 hexadecimal digits")
    }
}

/// Makes the content hash of a set, sample by sample.
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    /// No sample yet.
    pub fn new(spec: &Spec) -> ContentHasher {
        let mut hasher = blake3::Hasher::new();
        for probe in spec.iter() {
            let (stage, location, kind) = (probe.stage, probe.location, probe.kind);
            hasher.update(format!("{} {stage:?} {location:?} {kind:?} {}\n", probe.name, probe.masked).as_bytes());
        }
        ContentHasher(hasher)
    }

    /// One more sample.
    pub fn update(&mut self, sample: &Trajectory<'_>) {
        self.push(ContentHash::of_sample(sample));
    }

    /// One more sample, of which the hash was made before: on another thread, perhaps.
    pub fn push(&mut self, sample: ContentHash) {
        self.0.update(sample.0.as_bytes());
    }

    /// The hash of all samples so far.
    pub fn finish(&self) -> ContentHash {
        ContentHash(self.0.finalize())
    }
}

/// BLAKE3 is several times faster over many kilobytes at once than over many small pieces: these are put together first.
#[derive(Default)]
struct Gathering {
    hasher: blake3::Hasher,
    gathered: Vec<u8>,
}

impl Gathering {
    /// What BLAKE3 works on side by side.
    const ENOUGH: usize = 16 << 10;

    fn update(&mut self, bytes: &[u8]) {
        if self.gathered.len() + bytes.len() > Self::ENOUGH {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
        if bytes.len() > Self::ENOUGH {
            self.hasher.update(bytes);
        } else {
            self.gathered.extend_from_slice(bytes);
        }
    }

    fn finish(mut self) -> blake3::Hash {
        self.hasher.update(&self.gathered);
        self.hasher.finalize()
    }
}

fn bytes(cells: Cells<'_>) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "cells are hashed as they lie in memory") };
    match cells {
        Cells::Scalar(cells) => bytemuck::cast_slice(cells),
        Cells::Node(cells) => bytemuck::cast_slice(cells),
        Cells::Class(cells) => bytemuck::cast_slice(cells),
    }
}
