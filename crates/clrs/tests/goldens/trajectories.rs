use clrs::sampling::Sampler;
use clrs::{Batch, Registry, Settings};
use serde::Deserialize;

use crate::recorded::{self, RecordedBatch, assert_same};

#[derive(Deserialize)]
struct Case {
    size: usize,
    count: usize,
    seed: u32,
    #[serde(flatten)]
    batch: RecordedBatch,
    next_word: u32,
}

#[test]
fn all_algorithms_of_the_reference_are_listed_and_no_other() {
    let mut recorded: Vec<String> = std::fs::read_dir(recorded::path("trajectories"))
        .expect("the folder of trajectories")
        .map(|file| file.expect("readable").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    recorded.sort();
    let mut listed: Vec<String> = Registry::builtin().iter().map(|algorithm| algorithm.name().to_owned()).collect();
    listed.sort();
    assert_eq!(listed, recorded);
}

#[test]
fn every_probe_of_every_algorithm_is_what_the_reference_tells() {
    for algorithm in Registry::builtin().iter() {
        let name = algorithm.name();
        let case: Case = recorded::read(&format!("trajectories/{name}.json"));
        let mut sampler = Sampler::new(algorithm, case.size, case.seed, &Settings::default()).expect("a size that it takes");
        let mut recorder = algorithm.recorder();
        sampler.record(case.count, &mut recorder).expect("problems that it admits");
        let batch = Batch::new(&recorder.runs().iter().collect::<Vec<_>>(), 0).expect("samples of one size");

        assert_same(batch.iter(), &case.batch.arrays, name);
        assert_eq!(batch.lengths, case.batch.lengths.expect("a whole batch").values(), "{name}: lengths");
        assert_eq!(sampler.random().word(), case.next_word, "{name}: the stream afterwards");
    }
}
