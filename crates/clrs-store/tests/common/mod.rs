//! Sets to write and read.

use std::path::{Path, PathBuf};

use clrs::sampling::Sampler;
use clrs::{AnyAlgorithm, Registry, SamplerOptions, Trajectories};
use clrs_store::{Header, OnExisting, Provenance, SetWriter};

/// Samples of each size in turn, without those sizes that the algorithm does not support.
pub(crate) fn samples(algorithm: &'static dyn AnyAlgorithm, sizes: &[usize], count: usize) -> Trajectories {
    let mut recorder = algorithm.recorder();
    for &size in sizes {
        if let Ok(mut sampler) = Sampler::new(algorithm, size, 7, &SamplerOptions::default()) {
            // A size that is too small is rejected when it is sampled or run, and records nothing.
            let _ = sampler.record(count, &mut recorder);
        }
    }
    assert!(!recorder.trajectories().is_empty(), "{} has samples of one of these sizes", algorithm.name());
    recorder.into_trajectories()
}

/// Header of a set `ALGORITHM_test`.
pub(crate) fn header(algorithm: &str, trajectories: &Trajectories) -> Header {
    Header {
        name: format!("{algorithm}_test"),
        algorithm: algorithm.into(),
        max_nodes: trajectories.iter().map(|sample| sample.nodes()).max().unwrap_or(1),
        provenance: Provenance {
            size: 16,
            samples: trajectories.len() as u64,
            seed: 7,
            options: vec![("p".into(), "0.5".into())],
            ..Provenance::default()
        },
        spec: trajectories.spec().clone(),
    }
}

/// Writes a set under its own name.
pub(crate) fn write(dir: &Path, header: &Header, trajectories: &Trajectories) -> PathBuf {
    let path = dir.join(header.file_name());
    let mut writer = SetWriter::create(&path, header, OnExisting::Replace).expect("created");
    writer.write(trajectories).expect("written");
    writer.finish().expect("finished");
    path
}

pub(crate) fn find(algorithm: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(algorithm).expect("a built-in algorithm")
}
