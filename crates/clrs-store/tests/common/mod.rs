//! Sets to write and read.

use clrs::sampling::Sampler;
use clrs::{AnyAlgorithm, Registry, SamplerOptions, Trajectories};
use clrs_store::{Header, Provenance};

/// Samples of each size in turn; sizes at which the algorithm has nothing to tell are left out.
pub(crate) fn samples(algorithm: &'static dyn AnyAlgorithm, sizes: &[usize], count: usize) -> Trajectories {
    let mut recorder = algorithm.recorder();
    for &size in sizes {
        if let Ok(mut sampler) = Sampler::new(algorithm, size, 7, &SamplerOptions::default()) {
            // A size that is too small is refused when it is drawn or run, and leaves no trace.
            let _ = sampler.record(count, &mut recorder);
        }
    }
    assert!(!recorder.trajectories().is_empty(), "{} has samples of one of these sizes", algorithm.name());
    recorder.into_trajectories()
}

pub(crate) fn header(algorithm: &str, runs: &Trajectories) -> Header {
    Header {
        name: format!("{algorithm}_test"),
        algorithm: algorithm.into(),
        max_nodes: runs.iter().map(|run| run.nodes()).max().unwrap_or(1),
        provenance: Provenance {
            size: 16,
            samples: runs.len() as u64,
            seed: 7,
            options: vec![("p".into(), "0.5".into())],
            shard: Some((0, 1)),
            ..Provenance::default()
        },
        spec: runs.spec().clone(),
    }
}

pub(crate) fn find(algorithm: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(algorithm).expect("a built-in algorithm")
}
