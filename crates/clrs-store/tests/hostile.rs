//! Untrusted files: reading them gives an error or the values that were written, never a panic, and takes little memory.

mod common;
mod parsers;

use std::io::Cursor;
use std::path::{Path, PathBuf};

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use clrs::{ContentHash, RandomState, Spec, Trajectories};
use clrs_store::native::Corruption;
use clrs_store::{Header, OnExisting, ReadLimits, SetReader, SetWriter, StoreErrorKind};
use common::{find, header, samples, write};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// More memory than any file of these tests needs.
const MEMORY_LIMIT: usize = 128 << 20;

fn bytes(header: &Header, trajectories: &Trajectories) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::read(write(dir.path(), header, trajectories)).expect("read")
}

fn error_kind(data: &[u8]) -> StoreErrorKind {
    let reader = SetReader::new(Cursor::new(data), Path::new("bytes"));
    match reader.and_then(|mut reader| reader.read_all()) {
        Ok(_) => panic!("the file is valid"),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "one line: {error}");
            error.kind
        }
    }
}

/// Replaces all occurrences, at least one.
fn replaced(data: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut data = data.to_vec();
    let indices: Vec<usize> = (0..=data.len() - from.len()).filter(|&index| data[index..].starts_with(from)).collect();
    assert!(!indices.is_empty(), "nothing to replace");
    for index in indices {
        data[index..index + to.len()].copy_from_slice(to);
    }
    data
}

/// Packages do not contain the corpora of the fuzzers.
#[test]
fn the_corpora_of_the_fuzzers_are_read_or_rejected() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let before = MEMORY.current_usage();
    let replay = |reader: &str, parse: &dyn Fn(&[u8])| {
        for file in std::fs::read_dir(corpora.join(reader)).into_iter().flatten() {
            parse(&std::fs::read(file.expect("an entry").path()).expect("a file"));
        }
    };
    replay("native_set", &|data| drop(parsers::native_set(data)));
    replay("tfds", &|data| drop(parsers::tfds_files(data)));
    assert!(MEMORY.peak_usage() < before + MEMORY_LIMIT, "{} bytes at the peak", MEMORY.peak_usage());
}

#[test]
fn a_file_truncated_anywhere_is_rejected() {
    let trajectories = samples(find("bridges"), &[6, 4], 2);
    let complete = bytes(&header("bridges", &trajectories), &trajectories);
    assert_eq!(parsers::native_set(&complete).as_ref(), Some(&trajectories));
    for end in 0..complete.len() {
        assert_eq!(parsers::native_set(&complete[..end]), None, "truncated at {end}");
    }
    assert_eq!(parsers::native_set(&complete[1..]), None);
}

#[test]
fn a_changed_file_is_rejected_or_has_the_same_values() {
    let random = &mut RandomState::new(1);
    for (algorithm, sizes) in [("bridges", &[6, 4][..]), ("insertion_sort", &[300]), ("bfs", &[1, 20])] {
        let trajectories = samples(find(algorithm), sizes, 2);
        let complete = bytes(&header(algorithm, &trajectories), &trajectories);
        let before = MEMORY.current_usage();
        for _ in 0..4000 {
            let mut changed = complete.clone();
            for _ in 0..=random.choice(3) {
                // The footer describes the rest: half of the changes go there.
                let from_end = if random.choice(2) == 0 { changed.len() } else { changed.len().min(2000) };
                let index = changed.len() - 1 - random.choice(from_end);
                let value = random.word().to_le_bytes()[0];
                changed[index] = [value, 0, 0xff, 0x7f, 0x80, changed[index] ^ (1 << (value % 8))][random.choice(6)];
            }
            if let Some(read) = parsers::native_set(&changed) {
                assert_eq!(read.columns(), trajectories.columns());
            }
        }
        assert!(MEMORY.peak_usage() < before + MEMORY_LIMIT, "{} bytes at the peak", MEMORY.peak_usage());
    }
}

#[test]
fn changed_records_are_rejected_or_valid() {
    let record = std::fs::read(corpus().join("tfds/record")).expect("a file");
    assert_eq!(parsers::tfds_files(&record).map(|trajectories| trajectories.len()), Some(1));
    for end in 0..record.len() {
        // A record without one of the features is rejected.
        assert_eq!(parsers::tfds_files(&record[..end]), None, "truncated at {end}");
    }
    let random = &mut RandomState::new(2);
    let before = MEMORY.current_usage();
    for seed in [record, parsers::FEATURES.as_bytes().to_vec(), std::fs::read(corpus().join("tfds/records")).expect("a file")] {
        for _ in 0..4000 {
            let mut changed = seed.clone();
            for _ in 0..=random.choice(3) {
                let (index, value) = (random.choice(changed.len()), random.word().to_le_bytes()[0]);
                changed[index] = [value, 0, 0xff, 0x7f, b'9', changed[index] ^ (1 << (value % 8))][random.choice(6)];
            }
            parsers::tfds_files(&changed);
        }
    }
    assert!(MEMORY.peak_usage() < before + MEMORY_LIMIT, "{} bytes at the peak", MEMORY.peak_usage());
}

#[test]
fn files_of_the_corpus_do_not_panic() {
    for (dir, body) in [("native", parsers::native_set as fn(&[u8]) -> Option<Trajectories>), ("tfds", parsers::tfds_files)] {
        for entry in corpus().join(dir).read_dir().expect("a dir") {
            let data = std::fs::read(entry.expect("an entry").path()).expect("a file");
            body(&data);
        }
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

#[test]
fn claims_are_checked_before_memory_is_allocated() {
    let trajectories = samples(find("bfs"), &[5], 1);
    let complete = bytes(&Header { max_nodes: 65_536, ..header("bfs", &trajectories) }, &trajectories);
    // The counts of one sample are too short to be compressed: -1, then the count itself.
    let count = |count: u32| [&(-1i64).to_le_bytes()[..], &count.to_le_bytes()].concat();
    let steps = u32::try_from(trajectories.get(0).steps()).expect("few");
    let before = MEMORY.current_usage();
    let many_nodes = replaced(&complete, &count(5), &count(60_000));
    assert!(error_kind(&many_nodes).to_string().ends_with("it takes more than 1073741824 bytes of memory"));
    let many_steps = replaced(&complete, &count(steps), &count(u32::MAX));
    assert!(error_kind(&many_steps).to_string().ends_with("it takes more than 1073741824 bytes of memory"));
    let more_nodes = replaced(&complete, &count(5), &count(5_000));
    assert!(error_kind(&more_nodes).to_string().contains("is corrupt"));
    assert!(MEMORY.peak_usage() < before + MEMORY_LIMIT, "{} bytes at the peak", MEMORY.peak_usage());
}

#[test]
fn other_files_are_not_sets() {
    assert!(matches!(error_kind(b""), StoreErrorKind::NotASet(_)));
    assert!(matches!(error_kind(b"a,b\n1,2\n"), StoreErrorKind::NotASet(_)));
    assert!(matches!(error_kind(&[0; 4096]), StoreErrorKind::NotASet(_)));

    let schema = Schema::new(vec![Field::new("a", DataType::Int32, false)]);
    let mut foreign = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).expect("a writer");
    let batch = RecordBatch::try_new(schema.into(), vec![std::sync::Arc::new(Int32Array::from(vec![1, 2]))]).expect("a batch");
    foreign.write(&batch).expect("written");
    let foreign = foreign.into_inner().expect("finished");
    assert_eq!(error_kind(&foreign).to_string(), "not a set of trajectories: an Arrow file without `clrs.format`");
}

#[test]
fn other_formats_specs_and_hashes_are_rejected() {
    let trajectories = samples(find("bfs"), &[5], 2);
    let header = header("bfs", &trajectories);
    let complete = bytes(&header, &trajectories);

    // A string is stored as its length, its bytes and a zero.
    let newer = replaced(&complete, b"\x01\0\0\x001\0\0\0", b"\x01\0\0\x002\0\0\0");
    let message = error_kind(&newer).to_string();
    assert!(message.starts_with("format 2 is not supported; clrs-store "), "{message}");
    assert!(message.contains("reads format 1"), "{message}");

    let careless = replaced(&complete, b"\"seed\":7", b"\"seed\":8");
    assert!(error_kind(&careless).to_string().ends_with("the header has been changed"));

    // A forged header may come with its hash.
    let text = serde_json::to_string(&header).expect("a header");
    let forged = |from: &str, to: &str| {
        let hash = |text: &str| ContentHash::of_header(text.as_bytes()).to_string().into_bytes();
        replaced(&replaced(&complete, from.as_bytes(), to.as_bytes()), &hash(&text), &hash(&text.replace(from, to)))
    };
    let renamed = forged("\"name\":\"reach_h\"", "\"name\":\"reach_g\"");
    assert!(error_kind(&renamed).to_string().ends_with("its columns are not those of its spec"));
    let elsewhere = forged("\"name\":\"bfs", "\"name\":\"../");
    assert!(error_kind(&elsewhere).to_string().ends_with("its name is not valid for a set"));
    let impossible = forged("\"kind\":\"pointer\"", "\"kind\":\"poinder\"");
    assert!(error_kind(&impossible).to_string().contains("invalid header: unknown variant `poinder`"));

    let hash = SetReader::new(Cursor::new(&complete), Path::new("bytes")).expect("a set").hash().to_string();
    let other: String = hash.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let other_hash = replaced(&complete, hash.as_bytes(), other.as_bytes());
    assert!(matches!(error_kind(&other_hash), StoreErrorKind::HashMismatch { .. }));
    let fewer = replaced(&complete, b"\x01\0\0\x002\0\0\0", b"\x01\0\0\x003\0\0\0");
    assert!(matches!(error_kind(&fewer), StoreErrorKind::SampleCount { expected: 3, found: 2 }));
}

#[test]
fn limits_apply_to_batches_and_to_sets() {
    let trajectories = samples(find("bfs"), &[20], 50);
    let data = bytes(&header("bfs", &trajectories), &trajectories);
    let read = |batch_bytes: usize, total_bytes: usize| {
        let mut limits = ReadLimits::default();
        (limits.batch_bytes, limits.total_bytes) = (batch_bytes, total_bytes);
        SetReader::with_limits(Cursor::new(&data), Path::new("bytes"), limits).and_then(|mut reader| reader.read_all())
    };
    let size = trajectories.bytes();
    assert_eq!(read(size, size).expect("within the limits"), trajectories);
    let kind = read(size / 2, usize::MAX).expect_err("above the limit").kind;
    assert_eq!(kind.to_string(), format!("record batch 0 is corrupt: it takes more than {} bytes of memory", size / 2));
    let kind = read(usize::MAX, size / 2).expect_err("above the limit").kind;
    assert!(matches!(kind, StoreErrorKind::SetTooLarge { max_bytes } if max_bytes == size / 2));

    // Samples without a single cell take memory too.
    let empty = trajectories.with_spec(&Spec::new(Vec::new()).expect("a spec"));
    let data = bytes(&header("bfs", &empty), &empty);
    let mut limits = ReadLimits::default();
    limits.batch_bytes = 8 * empty.len();
    let reader = SetReader::with_limits(Cursor::new(&data), Path::new("bytes"), limits);
    let kind = reader.and_then(|mut reader| reader.read_all()).expect_err("above the limit").kind;
    assert!(kind.to_string().ends_with("it takes more than 400 bytes of memory"), "{kind}");
}

#[test]
fn overlapping_record_batches_are_rejected() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("bfs"), &[5], 2);
    let path = dir.path().join("set");
    let mut writer = SetWriter::create(&path, &header("bfs", &trajectories), OnExisting::Fail).expect("created");
    writer.write(&trajectories).expect("written");
    writer.write(&trajectories).expect("written");
    writer.finish().expect("finished");
    let data = std::fs::read(&path).expect("read");
    let (_, tail) = data.split_at(data.len() - 10);
    let size = usize::try_from(i32::from_le_bytes(tail[..4].try_into().expect("four bytes"))).expect("a length");
    let footer = arrow_ipc::root_as_footer(&data[data.len() - 10 - size..data.len() - 10]).expect("a footer");
    let blocks = footer.recordBatches().expect("record batches");
    assert_eq!(blocks.len(), 2);
    // Both entries of the footer point to the first batch: a small file could claim any number of samples.
    let twice = replaced(&data, &blocks.get(1).0, &blocks.get(0).0);
    let kind = error_kind(&twice);
    assert!(matches!(kind, StoreErrorKind::CorruptBatch { batch: 1, corruption: Corruption::OutOfBounds }), "{kind}");
}

#[cfg(unix)]
#[test]
fn special_files_are_rejected_without_waiting() {
    use clrs_store::{Set, tfds, verify};

    let dir = tempfile::tempdir().expect("a directory");
    let registry = clrs::Registry::builtin();
    let pipe = dir.path().join("bfs_train.arrow");
    let created = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(created.success());
    let endless = dir.path().join("bfs_val.arrow");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("linked");
    for path in [&pipe, &endless] {
        let rejected = SetReader::open(path).err().expect("not a file");
        assert_eq!(rejected.to_string(), format!("{}: not a regular file", path.display()));
        let rejected = verify::verify(path, &registry).expect_err("not a file").to_string();
        assert_eq!(rejected, format!("{}: not a regular file", path.display()));
    }
    for split in ["train", "val"] {
        assert!(matches!(Set::open(dir.path(), "bfs", split).err().expect("not a file").kind, StoreErrorKind::NotAFile));
    }
    let dataset = clrs_store::generate::DatasetSpec::new("bfs_train", find("bfs"), 4, 1, 1);
    for on_existing in [OnExisting::Fail, OnExisting::Replace] {
        let options = clrs_store::generate::GenerateOptions { on_existing, threads: 1 };
        let error =
            clrs_store::generate::generate(std::slice::from_ref(&dataset), dir.path(), options, &()).expect_err("not a file");
        assert!(!error.is_resolved_by_replacing(), "{error}");
    }

    let tfds_dir = dir.path().join("clrs_dataset/bfs_val/1.0.0");
    std::fs::create_dir_all(&tfds_dir).expect("created");
    std::os::unix::fs::symlink("/dev/zero", tfds_dir.join("features.json")).expect("linked");
    let out = dir.path().join("out");
    let rejected = tfds::import(&tfds_dir, &out, &registry, OnExisting::Fail, &()).expect_err("not a file");
    assert!(matches!(rejected.kind, StoreErrorKind::NotAFile), "{rejected}");
    std::fs::remove_file(tfds_dir.join("features.json")).expect("removed");
    std::fs::write(tfds_dir.join("features.json"), parsers::FEATURES).expect("written");
    let created = std::process::Command::new("mkfifo").arg(tfds_dir.join("dataset_info.json")).status().expect("mkfifo runs");
    assert!(created.success());
    let rejected = tfds::import(&tfds_dir, &out, &registry, OnExisting::Fail, &()).expect_err("not a file");
    assert!(matches!(rejected.kind, StoreErrorKind::NotAFile), "{rejected}");
}
