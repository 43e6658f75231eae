//! TFDS folders come back as the sets they were made of, up to float32; what is wrong with one is said.

mod common;

use std::path::{Path, PathBuf};

use clrs::{Cells, Registry, Spec, Trajectories};
use clrs_store::{Existing, Problem, Set, SetReader, SetWriter, tfds};
use common::{find, header, samples};

/// Writes a set as `ALGORITHM_val` and exports it; gives the root of the dataset.
fn export(folder: &Path, algorithm: &str, runs: &Trajectories) -> PathBuf {
    let native = folder.join(format!("{algorithm}.arrow"));
    let mut header = header(algorithm, runs);
    header.name = format!("{algorithm}_val");
    let mut writer = SetWriter::create(&native, &header, Existing::Replace).expect("a new file");
    writer.write(runs).expect("written");
    writer.finish().expect("finished");
    let mut set = Set::open(&[native]).expect("a set").remove(0);
    let root = folder.join("root");
    let path = tfds::export(&mut set, &root, None, Existing::Replace).expect("exported");
    assert_eq!(path, root.join(format!("clrs_dataset/{algorithm}_val/1.0.0")));
    root
}

fn import(folder: &Path, out: &Path) -> Vec<Trajectories> {
    let sets = tfds::import(folder, out, &Registry::builtin(), Existing::Replace).expect("imported");
    let read = |(path, _): &(PathBuf, _)| SetReader::open(path).and_then(|mut set| set.verify().and_then(|()| set.read_all()));
    sets.iter().map(|set| read(set).expect("a set")).collect()
}

fn problem(folder: &Path, out: &Path) -> String {
    let error = tfds::import(folder, out, &Registry::builtin(), Existing::Replace).expect_err("there is something wrong");
    assert!(!error.to_string().contains('\n'), "one line: {error}");
    error.problem.to_string()
}

/// The same runs with real numbers as float32 has them.
#[expect(clippy::cast_possible_truncation, reason = "on purpose")]
fn rounded(runs: &Trajectories) -> Trajectories {
    let mut all = Trajectories::new(runs.spec().clone());
    for run in runs.iter() {
        let round = |cells: Cells<'_>| match cells {
            Cells::Scalar(cells) => cells.iter().map(|&x| f64::from(x as f32)).collect(),
            _ => Vec::new(),
        };
        let scalars: Vec<Vec<f64>> = run.iter().map(|(_, cells)| round(cells)).collect();
        let cells = run.iter().zip(&scalars).map(|((_, cells), rounded)| match cells {
            Cells::Scalar(_) => Cells::Scalar(rounded),
            other => other,
        });
        all.push(run.nodes(), run.steps(), &cells.collect::<Vec<_>>()).expect("a run");
    }
    all
}

#[test]
fn every_algorithm_comes_back_up_to_float32() {
    let folder = tempfile::tempdir().expect("a folder");
    for algorithm in Registry::builtin().iter() {
        let runs = samples(algorithm, &[9], 20);
        let root = export(folder.path(), algorithm.name(), &runs);
        let set = root.join(format!("clrs_dataset/{}_val", algorithm.name()));
        assert_eq!(import(&set, &folder.path().join("out")), [rounded(&runs)], "{}", algorithm.name());
    }
    let all = import(&folder.path().join("root"), &folder.path().join("all"));
    assert_eq!(all.len(), Registry::builtin().iter().len());
}

#[test]
fn a_version_without_a_hint_is_one_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = samples(find("bfs"), &[6], 4);
    let spec = runs.spec().iter().filter(|probe| probe.name != "reach_h").cloned().collect();
    let fewer = runs.with_spec(&Spec::new(spec).expect("a spec"));
    let root = export(folder.path(), "bfs", &fewer);
    assert_eq!(import(&root, &folder.path().join("out")), [rounded(&fewer)]);
}

#[test]
fn several_shards_are_read_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = samples(find("insertion_sort"), &[6], 5);
    let root = export(folder.path(), "insertion_sort", &runs);
    let set = root.join("clrs_dataset/insertion_sort_val/1.0.0");
    let whole = set.join("clrs_dataset-val.tfrecord-00000-of-00001");
    let records = std::fs::read(&whole).expect("there");
    let first = 16 + usize::try_from(u64::from_le_bytes(records[..8].try_into().expect("eight"))).expect("few");
    std::fs::remove_file(&whole).expect("removed");
    std::fs::write(set.join("clrs_dataset-val.tfrecord-00000-of-00002"), &records[..first]).expect("written");
    std::fs::write(set.join("clrs_dataset-val.tfrecord-00001-of-00002"), &records[first..]).expect("written");
    let info = std::fs::read_to_string(set.join("dataset_info.json")).expect("there");
    std::fs::write(set.join("dataset_info.json"), info.replace("\"5\"", "\"1\",\n\"4\"")).expect("written");
    assert_eq!(import(&root, &folder.path().join("out")), [rounded(&runs)]);

    std::fs::write(set.join("clrs_dataset-val.tfrecord-00001-of-00002"), &records[2 * first..]).expect("written");
    assert_eq!(problem(&root, &folder.path().join("out")), "it holds 3 samples, and says 4");
    std::fs::remove_file(set.join("clrs_dataset-val.tfrecord-00001-of-00002")).expect("removed");
    assert!(problem(&root, &folder.path().join("out")).contains("No such file"));
}

#[test]
fn what_is_wrong_with_a_folder_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    assert_eq!(problem(folder.path(), &out), "there is no features.json in it or below");

    let runs = samples(find("bfs"), &[4], 3);
    let root = export(folder.path(), "bfs", &runs);
    let set = root.join("clrs_dataset/bfs_val/1.0.0");
    let features = std::fs::read_to_string(set.join("features.json")).expect("there");
    let with = |from: &str, to: &str| {
        assert!(features.contains(from), "{from}");
        std::fs::write(set.join("features.json"), features.replace(from, to)).expect("written");
        problem(&root, &out)
    };
    assert_eq!(with("input_pos", "input_place"), "bfs has `input_pos`, and there is none");
    assert_eq!(with("hint_pi_h", "hint_pi"), "bfs has no probe for the feature `hint_pi`");
    let wide = with("\"4\"", "\"5\"");
    assert!(wide.ends_with("numbers, not 5") || wide.ends_with("numbers, not 25"), "{wide}");
    let none = with("\"4\"", "\"0\"");
    assert_eq!(none, "no feature says how many nodes there are, from 1 to 65536");
    let huge = with(&format!("\"{}\"", runs.max_steps()), &format!("\"{}\"", usize::MAX));
    assert!(huge.contains("record 0 is damaged") || huge.contains("nodes"), "{huge}");

    std::fs::rename(root.join("clrs_dataset/bfs_val"), root.join("clrs_dataset/simplex_val")).expect("renamed");
    assert_eq!(problem(&root, &out), "unknown algorithm `simplex`");
}

#[test]
fn a_set_needs_a_split_and_one_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let mixed = samples(find("bfs"), &[4, 5], 1);
    let native = folder.path().join("bfs.arrow");
    let mut header = header("bfs", &mixed);
    header.name = "mine".into();
    let mut writer = SetWriter::create(&native, &header, Existing::Keep).expect("a new file");
    writer.write(&mixed).expect("written");
    writer.finish().expect("finished");
    let mut set = Set::open(&[native]).expect("a set").remove(0);
    let root = folder.path().join("root");
    let mut refused = |split| tfds::export(&mut set, &root, split, Existing::Keep).expect_err("no").problem;
    assert!(matches!(refused(None), Problem::Split(_)));
    assert!(matches!(refused(Some("../x")), Problem::Split(_)));
    assert!(matches!(refused(Some("test")), Problem::Batch(_)));
    let left = std::fs::read_dir(root.join("clrs_dataset/bfs_test")).expect("a folder");
    assert_eq!(left.count(), 0, "an unfinished folder goes away");
}
