//! The benchmark's ninety sets are the reference's: every array of every set, by its digest.

use std::collections::BTreeMap;

use clrs::clrs30::{BenchmarkSet, Version};
use clrs::digest::Digests;
use clrs::sampling::{FixedSet, Sampler};
use clrs::{ContentHasher, Family, SamplerOptions};
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

    let sampler = Sampler::new(set.algorithm, set.size, set.seed, &SamplerOptions::default()).expect("the benchmark's size");
    let samples = FixedSet::new(sampler, set.samples).expect("the benchmark's samples");
    let digests = Digests::new(&samples.trajectories().iter().collect::<Vec<_>>()).expect("samples of one size");

    let mut arrays: BTreeMap<String, String> =
        digests.arrays.iter().map(|(probe, digest)| (probe.path(), digest.to_string())).collect();
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

/// What is pinned is what anybody's copy is verified against; `cargo xtask hashes` writes it.
#[test]
fn every_set_of_every_version_has_its_pinned_hash() {
    for version in Version::ALL {
        let sets = version.sets();
        assert_eq!(sets.len(), 90);
        sets.par_iter().for_each(|set| {
            let sampler =
                Sampler::new(set.algorithm, set.size, set.seed, &SamplerOptions::default()).expect("the benchmark's size");
            let samples = FixedSet::new(sampler, set.samples).expect("the benchmark's samples");
            let runs = samples.trajectories().clone().with_spec(&set.spec);
            let mut hasher = ContentHasher::new(&set.spec);
            runs.iter().for_each(|run| hasher.update(&run));
            assert_eq!(Some(hasher.finish()), set.pinned_hash(version), "{} of {version}", set.name());
        });
    }
}

#[test]
fn versions_differ_in_the_strings_in_quickselect_and_in_the_sorts_and_nowhere_else() {
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
