//! The benchmark's ninety sets are the reference's: every array of every set, by its digest.

use std::collections::BTreeMap;

use clrs::clrs30::{BenchmarkSet, Version};
use clrs::digest::Digests;
use clrs::sampling::{FixedSet, Sampler};
use clrs::{Settings, Stage};
use rayon::prelude::*;
use serde::Deserialize;

/// Recorded from the reference: `cargo xtask goldens clrs30`.
const RECORDED: &str = include_str!("../../../golden/clrs30.json");

#[derive(Deserialize)]
struct Recording {
    sets: Vec<RecordedSet>,
}

#[derive(Deserialize)]
struct RecordedSet {
    algorithm: String,
    split: String,
    count: usize,
    size: usize,
    seed: u32,
    digest: String,
    arrays: BTreeMap<String, String>,
}

#[test]
fn every_array_of_every_set_is_the_references() {
    let recording: Recording = serde_json::from_str(RECORDED).expect("recorded JSON");
    let sets = Version::V2_0_3.sets();
    assert_eq!(sets.len(), recording.sets.len(), "number of sets");
    sets.par_iter().zip(&recording.sets).for_each(|(set, recorded)| assert_same(set, recorded));
}

fn assert_same(set: &BenchmarkSet, recorded: &RecordedSet) {
    let name = set.name();
    assert_eq!(name, format!("{}_{}", recorded.algorithm, recorded.split), "the order of the sets");
    assert_eq!((set.samples, set.size, set.seed), (recorded.count, recorded.size, recorded.seed), "{name}");

    let sampler = Sampler::new(set.algorithm, set.size, set.seed, &Settings::default()).expect("the benchmark's size");
    let samples = FixedSet::new(sampler, set.samples).expect("the benchmark's samples");
    let digests = Digests::new(&samples.runs().iter().collect::<Vec<_>>()).expect("samples of one size");

    let mut arrays: BTreeMap<String, String> = digests
        .arrays
        .iter()
        .map(|(stage, probe, digest)| (format!("{}/{probe}", stage_name(*stage)), digest.to_string()))
        .collect();
    arrays.insert("lengths".into(), digests.lengths.to_string());
    assert!(arrays.keys().eq(recorded.arrays.keys()), "{name}: the probes");
    let mut exact = true;
    for (array, digest) in &arrays {
        if depends_on_libm(&recorded.algorithm, array) {
            exact = false;
        } else {
            assert_eq!(*digest, recorded.arrays[array], "{name}: {array}");
        }
    }
    if exact {
        assert_eq!(digests.total().to_string(), recorded.digest, "{name}: the digest of the set");
    }
}

/// Cosine, sine and arc tangent come from another library than the reference's: the last bit may differ.
fn depends_on_libm(algorithm: &str, array: &str) -> bool {
    matches!((algorithm, array), ("graham_scan" | "jarvis_march", "input/x" | "input/y" | "hint/atans"))
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Input => "input",
        Stage::Hint => "hint",
        Stage::Output => "output",
    }
}
