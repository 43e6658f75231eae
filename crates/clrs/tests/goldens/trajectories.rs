use clrs::sampling::Sampler;
use clrs::{Batch, Registry, SamplerOptions};
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
fn every_probe_of_every_algorithm_equals_that_of_dm_clrs() {
    let files = std::fs::read_dir(recorded::path("trajectories")).expect("the trajectories");
    let files = files.map(|file| file.expect("readable").path());
    let names: Vec<String> = files.map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 32, "algorithms of dm-clrs");
    for name in &names {
        let algorithm = Registry::builtin().find(name).expect("an algorithm of dm-clrs");
        let case: Case = recorded::read(&format!("trajectories/{name}.json"));
        let mut sampler = Sampler::new(algorithm, case.size, case.seed, &SamplerOptions::default()).expect("a valid size");
        let mut recorder = algorithm.recorder();
        sampler.record(case.count, &mut recorder).expect("valid problems");
        let batch = Batch::new(&recorder.trajectories().iter().collect::<Vec<_>>(), 0).expect("samples of one size");

        assert_same(batch.iter(), &case.batch.arrays, name);
        assert_eq!(batch.lengths, case.batch.lengths.expect("a complete batch").values(), "{name}: lengths");
        assert_eq!(sampler.random().word(), case.next_word, "{name}: random stream afterwards");
    }
}
