//! The native store gives back what it was given.

mod common;

use std::path::Path;

use clrs::{ContentHasher, Registry, Spec, Stage, Trajectories};
use clrs_store::{Header, OnExisting, SetReader, SetWriter, StoreErrorKind};
use common::{find, header, samples};

fn write(path: &Path, header: &Header, parts: &[&Trajectories]) -> clrs_store::SetSummary {
    let mut writer = SetWriter::create(path, header, OnExisting::Fail).expect("a new file");
    for part in parts {
        writer.write(part).expect("written");
    }
    writer.finish().expect("finished")
}

fn hash(runs: &Trajectories) -> clrs::ContentHash {
    let mut hasher = ContentHasher::new(runs.spec());
    for run in runs.iter() {
        hasher.update(&run);
    }
    hasher.finish()
}

#[test]
fn every_algorithm_comes_back_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    for algorithm in Registry::builtin().iter() {
        for (name, sizes) in [("small", &[1, 2, 3, 4, 5][..]), ("mixed", &[16, 5, 33])] {
            let runs = samples(algorithm, sizes, 5);
            let path = folder.path().join(format!("{}_{name}.arrow", algorithm.name()));
            let header = header(algorithm.name(), &runs);
            let summary = write(&path, &header, &[&runs]);
            assert_eq!(summary.bytes, path.metadata().expect("there").len());
            assert_eq!(summary.hash, hash(&runs));

            let mut reader = SetReader::open(&path).expect("a set");
            assert_eq!((reader.header(), reader.samples(), reader.hash()), (&header, runs.len() as u64, summary.hash));
            assert_eq!(reader.read_all().expect("whole"), runs, "{} {name}", algorithm.name());
            reader.verify().expect("the same values");
        }
    }
}

#[test]
fn nodes_come_back_however_wide_they_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = samples(find("insertion_sort"), &[256, 257, 3], 1);
    for max_nodes in [257, 65_536, 70_000] {
        let path = folder.path().join(max_nodes.to_string());
        let summary = write(&path, &Header { max_nodes, ..header("insertion_sort", &runs) }, &[&runs]);
        assert_eq!(summary.hash, hash(&runs), "it is over values, not over how they are kept");
        assert_eq!(SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect("whole"), runs);
    }
}

#[test]
fn neither_parts_nor_threads_change_the_hash() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = samples(find("bridges"), &[8, 16], 10);
    let mut parts = [Trajectories::new(all.spec().clone()), Trajectories::new(all.spec().clone())];
    for (place, run) in all.iter().enumerate() {
        let cells: Vec<_> = run.iter().map(|(_, cells)| cells).collect();
        parts[usize::from(place >= 3)].push(run.nodes(), run.steps(), &cells).expect("a run");
    }
    let header = header("bridges", &all);
    let whole = write(&folder.path().join("whole"), &header, &[&all]);
    let path = folder.path().join("parts");
    let mut writer = SetWriter::create(&path, &header, OnExisting::Fail).expect("a new file");
    let encoder = writer.encoder();
    let encoded = std::thread::scope(|scope| {
        let threads = parts.each_ref().map(|part| scope.spawn(|| encoder.encode(part).expect("encoded")));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    for encoded in encoded {
        writer.append(encoded).expect("written");
    }
    assert_eq!(writer.finish().expect("finished").hash, whole.hash);
    let mut reader = SetReader::open(&path).expect("a set");
    assert_eq!(reader.batches().count(), 2);
    assert_eq!(reader.read_all().expect("whole"), all);
}

#[test]
fn a_set_may_leave_probes_out_or_have_no_hints() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = samples(find("bfs"), &[1, 9], 4);
    let without = |leave_out: &dyn Fn(&clrs::Probe) -> bool| {
        let spec = Spec::new(runs.spec().iter().filter(|probe| !leave_out(probe)).cloned().collect()).expect("a spec");
        runs.clone().with_spec(&spec)
    };
    let one_less = without(&|probe| probe.name == "pi_h");
    let no_hints = without(&|probe| probe.stage == Stage::Hint);
    let nothing = without(&|_| true);
    for (name, runs) in [("one_less", one_less), ("no_hints", no_hints), ("nothing", nothing)] {
        let path = folder.path().join(name);
        write(&path, &header("bfs", &runs), &[&runs]);
        assert_eq!(SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect(name), runs);
    }
}

#[test]
fn a_set_of_no_samples_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let none = Trajectories::new(find("bfs").spec().into());
    for (name, parts) in [("no_parts", &[][..]), ("empty_part", &[&none])] {
        let path = folder.path().join(name);
        assert_eq!(write(&path, &header("bfs", &none), parts).samples, 0);
        let mut reader = SetReader::open(&path).expect("a set");
        assert!(reader.read_all().expect("whole").is_empty());
        reader.verify().expect("the same values");
    }
}

#[test]
fn values_that_compare_strangely_come_back_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runs = samples(find("insertion_sort"), &[4], 1);
    let keys = [f64::NAN, -0.0, f64::NEG_INFINITY, 5e-324];
    let mut cells: Vec<_> = runs.get(0).iter().map(|(_, cells)| cells).collect();
    cells[1] = clrs::Cells::Scalar(&keys);
    let mut strange = Trajectories::new(runs.spec().clone());
    strange.push(4, runs.get(0).steps(), &cells).expect("a run");
    runs = strange;
    let path = folder.path().join("strange");
    write(&path, &header("insertion_sort", &runs), &[&runs]);
    let read = SetReader::open(&path).and_then(|mut reader| reader.read_all()).expect("whole");
    let Some(clrs::Cells::Scalar(read)) = read.get(0).get("key") else { panic!("keys") };
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), keys.map(f64::to_bits));
}

#[test]
fn nothing_is_replaced_unless_asked_for_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("set.arrow");
    let runs = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &runs);
    let names = || {
        let names = folder.path().read_dir().expect("a folder").map(|entry| entry.expect("an entry").file_name());
        names.collect::<Vec<_>>()
    };

    drop(SetWriter::create(&path, &header, OnExisting::Fail).expect("a new file"));
    assert!(names().is_empty(), "an unfinished file goes away");

    let late = SetWriter::create(&path, &header, OnExisting::Fail).expect("a new file");
    let first = write(&path, &header, &[&runs]);
    assert!(matches!(late.finish().expect_err("one was faster").kind, StoreErrorKind::Exists));
    let error = SetWriter::create(&path, &header, OnExisting::Fail).err().expect("it exists");
    assert_eq!(error.to_string(), format!("{}: it exists already", path.display()));
    assert_eq!(SetReader::open(&path).expect("untouched").hash(), first.hash);

    let replaced = SetWriter::create(&path, &header, OnExisting::Replace).and_then(SetWriter::finish).expect("replaced");
    assert_eq!(SetReader::open(&path).expect("a set").hash(), replaced.hash);
    assert_eq!(names(), ["set.arrow"]);
    clrs_store::sync([path.as_path()]).expect("synced");
}

#[test]
fn what_does_not_belong_in_a_set_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &runs);
    let mut writer = SetWriter::create(&folder.path().join("set"), &header, OnExisting::Fail).expect("a new file");
    let foreign = samples(find("insertion_sort"), &[5], 2);
    assert!(matches!(writer.write(&foreign).expect_err("other probes").kind, StoreErrorKind::SpecMismatch));
    let larger = samples(find("bfs"), &[6], 1);
    let problem = writer.write(&larger).expect_err("too large").kind;
    assert!(matches!(problem, StoreErrorKind::TooManyNodes { nodes: 6, max_nodes: 5 }));

    let nowhere = folder.path().join("no/such/folder/set");
    let error = SetWriter::create(&nowhere, &header, OnExisting::Fail).err().expect("no folder").to_string();
    assert!(error.starts_with(&*nowhere.to_string_lossy()) && !error.contains('\n'), "{error}");
}
