//! The benchmark's ninety sets equal those of dm-clrs: the digest of every array of every set.

use std::collections::BTreeMap;

use clrs::clrs30::{BenchmarkSet, Version};
use clrs::digest::Digests;
use clrs::sampling::{FixedSet, Sampler};
use clrs::{ContentHasher, Family, SamplerOptions};
use rayon::prelude::*;
use serde::Deserialize;

/// The digests of dm-clrs, recorded by `cargo xtask goldens clrs30`.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/clrs30.json");

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
fn every_array_of_every_set_equals_that_of_dm_clrs() {
    let text = std::fs::read_to_string(RECORDED).expect("the recording");
    let recording: Recording = serde_json::from_str(&text).expect("recorded JSON");
    let sets = Version::V2_0_3.sets();
    assert_eq!(sets.len(), recording.sets.len(), "number of sets");
    sets.par_iter().zip(&recording.sets).for_each(|(set, recorded)| assert_same(set, recorded));
}

fn assert_same(set: &BenchmarkSet, recorded: &RecordedSet) {
    let name = set.name();
    assert_eq!(name, format!("{}_{}", recorded.algorithm, recorded.split), "order of the sets");
    assert_eq!((set.samples, set.size, set.seed), (recorded.count, recorded.size, recorded.seed), "{name}");

    let sampler = Sampler::new(set.algorithm, set.size, set.seed, &SamplerOptions::default()).expect("a valid size");
    let samples = FixedSet::new(sampler, set.samples).expect("samples");
    let digests = Digests::new(&samples.samples()).expect("samples of one size");

    let mut arrays: BTreeMap<String, String> =
        digests.arrays.iter().map(|(probe, digest)| (probe.path(), digest.to_string())).collect();
    arrays.insert("lengths".into(), digests.lengths.to_string());
    assert!(arrays.keys().eq(recorded.arrays.keys()), "{name}: probes");
    let mut exact = true;
    for (array, digest) in &arrays {
        if depends_on_libm(&recorded.algorithm, array) {
            exact = false;
        } else {
            assert_eq!(*digest, recorded.arrays[array], "{name}: {array}");
        }
    }
    if exact {
        assert_eq!(digests.total().to_string(), recorded.digest, "{name}: digest of the set");
    }
}

/// Sine, cosine and arc tangent may differ from dm-clrs in the last bit, because they come from another library.
fn depends_on_libm(algorithm: &str, array: &str) -> bool {
    matches!((algorithm, array), ("graham_scan" | "jarvis_march", "input/x" | "input/y" | "hint/atans"))
}

/// Copies of the benchmark are verified against the pinned hashes, which `cargo xtask hashes` generates.
#[test]
fn every_set_of_every_version_has_its_pinned_hash() {
    for version in Version::ALL {
        let sets = version.sets();
        assert_eq!(sets.len(), 90);
        sets.par_iter().for_each(|set| {
            let sampler = Sampler::new(set.algorithm, set.size, set.seed, &set.sampler_options).expect("a valid size");
            let samples = FixedSet::new(sampler, set.samples).expect("samples");
            let trajectories = samples.into_trajectories().with_spec(&set.spec);
            let mut hasher = ContentHasher::new(&set.spec);
            trajectories.iter().for_each(|sample| hasher.update(&sample));
            assert_eq!(Some(hasher.finish()), set.pinned_hash(version), "{} of {version}", set.name());
        });
    }
}

#[test]
fn versions_1_0_0_and_2_0_3_differ_only_in_strings_quickselect_and_sorts() {
    for (new, old) in Version::V2_0_3.sets().iter().zip(&Version::V1_0_0.sets()) {
        let differs = new.pinned_hash(Version::V2_0_3) != old.pinned_hash(Version::V1_0_0);
        let name = new.algorithm.name();
        let expected =
            new.algorithm.family() == Family::Strings || new.algorithm.family() == Family::Sorting || name == "quickselect";
        assert_eq!(differs, expected, "{}", new.name());
    }
    let nodes = |version: Version| version.sets().into_iter().find(|set| set.name() == "kmp_matcher_test").map(|set| set.size);
    assert_eq!((nodes(Version::V2_0_3), nodes(Version::V1_0_0)), (Some(64), Some(80)));
}

#[test]
fn unsorted_data_differ_from_version_1_0_0_only_in_binary_search() {
    for (released, unsorted) in Version::V1_0_0.sets().iter().zip(&Version::V1_0_0Unsorted.sets()) {
        let differs = released.pinned_hash(Version::V1_0_0) != unsorted.pinned_hash(Version::V1_0_0Unsorted);
        assert_eq!(differs, unsorted.algorithm.name() == "binary_search", "{}", unsorted.name());
    }
}
