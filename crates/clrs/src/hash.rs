//! The content hash of a set, which covers its values and not the bytes of a file.
//!
//! The hash of a sample is BLAKE3 over its nodes and steps (u32 each) and the cells of every probe in spec order, little
//! endian in their column types. The hash of a set is BLAKE3 over the name, stage, location and kind of its probes and over
//! the hashes of its samples in order. It does not depend on record batches, threads, compression, or integer widths in a
//! file.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column::Cells;
use crate::spec::{Kind, Location, Probe, Spec, Stage};
use crate::trajectory::Trajectory;

/// A content hash. Displayed and serialized as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash(blake3::Hash);

impl ContentHash {
    /// Hash of a sample.
    pub fn of_sample(sample: &Trajectory<'_>) -> ContentHash {
        let mut hasher = BufferedHasher::default();
        for count in [sample.nodes(), sample.steps()] {
            hasher.update(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
        }
        for (_, cells) in sample.iter() {
            hasher.update(bytes(cells));
        }
        ContentHash(hasher.finish())
    }

    /// BLAKE3 hash of a text that is stored with the values: the header of a set.
    pub fn of_header(header: &[u8]) -> ContentHash {
        ContentHash(blake3::hash(header))
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

/// Computes the content hash of a set, sample by sample.
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    /// Creates the hasher of a set without samples.
    pub fn new(spec: &Spec) -> ContentHasher {
        let mut hasher = blake3::Hasher::new();
        for probe in spec.iter() {
            hasher.update(probe_line(probe).as_bytes());
        }
        ContentHasher(hasher)
    }

    /// Adds a sample.
    pub fn update(&mut self, sample: &Trajectory<'_>) {
        self.push(ContentHash::of_sample(sample));
    }

    /// Adds a sample by its hash, which may come from another thread.
    pub fn push(&mut self, sample: ContentHash) {
        self.0.update(sample.0.as_bytes());
    }

    /// Hash of all samples so far.
    pub fn finish(&self) -> ContentHash {
        ContentHash(self.0.finalize())
    }
}

/// The line of a probe in the hash of a set. Written out rather than derived: every pinned hash depends on these bytes.
fn probe_line(probe: &Probe) -> String {
    let stage = match probe.stage {
        Stage::Input => "Input",
        Stage::Output => "Output",
        Stage::Hint => "Hint",
    };
    let location = match probe.location {
        Location::Node => "Node",
        Location::Edge => "Edge",
        Location::Graph => "Graph",
    };
    let kind: Cow<'_, str> = match probe.kind {
        Kind::Scalar => "Scalar".into(),
        Kind::Mask => "Mask".into(),
        Kind::MaskOne => "MaskOne".into(),
        Kind::Categorical { classes } => format!("Categorical {{ classes: {classes} }}").into(),
        Kind::Pointer => "Pointer".into(),
        Kind::Permutation => "Permutation".into(),
        Kind::CyclicPermutation => "CyclicPermutation".into(),
    };
    format!("{} {stage} {location} {kind} {}\n", probe.name, probe.masked)
}

/// Buffers small updates: BLAKE3 is several times faster on many kilobytes at once.
#[derive(Default)]
struct BufferedHasher {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl BufferedHasher {
    /// Large enough for all SIMD lanes of BLAKE3.
    const CAPACITY: usize = 16 << 10;

    fn update(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > Self::CAPACITY {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
        if bytes.len() > Self::CAPACITY {
            self.hasher.update(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn finish(mut self) -> blake3::Hash {
        self.hasher.update(&self.buffer);
        self.hasher.finalize()
    }
}

fn bytes(cells: Cells<'_>) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "cells are hashed in memory order") };
    match cells {
        Cells::Scalar(cells) => bytemuck::cast_slice(cells),
        Cells::Node(cells) => bytemuck::cast_slice(cells),
        Cells::Class(cells) => bytemuck::cast_slice(cells),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    /// The bytes that published hashes were computed from. They never change.
    #[test]
    fn probe_lines_have_their_pinned_text() {
        let line = |algorithm: &str, probe: &str| {
            let spec = Registry::builtin().find(algorithm).expect("a built-in algorithm").spec();
            probe_line(spec.iter().find(|other| other.name == probe).expect("a probe of the algorithm"))
        };
        assert_eq!(line("bfs", "s"), "s Input Node MaskOne false\n");
        assert_eq!(line("bfs", "A"), "A Input Edge Scalar false\n");
        assert_eq!(line("bfs", "reach_h"), "reach_h Hint Node Mask false\n");
        assert_eq!(line("bfs", "pi"), "pi Output Node Pointer false\n");
        assert_eq!(line("insertion_sort", "pred"), "pred Output Node Permutation false\n");
        assert_eq!(line("dfs", "color"), "color Hint Node Categorical { classes: 3 } false\n");
        assert_eq!(line("dfs", "time"), "time Hint Graph Scalar false\n");
        assert_eq!(line("bridges", "is_bridge"), "is_bridge Output Edge Mask true\n");
        let pred = Registry::builtin().find("insertion_sort").expect("a built-in algorithm").spec();
        let pred = pred.iter().find(|probe| probe.name == "pred").expect("an output").clone();
        let cyclic = Probe { kind: Kind::CyclicPermutation, ..pred };
        assert_eq!(probe_line(&cyclic), "pred Output Node CyclicPermutation false\n");
    }
}
