//! Native sets round trip.

mod common;

use std::path::Path;

use clrs::{ContentHasher, Registry, Spec, Stage, Trajectories};
use clrs_store::{Header, OnExisting, SetReader, SetWriter, StoreErrorKind};
use common::{find, header, samples, write};

fn write_chunks(path: &Path, header: &Header, chunks: &[&Trajectories]) -> clrs_store::SetSummary {
    let mut writer = SetWriter::create(path, header, OnExisting::Fail).expect("created");
    for chunk in chunks {
        writer.write(chunk).expect("written");
    }
    writer.finish().expect("finished")
}

fn hash(trajectories: &Trajectories) -> clrs::ContentHash {
    let mut hasher = ContentHasher::new(trajectories.spec());
    for sample in trajectories.iter() {
        hasher.update(&sample);
    }
    hasher.finish()
}

#[test]
fn every_algorithm_round_trips() {
    let dir = tempfile::tempdir().expect("a directory");
    for algorithm in Registry::builtin().iter() {
        for (name, sizes) in [("small", &[1, 2, 3, 4, 5][..]), ("mixed", &[16, 5, 33])] {
            let trajectories = samples(algorithm, sizes, 5);
            let path = dir.path().join(format!("{}_{name}.arrow", algorithm.name()));
            let header = header(algorithm.name(), &trajectories);
            let summary = write_chunks(&path, &header, &[&trajectories]);
            assert_eq!(summary.bytes, path.metadata().expect("a file").len());
            assert_eq!(summary.hash, hash(&trajectories));

            let mut reader = SetReader::open(&path).expect("a set");
            assert_eq!((reader.header(), reader.samples(), reader.hash()), (&header, trajectories.len() as u64, summary.hash));
            assert_eq!(reader.read_all().expect("complete"), trajectories, "{} {name}", algorithm.name());
            reader.verify().expect("the stored hash");
        }
    }
}

#[test]
fn nodes_round_trip_at_every_width() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("insertion_sort"), &[256, 257, 3], 1);
    for max_nodes in [257, 65_536, 70_000] {
        let path = dir.path().join(max_nodes.to_string());
        let summary = write_chunks(&path, &Header { max_nodes, ..header("insertion_sort", &trajectories) }, &[&trajectories]);
        assert_eq!(summary.hash, hash(&trajectories), "it does not depend on the stored width");
        assert_eq!(SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect("complete"), trajectories);
    }
}

#[test]
fn chunks_and_threads_do_not_change_the_hash() {
    let dir = tempfile::tempdir().expect("a directory");
    let all = samples(find("bridges"), &[8, 16], 10);
    let mut chunks = [Trajectories::new(all.spec().clone()), Trajectories::new(all.spec().clone())];
    for (index, sample) in all.iter().enumerate() {
        let cells: Vec<_> = sample.iter().map(|(_, cells)| cells).collect();
        chunks[usize::from(index >= 3)].push(sample.nodes(), sample.steps(), &cells).expect("valid");
    }
    let header = header("bridges", &all);
    let complete = write_chunks(&dir.path().join("complete"), &header, &[&all]);
    let path = dir.path().join("chunks");
    let mut writer = SetWriter::create(&path, &header, OnExisting::Fail).expect("created");
    let encoder = writer.encoder();
    let encoded = std::thread::scope(|scope| {
        let threads = chunks.each_ref().map(|chunk| scope.spawn(|| encoder.encode(chunk).expect("encoded")));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    for encoded in encoded {
        writer.append(encoded).expect("written");
    }
    assert_eq!(writer.finish().expect("finished").hash, complete.hash);
    let mut reader = SetReader::open(&path).expect("a set");
    assert_eq!(reader.batches().count(), 2);
    assert_eq!(reader.read_all().expect("complete"), all);
}

#[test]
fn sets_may_have_fewer_probes_or_no_hints() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("bfs"), &[1, 9], 4);
    let without = |is_excluded: &dyn Fn(&clrs::Probe) -> bool| {
        let spec = Spec::new(trajectories.spec().iter().filter(|probe| !is_excluded(probe)).cloned().collect()).expect("a spec");
        trajectories.clone().with_spec(&spec)
    };
    let fewer = without(&|probe| probe.name == "pi_h");
    let no_hints = without(&|probe| probe.stage == Stage::Hint);
    let none_left = without(&|_| true);
    for (name, trajectories) in [("fewer", fewer), ("no_hints", no_hints), ("none", none_left)] {
        let path = dir.path().join(name);
        write_chunks(&path, &header("bfs", &trajectories), &[&trajectories]);
        assert_eq!(SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect(name), trajectories);
    }
}

#[test]
fn a_set_may_be_empty() {
    let dir = tempfile::tempdir().expect("a directory");
    let none = Trajectories::new(find("bfs").spec().into());
    for (name, chunks) in [("no_chunks", &[][..]), ("empty_chunk", &[&none])] {
        let path = dir.path().join(name);
        assert_eq!(write_chunks(&path, &header("bfs", &none), chunks).samples, 0);
        let mut reader = SetReader::open(&path).expect("a set");
        assert!(reader.read_all().expect("complete").is_empty());
        reader.verify().expect("the stored hash");
    }
}

#[test]
fn special_floats_round_trip_bit_for_bit() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut trajectories = samples(find("insertion_sort"), &[4], 1);
    let keys = [f64::NAN, -0.0, f64::NEG_INFINITY, 5e-324];
    let mut cells: Vec<_> = trajectories.get(0).iter().map(|(_, cells)| cells).collect();
    cells[1] = clrs::Cells::Scalar(&keys);
    let mut special = Trajectories::new(trajectories.spec().clone());
    special.push(4, trajectories.get(0).steps(), &cells).expect("valid");
    trajectories = special;
    let path = write(dir.path(), &header("insertion_sort", &trajectories), &trajectories);
    let read = SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect("complete");
    let Some(clrs::Cells::Scalar(read)) = read.get(0).get("key") else { panic!("keys") };
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), keys.map(f64::to_bits));
}

#[test]
fn files_are_replaced_only_if_asked_and_no_temporary_file_is_left() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("set.arrow");
    let trajectories = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &trajectories);
    let names = || {
        let names = dir.path().read_dir().expect("a dir").map(|entry| entry.expect("an entry").file_name());
        names.collect::<Vec<_>>()
    };

    drop(SetWriter::create(&path, &header, OnExisting::Fail).expect("created"));
    assert!(names().is_empty(), "an unfinished file is removed");

    let late = SetWriter::create(&path, &header, OnExisting::Fail).expect("created");
    let first = write_chunks(&path, &header, &[&trajectories]);
    assert!(matches!(late.finish().expect_err("another one was finished first").kind, StoreErrorKind::Exists));
    let error = SetWriter::create(&path, &header, OnExisting::Fail).err().expect("it exists");
    assert_eq!(error.to_string(), format!("{}: already exists", path.display()));
    assert_eq!(SetReader::open(&path).expect("unchanged").hash(), first.hash);

    let replaced = SetWriter::create(&path, &header, OnExisting::Replace).and_then(SetWriter::finish).expect("replaced");
    assert_eq!(SetReader::open(&path).expect("a set").hash(), replaced.hash);
    assert_eq!(names(), ["set.arrow"]);
    clrs_store::sync([path.as_path()]).expect("synced");
}

#[test]
fn samples_of_another_spec_or_size_are_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &trajectories);
    let mut writer = SetWriter::create(&dir.path().join("set"), &header, OnExisting::Fail).expect("created");
    let other = samples(find("insertion_sort"), &[5], 2);
    assert!(matches!(writer.write(&other).expect_err("other probes").kind, StoreErrorKind::SpecMismatch));
    let larger = samples(find("bfs"), &[6], 1);
    let error_kind = writer.write(&larger).expect_err("too large").kind;
    assert!(matches!(error_kind, StoreErrorKind::TooManyNodes { nodes: 6, max_nodes: 5 }));

    let nowhere = dir.path().join("no/such/directory/set");
    let error = SetWriter::create(&nowhere, &header, OnExisting::Fail).err().expect("no dir").to_string();
    assert!(error.ends_with("set: its directory does not exist"), "{error}");
}
