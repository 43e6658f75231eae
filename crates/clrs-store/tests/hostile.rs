//! Files from anywhere: an error or the values that were written, never a panic, never much memory.

mod bodies;
mod common;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use clrs::{ContentHash, RandomState, Trajectories};
use clrs_store::{Header, OnExisting, Set, SetReader, SetWriter, StoreErrorKind, tfds};
use common::{find, header, samples};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// More than any file of these tests needs.
const MUCH: usize = 128 << 20;

fn bytes(header: &Header, runs: &Trajectories) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("set");
    let mut writer = SetWriter::create(&path, header, OnExisting::Fail).expect("a new file");
    writer.write(runs).expect("written");
    writer.finish().expect("finished");
    std::fs::read(&path).expect("read")
}

fn problem(data: &[u8]) -> StoreErrorKind {
    let reader = SetReader::new(Cursor::new(data), Path::new("bytes"));
    match reader.and_then(|mut reader| reader.read_all().and_then(|_| reader.verify())) {
        Ok(()) => panic!("there is nothing wrong"),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "one line: {error}");
            error.kind
        }
    }
}

/// Puts other bytes where some are; they must be there once at least.
fn replaced(data: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut data = data.to_vec();
    let places: Vec<usize> = (0..=data.len() - from.len()).filter(|&place| data[place..].starts_with(from)).collect();
    assert!(!places.is_empty(), "there is something to replace");
    for place in places {
        data[place..place + to.len()].copy_from_slice(to);
    }
    data
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    let runs = samples(find("bridges"), &[6, 4], 2);
    let whole = bytes(&header("bridges", &runs), &runs);
    assert_eq!(bodies::native_set(&whole).as_ref(), Some(&runs));
    for end in 0..whole.len() {
        assert_eq!(bodies::native_set(&whole[..end]), None, "cut off at {end}");
    }
    assert_eq!(bodies::native_set(&whole[1..]), None);
}

#[test]
fn a_changed_file_is_an_error_or_has_the_same_values() {
    let random = &mut RandomState::new(1);
    for (algorithm, sizes) in [("bridges", &[6, 4][..]), ("insertion_sort", &[300]), ("bfs", &[1, 20])] {
        let runs = samples(find(algorithm), sizes, 2);
        let whole = bytes(&header(algorithm, &runs), &runs);
        let before = MEMORY.current_usage();
        for _ in 0..4000 {
            let mut changed = whole.clone();
            for _ in 0..=random.choice(3) {
                // The ends of the file say what the rest means: half of the changes go there.
                let from_end = if random.choice(2) == 0 { changed.len() } else { changed.len().min(2000) };
                let place = changed.len() - 1 - random.choice(from_end);
                let value = random.word().to_le_bytes()[0];
                changed[place] = [value, 0, 0xff, 0x7f, 0x80, changed[place] ^ (1 << (value % 8))][random.choice(6)];
            }
            if let Some(read) = bodies::native_set(&changed) {
                assert_eq!(read.columns(), runs.columns());
            }
        }
        assert!(MEMORY.peak_usage() < before + MUCH, "{} bytes at the peak", MEMORY.peak_usage());
    }
}

#[test]
fn changed_records_are_errors_or_samples() {
    let record = std::fs::read(corpus().join("tfds/record")).expect("a file");
    assert_eq!(bodies::tfds_files(&record).map(|runs| runs.len()), Some(1));
    for end in 0..record.len() {
        // Fields at the end can be missing only if they are no features: a record without one is refused.
        assert_eq!(bodies::tfds_files(&record[..end]), None, "cut off at {end}");
    }
    let random = &mut RandomState::new(2);
    let before = MEMORY.current_usage();
    for seed in [record, bodies::FEATURES.as_bytes().to_vec(), std::fs::read(corpus().join("tfds/records")).expect("a file")] {
        for _ in 0..4000 {
            let mut changed = seed.clone();
            for _ in 0..=random.choice(3) {
                let (place, value) = (random.choice(changed.len()), random.word().to_le_bytes()[0]);
                changed[place] = [value, 0, 0xff, 0x7f, b'9', changed[place] ^ (1 << (value % 8))][random.choice(6)];
            }
            bodies::tfds_files(&changed);
        }
    }
    assert!(MEMORY.peak_usage() < before + MUCH, "{} bytes at the peak", MEMORY.peak_usage());
}

#[test]
fn kept_files_are_no_trouble() {
    for (folder, body) in [("native", bodies::native_set as fn(&[u8]) -> Option<Trajectories>), ("tfds", bodies::tfds_files)] {
        for entry in corpus().join(folder).read_dir().expect("a folder") {
            let data = std::fs::read(entry.expect("an entry").path()).expect("a file");
            body(&data);
        }
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

#[test]
fn a_file_that_claims_much_gets_little() {
    let runs = samples(find("bfs"), &[5], 1);
    let whole = bytes(&Header { max_nodes: 65_536, ..header("bfs", &runs) }, &runs);
    // One sample's counts are too short to be compressed: -1, then the count itself.
    let count = |count: u32| [&(-1i64).to_le_bytes()[..], &count.to_le_bytes()].concat();
    let steps = u32::try_from(runs.get(0).steps()).expect("few");
    let before = MEMORY.current_usage();
    let many_nodes = replaced(&whole, &count(5), &count(60_000));
    assert!(problem(&many_nodes).to_string().ends_with("it takes more than 1073741824 bytes of memory"));
    let many_steps = replaced(&whole, &count(steps), &count(u32::MAX));
    assert!(problem(&many_steps).to_string().ends_with("it takes more than 1073741824 bytes of memory"));
    let more_nodes = replaced(&whole, &count(5), &count(5_000));
    assert!(problem(&more_nodes).to_string().contains("is damaged"));
    assert!(MEMORY.peak_usage() < before + MUCH, "{} bytes at the peak", MEMORY.peak_usage());
}

#[test]
fn what_is_no_set_is_said_to_be_none() {
    assert!(matches!(problem(b""), StoreErrorKind::NotASet(_)));
    assert!(matches!(problem(b"a,b\n1,2\n"), StoreErrorKind::NotASet(_)));
    assert!(matches!(problem(&[0; 4096]), StoreErrorKind::NotASet(_)));

    let schema = Schema::new(vec![Field::new("a", DataType::Int32, false)]);
    let mut foreign = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).expect("a writer");
    let batch = RecordBatch::try_new(schema.into(), vec![std::sync::Arc::new(Int32Array::from(vec![1, 2]))]).expect("a batch");
    foreign.write(&batch).expect("written");
    let foreign = foreign.into_inner().expect("finished");
    assert_eq!(problem(&foreign).to_string(), "this is no set of trajectories: an Arrow file without `clrs.format`");
}

#[test]
fn other_formats_specs_and_hashes_are_refused() {
    let runs = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &runs);
    let whole = bytes(&header, &runs);

    // A string is kept as its length, its bytes and a zero.
    let newer = replaced(&whole, b"\x01\0\0\x001\0\0\0", b"\x01\0\0\x002\0\0\0");
    let message = problem(&newer).to_string();
    assert!(message.starts_with("the file has format 2; clrs-store "), "{message}");
    assert!(message.contains("reads format 1"), "{message}");

    let careless = replaced(&whole, b"\"seed\":7", b"\"seed\":8");
    assert!(problem(&careless).to_string().ends_with("its header is not what was written"));

    // Whoever forges a header can forge its hash too.
    let text = serde_json::to_string(&header).expect("a header");
    let forged = |from: &str, to: &str| {
        let hash = |text: &str| ContentHash::of_bytes(text.as_bytes()).to_string().into_bytes();
        replaced(&replaced(&whole, from.as_bytes(), to.as_bytes()), &hash(&text), &hash(&text.replace(from, to)))
    };
    let renamed = forged("\"name\":\"reach_h\"", "\"name\":\"reach_g\"");
    assert!(problem(&renamed).to_string().ends_with("its columns are not those of its spec"));
    let elsewhere = forged("\"name\":\"bfs", "\"name\":\"../");
    assert!(problem(&elsewhere).to_string().ends_with("its name is none that a set can have"));
    let impossible = forged("\"kind\":\"pointer\"", "\"kind\":\"poinder\"");
    assert!(problem(&impossible).to_string().contains("its header: unknown variant `poinder`"));

    let hash = SetReader::new(Cursor::new(&whole), Path::new("bytes")).expect("a set").hash().to_string();
    let other: String = hash.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let unlike = replaced(&whole, hash.as_bytes(), other.as_bytes());
    assert!(matches!(problem(&unlike), StoreErrorKind::HashMismatch { .. }));
    let fewer = replaced(&whole, b"\x01\0\0\x002\0\0\0", b"\x01\0\0\x003\0\0\0");
    assert!(matches!(problem(&fewer), StoreErrorKind::SampleCount { expected: 3, found: 2 }));
}

/// The seeds of the corpus. Run it by name when the format changes.
#[test]
#[ignore = "writes into the source tree"]
fn write_the_corpus() {
    let folder = corpus().join("native");
    let runs = samples(find("bfs"), &[2, 3], 1);
    let whole = bytes(&header("bfs", &runs), &runs);
    std::fs::write(folder.join("whole"), &whole).expect("written");
    std::fs::write(folder.join("cut_off"), &whole[..whole.len() / 2]).expect("written");
    std::fs::write(folder.join("other_format"), replaced(&whole, b"\x01\0\0\x001\0\0\0", b"\x01\0\0\x002\0\0\0"))
        .expect("written");
    let sort = samples(find("insertion_sort"), &[4], 2);
    std::fs::write(folder.join("insertion_sort"), bytes(&header("insertion_sort", &sort), &sort)).expect("written");

    let runs = samples(find("bfs"), &[4], 2);
    let native = folder.join("bfs");
    std::fs::write(&native, bytes(&Header { name: "bfs_val".into(), ..header("bfs", &runs) }, &runs)).expect("written");
    let root = tempfile::tempdir().expect("a folder");
    let mut set = Set::open_all(&[native]).expect("a set").remove(0);
    let set = tfds::export(&mut set, root.path(), None, OnExisting::Fail, &()).expect("exported");
    let folder = corpus().join("tfds");
    std::fs::copy(set.join("features.json"), folder.join("features.json")).expect("copied");
    let records = std::fs::read(set.join("clrs_dataset-val.tfrecord-00000-of-00001")).expect("there");
    let length = usize::try_from(u64::from_le_bytes(records[..8].try_into().expect("eight"))).expect("few");
    std::fs::write(folder.join("records"), &records).expect("written");
    std::fs::write(folder.join("record"), &records[12..12 + length]).expect("written");
}
