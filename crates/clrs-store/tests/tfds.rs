//! TFDS directories round trip, up to float32, and errors name what is wrong.

mod common;

use std::path::{Path, PathBuf};

use clrs::{Cells, Registry, Spec, Trajectories};
use clrs_store::{Header, OnExisting, Set, SetReader, StoreErrorKind, tfds};
use common::{find, header, samples, write};

/// Writes a set as `ALGORITHM_val` and exports it. Returns the root of the dataset.
fn export(dir: &Path, algorithm: &str, trajectories: &Trajectories) -> PathBuf {
    let header = Header { name: format!("{algorithm}_val"), ..header(algorithm, trajectories) };
    write(dir, &header, trajectories);
    let mut set = Set::open(dir, algorithm, "val").expect("a set");
    let root = dir.join("root");
    let path = tfds::export(&mut set, &root, None, OnExisting::Replace, &()).expect("exported");
    assert_eq!(path, root.join(format!("clrs_dataset/{algorithm}_val/1.0.0")));
    root
}

fn import(dir: &Path, out: &Path) -> Vec<Trajectories> {
    let sets = tfds::import(dir, out, &Registry::builtin(), OnExisting::Replace, &()).expect("imported");
    let read = |set: &tfds::ImportedSet| SetReader::open(&set.path).and_then(|mut set| set.read_all());
    sets.iter().map(|set| read(set).expect("a set")).collect()
}

fn error_kind(dir: &Path, out: &Path) -> String {
    let error = tfds::import(dir, out, &Registry::builtin(), OnExisting::Replace, &()).expect_err("invalid");
    assert!(!error.to_string().contains('\n'), "one line: {error}");
    error.kind.to_string()
}

/// The same trajectories with scalars rounded to float32.
#[expect(clippy::cast_possible_truncation, reason = "as TFDS does")]
fn rounded(trajectories: &Trajectories) -> Trajectories {
    let mut all = Trajectories::new(trajectories.spec().clone());
    for sample in trajectories.iter() {
        let round = |cells: Cells<'_>| match cells {
            Cells::Scalar(cells) => cells.iter().map(|&x| f64::from(x as f32)).collect(),
            _ => Vec::new(),
        };
        let scalars: Vec<Vec<f64>> = sample.iter().map(|(_, cells)| round(cells)).collect();
        let cells = sample.iter().zip(&scalars).map(|((_, cells), rounded)| match cells {
            Cells::Scalar(_) => Cells::Scalar(rounded),
            other => other,
        });
        all.push(sample.nodes(), sample.steps(), &cells.collect::<Vec<_>>()).expect("valid");
    }
    all
}

#[test]
fn every_algorithm_round_trips_up_to_float32() {
    let dir = tempfile::tempdir().expect("a directory");
    for algorithm in Registry::builtin().iter() {
        let trajectories = samples(algorithm, &[9], 20);
        let root = export(dir.path(), algorithm.name(), &trajectories);
        let set = root.join(format!("clrs_dataset/{}_val", algorithm.name()));
        assert_eq!(import(&set, &dir.path().join("out")), [rounded(&trajectories)], "{}", algorithm.name());
    }
    let all = import(&dir.path().join("root"), &dir.path().join("all"));
    assert_eq!(all.len(), Registry::builtin().iter().len());
}

#[test]
fn hints_may_be_missing() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("bfs"), &[6], 4);
    let spec = trajectories.spec().iter().filter(|probe| probe.name != "reach_h").cloned().collect();
    let fewer = trajectories.with_spec(&Spec::new(spec).expect("a spec"));
    let root = export(dir.path(), "bfs", &fewer);
    assert_eq!(import(&root, &dir.path().join("out")), [rounded(&fewer)]);
}

#[test]
fn several_shards_are_read_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("insertion_sort"), &[6], 5);
    let root = export(dir.path(), "insertion_sort", &trajectories);
    let set = root.join("clrs_dataset/insertion_sort_val/1.0.0");
    let complete = set.join("clrs_dataset-val.tfrecord-00000-of-00001");
    let records = std::fs::read(&complete).expect("a file");
    let first = 16 + usize::try_from(u64::from_le_bytes(records[..8].try_into().expect("eight"))).expect("few");
    std::fs::remove_file(&complete).expect("removed");
    std::fs::write(set.join("clrs_dataset-val.tfrecord-00000-of-00002"), &records[..first]).expect("written");
    std::fs::write(set.join("clrs_dataset-val.tfrecord-00001-of-00002"), &records[first..]).expect("written");
    let info = std::fs::read_to_string(set.join("dataset_info.json")).expect("a file");
    std::fs::write(set.join("dataset_info.json"), info.replace("\"5\"", "\"1\",\n\"4\"")).expect("written");
    assert_eq!(import(&root, &dir.path().join("out")), [rounded(&trajectories)]);

    std::fs::write(set.join("clrs_dataset-val.tfrecord-00001-of-00002"), &records[2 * first..]).expect("written");
    assert_eq!(error_kind(&root, &dir.path().join("out")), "contains 3 samples instead of 4");
    std::fs::remove_file(set.join("clrs_dataset-val.tfrecord-00001-of-00002")).expect("removed");
    assert!(error_kind(&root, &dir.path().join("out")).contains("No such file"));
}

#[test]
fn invalid_directories_are_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    assert_eq!(error_kind(dir.path(), &out), "not a TFDS directory: no features.json here or below");

    let trajectories = samples(find("bfs"), &[4], 3);
    let root = export(dir.path(), "bfs", &trajectories);
    let set = root.join("clrs_dataset/bfs_val/1.0.0");
    let features = std::fs::read_to_string(set.join("features.json")).expect("a file");
    let with = |from: &str, to: &str| {
        assert!(features.contains(from), "{from}");
        std::fs::write(set.join("features.json"), features.replace(from, to)).expect("written");
        error_kind(&root, &out)
    };
    assert_eq!(with("input_pos", "input_place"), "the feature `input_pos` of bfs is missing");
    assert_eq!(with("hint_pi_h", "hint_pi"), "bfs has no probe for the feature `hint_pi`");
    let wide = with("\"4\"", "\"5\"");
    assert!(wide.ends_with("values instead of 5") || wide.ends_with("values instead of 25"), "{wide}");
    let none = with("\"4\"", "\"0\"");
    assert_eq!(none, "no feature has from 1 to 65536 nodes");
    let huge = with(&format!("\"{}\"", trajectories.max_steps()), &format!("\"{}\"", usize::MAX));
    assert!(huge.contains("record 0 is corrupt") || huge.contains("nodes"), "{huge}");

    std::fs::rename(root.join("clrs_dataset/bfs_val"), root.join("clrs_dataset/simplex_val")).expect("renamed");
    assert_eq!(error_kind(&root, &out), "unknown algorithm `simplex`");
}

#[test]
fn exports_need_a_split_and_one_size() {
    let dir = tempfile::tempdir().expect("a directory");
    let mixed = samples(find("bfs"), &[4, 5], 1);
    let header = Header { name: "mine".into(), ..header("bfs", &mixed) };
    let native = write(dir.path(), &header, &mixed);
    let mut set = Set::open_all(&[native]).expect("a set").remove(0);
    let root = dir.path().join("root");
    let mut rejected = |split| tfds::export(&mut set, &root, split, OnExisting::Fail, &()).expect_err("no").kind;
    assert!(matches!(rejected(None), StoreErrorKind::NoSplit(_)));
    assert!(matches!(rejected(Some("../x")), StoreErrorKind::NoSplit(_)));
    assert!(matches!(rejected(Some("test")), StoreErrorKind::Batch(_)));
    let left = std::fs::read_dir(root.join("clrs_dataset/bfs_test")).expect("a dir");
    assert_eq!(left.count(), 0, "an unfinished directory is removed");
}
