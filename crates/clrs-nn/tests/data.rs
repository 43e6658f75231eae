//! Sets of a directory as training data.

use std::path::Path;

use clrs::clrs30::{Split, Version};
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, Cells, Registry, SamplerOptions, Stage, Trajectories};
use clrs_nn::Recipe;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::error::DataError;
use clrs_nn::data::loader::{self, BatchLoader};
use clrs_nn::data::sets::SetCache;
use clrs_store::{Header, OnExisting, Provenance, SetWriter};

fn find(algorithm: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(algorithm).expect("a built-in algorithm")
}

fn samples(algorithm: &'static dyn AnyAlgorithm, count: usize) -> Trajectories {
    let sampler = Sampler::new(algorithm, 4, 7, &SamplerOptions::default()).expect("a sampler");
    FixedSet::new(sampler, count).expect("samples").into_trajectories()
}

fn write(directory: &Path, algorithm: &str, split: Split, samples: &Trajectories) {
    let name = format!("{algorithm}_{}", split.name());
    let provenance = Provenance { samples: samples.len() as u64, ..Provenance::default() };
    let header = Header { name, algorithm: algorithm.into(), max_nodes: 4, provenance, spec: samples.spec().clone() };
    let path = directory.join(format!("{}.arrow", header.name));
    let mut writer = SetWriter::create(&path, &header, OnExisting::Fail).expect("a new file");
    writer.write(samples).expect("written");
    writer.finish().expect("finished");
}

fn recipe(directory: &Path) -> Recipe {
    Recipe { data: DataSource::Directory(directory.into()), batch_size: 2, ..Recipe::default() }
}

#[test]
fn a_validation_set_of_another_version_gets_the_probes_of_the_training_set() {
    let directory = tempfile::tempdir().expect("a directory");
    let algorithm = find("insertion_sort");
    let of_version = |version: Version| samples(algorithm, 4).with_spec(&version.spec(algorithm));
    let (new, old) = (of_version(Version::V2_0_3), of_version(Version::V1_0_0));
    assert_ne!(new.spec(), old.spec());
    write(directory.path(), "insertion_sort", Split::Train, &new);
    write(directory.path(), "insertion_sort", Split::Val, &old);
    let validation = loader::validation_samples(&recipe(directory.path()), algorithm, 0, &SetCache::default()).expect("a set");
    assert_eq!(validation.spec(), new.spec());
}

#[test]
fn training_samples_without_steps_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let algorithm = find("bfs");
    let complete = samples(algorithm, 4);
    let mut without = Trajectories::new(complete.spec().clone());
    for sample in complete.iter() {
        let cells = sample.iter().map(|(probe, cells)| if probe.stage == Stage::Hint { cells.slice(0..0) } else { cells });
        let cells: Vec<Cells<'_>> = cells.collect();
        without.push(sample.nodes(), 0, &cells).expect("a trajectory of no steps");
    }
    write(directory.path(), "bfs", Split::Train, &without);
    let refused = BatchLoader::new(&recipe(directory.path()), algorithm, 0, &SetCache::default()).err();
    assert!(matches!(refused, Some(DataError::NoSteps { .. })), "{refused:?}");
}
