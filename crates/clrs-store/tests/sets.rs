//! Sets are what their names say, complete, and have the values they were written with.

mod common;

use std::path::{Path, PathBuf};

use clrs::{Registry, Trajectories};
use clrs_store::generate::{DatasetSpec, GenerateError, GenerateOptions, generate};
use clrs_store::verify::{VerifyError, verify};
use clrs_store::{Header, OnExisting, Set, SetReader, Shard, ShardError, StoreErrorKind, npz, parquet, safetensors, stats, tfds};
use common::{find, header, samples, write};

/// Changes one cell of a set, and leaves everything else as it was: record batches have no checksum.
fn change_a_value(path: &Path) {
    let data = std::fs::read(path).expect("read");
    let reader = SetReader::open(path).expect("a set");
    let (header, hash) = (reader.header().clone(), reader.hash().to_string());
    // The file of changed values, with the hash of the original ones.
    let mut trajectories = SetReader::open(path).and_then(|mut reader| reader.read_all()).expect("a set");
    let mut changed = Trajectories::new(trajectories.spec().clone());
    for (index, sample) in trajectories.iter().enumerate() {
        let mut cells: Vec<_> = sample.iter().map(|(_, cells)| cells).collect();
        let pointers: Vec<u32>;
        if index == 0 {
            let output = sample.spec().iter().position(|probe| probe.name == "pi").expect("a probe of bfs");
            let clrs::Cells::Node(nodes) = cells[output] else { panic!("pointers") };
            pointers = nodes.iter().rev().map(|node| (node + 1) % u32::try_from(sample.nodes()).expect("few")).collect();
            cells[output] = clrs::Cells::Node(&pointers);
        }
        changed.push(sample.nodes(), sample.steps(), &cells).expect("valid");
    }
    std::mem::swap(&mut trajectories, &mut changed);
    write(path.parent().expect("a directory"), &header, &trajectories);
    let changed_hash = SetReader::open(path).expect("a set").hash().to_string();
    let mut forged = std::fs::read(path).expect("read");
    let position = forged.windows(64).position(|window| window == changed_hash.as_bytes()).expect("a hash");
    forged[position..position + 64].copy_from_slice(hash.as_bytes());
    assert_ne!(forged, data);
    std::fs::write(path, forged).expect("written");
}

fn dataset(name: &str) -> DatasetSpec {
    DatasetSpec::new(name, find("bfs"), 8, 20, 1)
}

fn generate_one(dir: &Path, dataset: DatasetSpec, on_existing: OnExisting) -> Result<bool, GenerateError> {
    let options = GenerateOptions { on_existing, threads: 1 };
    generate(&[dataset], dir, options, &()).map(|sets| sets[0].cached)
}

#[test]
fn every_reader_detects_changed_values() {
    let dir = tempfile::tempdir().expect("a directory");
    generate_one(dir.path(), dataset("bfs_val"), OnExisting::Fail).expect("generated");
    let path = dir.path().join("bfs_val.arrow");
    change_a_value(&path);

    let is_mismatch = |kind: &StoreErrorKind| matches!(kind, StoreErrorKind::HashMismatch { .. });
    assert!(is_mismatch(&SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect_err("changed").kind));
    assert!(is_mismatch(&SetReader::open(&path).and_then(|mut reader| reader.verify()).expect_err("changed").kind));
    let open = || Set::open(dir.path(), "bfs", "val").expect("a set");
    assert!(is_mismatch(&open().read_all().expect_err("changed").kind));
    assert!(is_mismatch(&stats::of_set(&mut open()).expect_err("changed").kind));
    let out = dir.path().join("out");
    for export in [npz::export, safetensors::export, parquet::export] {
        assert!(is_mismatch(&export(&mut open(), &out, OnExisting::Fail, &()).expect_err("changed").kind));
        assert!(!out.exists());
    }
    assert!(is_mismatch(&tfds::export(&mut open(), &out, None, OnExisting::Fail, &()).expect_err("changed").kind));
    match verify(&path, &Registry::builtin()) {
        Err(VerifyError::Store(error)) => assert!(is_mismatch(&error.kind), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn generate_keeps_complete_sets_and_detects_changed_ones() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("bfs_val.arrow");
    let run = |on_existing| generate_one(dir.path(), dataset("bfs_val"), on_existing);
    assert!(!run(OnExisting::Fail).expect("generated"));
    let bytes = std::fs::read(&path).expect("read");
    assert!(run(OnExisting::Fail).expect("cached"));

    change_a_value(&path);
    let error = run(OnExisting::Fail).expect_err("changed");
    assert!(matches!(&error, GenerateError::Store(error) if matches!(error.kind, StoreErrorKind::HashMismatch { .. })));
    assert!(error.is_resolved_by_replacing() && !error.to_string().contains("--"), "{error}");
    assert!(!run(OnExisting::Replace).expect("generated again"));
    assert_eq!(std::fs::read(&path).expect("read"), bytes);

    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("truncated");
    assert!(run(OnExisting::Fail).expect_err("truncated").is_resolved_by_replacing());

    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a directory in the way");
    for on_existing in [OnExisting::Fail, OnExisting::Replace] {
        let error = run(on_existing).expect_err("a directory");
        assert_eq!(error.to_string(), format!("{}: is a directory", path.display()));
        assert!(!error.is_resolved_by_replacing());
    }
}

#[test]
fn a_stale_temporary_file_is_removed_when_the_set_is_generated_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let stale = dir.path().join(".bfs_val.arrow.Ab3dE6.partial");
    std::fs::write(&stale, b"ARROW1").expect("written");
    generate_one(dir.path(), dataset("bfs_val"), OnExisting::Fail).expect("generated");
    assert!(!stale.exists());
}

#[test]
fn a_renamed_set_is_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let registry = Registry::builtin();
    generate_one(dir.path(), dataset("bfs_val"), OnExisting::Fail).expect("generated");
    let copy = |to: &str| std::fs::copy(dir.path().join("bfs_val.arrow"), dir.path().join(to)).expect("copied");
    copy("bfs_test.arrow");
    copy("dfs_val.arrow");
    copy("bfs_train-00000-of-00001.arrow");

    let renamed = dir.path().join("bfs_test.arrow");
    let expected = format!("{}: contains the set `bfs_val`, not `bfs_test`", renamed.display());
    assert_eq!(verify(&renamed, &registry).expect_err("renamed").to_string(), expected);
    assert_eq!(Set::open(dir.path(), "bfs", "test").err().expect("renamed").to_string(), expected);
    assert_eq!(Set::open_all(std::slice::from_ref(&renamed)).err().expect("renamed").to_string(), expected);
    assert!(Set::open(&renamed, "bfs", "test").is_err());
    for (algorithm, split) in [("dfs", "val"), ("bfs", "train")] {
        let kind = Set::open(dir.path(), algorithm, split).err().expect("renamed").kind;
        assert!(matches!(kind, StoreErrorKind::NameMismatch { .. }), "{kind}");
    }
    let error = generate_one(dir.path(), DatasetSpec { name: "bfs_test".into(), ..dataset("bfs_val") }, OnExisting::Fail);
    assert!(matches!(error.expect_err("renamed"), GenerateError::Conflict { .. }));

    let mut other = header("dfs", &samples(find("bfs"), &[8], 3));
    other.name = "dfs_test".into();
    other.algorithm = "bfs".into();
    write(dir.path(), &other, &samples(find("bfs"), &[8], 3));
    let kind = Set::open(dir.path(), "dfs", "test").err().expect("of another algorithm").kind;
    assert!(matches!(kind, StoreErrorKind::AlgorithmMismatch { .. }), "{kind}");

    assert!(verify(&dir.path().join("bfs_val.arrow"), &registry).is_ok());
    assert!(Set::open(dir.path(), "bfs", "val").is_ok());
    let kind = Set::open(dir.path(), "heapsort", "val").err().expect("missing").kind;
    assert_eq!(kind.to_string(), "no set `heapsort_val`: neither heapsort_val.arrow nor its shards exist");
}

#[test]
fn generated_shards_are_one_set() {
    let (dir, complete) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let parallel = DatasetSpec { seeding: clrs::sampling::Seeding::Parallel, ..dataset("bfs_train") };
    generate_one(complete.path(), parallel.clone(), OnExisting::Fail).expect("generated");
    let expected = Set::open(complete.path(), "bfs", "train").and_then(|mut set| set.read_all()).expect("a set");
    let shards: Vec<DatasetSpec> = (0..3).map(|index| parallel.clone().with_shard(Shard { index, count: 3 })).collect();
    generate(&shards, dir.path(), GenerateOptions::default(), &()).expect("generated at once");

    let mut set = Set::open(dir.path(), "bfs", "train").expect("a set");
    assert_eq!((set.shards().len(), set.samples(), set.header().provenance.shard), (3, 20, None));
    assert_eq!(set.read_all().expect("complete"), expected);
    assert_eq!(set.extents().expect("complete").len(), 20);
    let any = dir.path().join("bfs_train-00001-of-00003.arrow");
    assert_eq!(Set::open(&any, "bfs", "train").and_then(|mut set| set.read_all()).expect("with its siblings"), expected);

    // A second set of shards, incomplete, does not go unnoticed.
    let other = parallel.clone().with_shard(Shard { index: 0, count: 2 });
    generate_one(dir.path(), other, OnExisting::Fail).expect("generated");
    let kind = Set::open(dir.path(), "bfs", "train").err().expect("two sets of shards").kind;
    assert!(matches!(kind, StoreErrorKind::Shards(ShardError::Foreign { .. })), "{kind}");
    std::fs::remove_file(dir.path().join("bfs_train-00000-of-00002.arrow")).expect("removed");

    std::fs::remove_file(&any).expect("removed");
    let kind = Set::open(dir.path(), "bfs", "train").err().expect("incomplete").kind;
    assert_eq!(kind.to_string(), "shard 1 of 3 is missing");
    let seed = DatasetSpec { seed: 2, ..parallel }.with_shard(Shard { index: 1, count: 3 });
    generate_one(dir.path(), seed, OnExisting::Fail).expect("generated");
    let kind = Set::open(dir.path(), "bfs", "train").err().expect("of another seed").kind;
    assert!(matches!(kind, StoreErrorKind::Shards(ShardError::Foreign { .. })), "{kind}");
}

#[test]
fn shards_need_independent_random_numbers() {
    let dir = tempfile::tempdir().expect("a directory");
    let stream = DatasetSpec { shard: Some(Shard { index: 1, count: 2 }), ..dataset("bfs_train") };
    let error = generate_one(dir.path(), stream, OnExisting::Fail).expect_err("one stream");
    assert!(matches!(error, GenerateError::ShardNeedsParallelSeeding { .. }));
    let outside = dataset("bfs_train").with_shard(Shard { index: 2, count: 2 });
    assert!(matches!(generate_one(dir.path(), outside, OnExisting::Fail), Err(GenerateError::InvalidShard { .. })));
    let twice = [dataset("bfs_train"), dataset("bfs_train")];
    let error = generate(&twice, dir.path(), GenerateOptions::default(), &()).expect_err("twice");
    assert_eq!(error.to_string(), "two sets have the name bfs_train");
}

#[test]
fn shards_of_a_set_are_grouped_and_checked() {
    let dir = tempfile::tempdir().expect("a directory");
    let all = samples(find("bfs"), &[5], 5);
    let write_shard = |index: u32, count: u32, samples: std::ops::Range<usize>| -> PathBuf {
        let mut header = header("bfs", &all);
        header.provenance.shard = Some(Shard { index, count });
        let mut shard = Trajectories::new(all.spec().clone());
        for sample in all.iter().skip(samples.start).take(samples.len()) {
            let cells: Vec<_> = sample.iter().map(|(_, cells)| cells).collect();
            shard.push(sample.nodes(), sample.steps(), &cells).expect("valid");
        }
        write(dir.path(), &header, &shard)
    };
    let shards = [write_shard(2, 3, 3..5), write_shard(0, 3, 0..1), write_shard(1, 3, 1..3)];
    let mut sets = Set::open_all(&shards).expect("a set");
    assert_eq!((sets.len(), sets[0].samples()), (1, 5));
    assert_eq!(sets[0].read_all().expect("complete"), all);

    let rejected = |paths: &[PathBuf]| match Set::open_all(paths).err().expect("incomplete").kind {
        StoreErrorKind::Shards(error) => error,
        other => panic!("{other}"),
    };
    assert_eq!(rejected(&shards[1..]), ShardError::Missing { index: 2, count: 3 });
    assert_eq!(rejected(&[shards[1].clone(), shards[0].clone()]), ShardError::Missing { index: 1, count: 3 });
    assert_eq!(rejected(&[shards[1].clone(), shards[1].clone()]), ShardError::Duplicate { index: 0, count: 3 });
    assert!(matches!(rejected(&[shards[1].clone(), write_shard(1, 2, 2..5)]), ShardError::Foreign { .. }));
    write_shard(1, 3, 1..5);
    assert_eq!(rejected(&shards), ShardError::Samples { index: 1, count: 3, expected: 2, found: 4 });
}

#[test]
fn headers_without_a_shard_keep_their_json() {
    let trajectories = samples(find("bfs"), &[4], 1);
    let mut header = header("bfs", &trajectories);
    header.provenance.shard = Some(Shard { index: 1, count: 4 });
    let json = serde_json::to_value(&header).expect("JSON");
    assert_eq!(json["provenance"]["shard"], serde_json::json!([1, 4]));
    assert_eq!(serde_json::from_value::<Header>(json).expect("a header"), header);
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_text_are_errors_or_work_and_reports_serialize() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().expect("a directory");
    let inner = dir.path().join(std::ffi::OsStr::from_bytes(b"sets\xff"));
    let sets = generate(&[dataset("bfs_val")], &inner, GenerateOptions::default(), &()).expect("generated");
    let json = serde_json::to_string(&sets).expect("a report serializes");
    assert!(json.contains("bfs_val.arrow") && json.contains("\"cached\":false"), "{json}");
    assert_eq!(Set::open(&inner, "bfs", "val").expect("a set").samples(), 20);
    let renamed = inner.join(std::ffi::OsStr::from_bytes(b"bfs_\xff.arrow"));
    std::fs::rename(&sets[0].path, &renamed).expect("renamed");
    let error = verify(&renamed, &Registry::builtin()).expect_err("renamed");
    assert!(matches!(error, VerifyError::Store(error) if matches!(error.kind, StoreErrorKind::NameMismatch { .. })));
}
