//! A draw and a run of every algorithm, at the benchmark's sizes: `cargo bench -p clrs`.

use clrs::sampling::{Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Registry};
use divan::Bencher;

fn main() {
    divan::main();
}

fn names() -> Vec<&'static str> {
    Registry::builtin().iter().map(AnyAlgorithm::name).collect()
}

#[divan::bench(args = names(), consts = [16, 64])]
fn sample<const SIZE: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let algorithm = Registry::builtin().find(name).expect("listed");
    let mut sampler = Sampler::new(algorithm, SIZE, 1, &SamplerOptions::default()).expect("the benchmark's own distribution");
    let mut recorder = algorithm.recorder();
    bencher.bench_local(move || {
        recorder.clear();
        sampler.record(1, &mut recorder).expect("admitted");
        recorder.trajectories().bytes()
    });
}
