//! Writes the corpus of `tests/hostile.rs` and of the fuzzers: `cargo run -p clrs-store --example write_corpus`. Run it when
//! the format changes.

use std::path::Path;

use clrs::sampling::Sampler;
use clrs::{Registry, SamplerOptions};
use clrs_store::{Header, OnExisting, Provenance, Set, SetWriter, tfds};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let native = corpus.join("native");
    let scratch = tempfile::tempdir()?;
    let complete = set(scratch.path(), "bfs", "test", &[2, 3], 1)?;
    std::fs::write(native.join("complete"), &complete)?;
    std::fs::write(native.join("truncated"), &complete[..complete.len() / 2])?;
    // The version of the format is stored as its length, its bytes and a zero.
    let (from, to) = (b"\x01\0\0\x001\0\0\0", b"\x01\0\0\x002\0\0\0");
    let mut other_format = complete;
    while let Some(position) = other_format.windows(from.len()).position(|window| window == from) {
        other_format[position..position + to.len()].copy_from_slice(to);
    }
    std::fs::write(native.join("other_format"), other_format)?;
    std::fs::write(native.join("insertion_sort"), set(scratch.path(), "insertion_sort", "test", &[4], 2)?)?;

    std::fs::write(native.join("bfs"), set(scratch.path(), "bfs", "val", &[4], 2)?)?;
    let mut set = Set::open(scratch.path(), "bfs", "val")?;
    let exported = tfds::export(&mut set, &scratch.path().join("root"), None, OnExisting::Fail, &())?;
    let directory = corpus.join("tfds");
    std::fs::copy(exported.join("features.json"), directory.join("features.json"))?;
    let records = std::fs::read(exported.join("clrs_dataset-val.tfrecord-00000-of-00001"))?;
    let length = usize::try_from(u64::from_le_bytes(records[..8].try_into()?))?;
    std::fs::write(directory.join("records"), &records)?;
    std::fs::write(directory.join("record"), &records[12..12 + length])?;
    Ok(())
}

/// The bytes of a set of samples of each size.
fn set(dir: &Path, algorithm: &str, split: &str, sizes: &[usize], count: usize) -> Result<Vec<u8>> {
    let algorithm = Registry::builtin().find(algorithm)?;
    let mut recorder = algorithm.recorder();
    for &size in sizes {
        Sampler::new(algorithm, size, 7, &SamplerOptions::default())?.record(count, &mut recorder)?;
    }
    let trajectories = recorder.into_trajectories();
    let header = Header {
        name: format!("{}_{split}", algorithm.name()),
        algorithm: algorithm.name().into(),
        max_nodes: sizes.iter().copied().max().unwrap_or(1),
        provenance: Provenance { samples: trajectories.len() as u64, seed: 7, ..Provenance::default() },
        spec: trajectories.spec().clone(),
    };
    let path = dir.join(header.file_name());
    let mut writer = SetWriter::create(&path, &header, OnExisting::Replace)?;
    writer.write(&trajectories)?;
    writer.finish()?;
    Ok(std::fs::read(path)?)
}
