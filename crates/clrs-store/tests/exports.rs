//! Exports contain the values of the set.

mod common;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use clrs::{Array, ArrayData, Batch, Cells, Kind, Registry, Stage, Trajectories, Trajectory};
use clrs_store::{
    ExportFormat, Header, OnExisting, Progress, Set, StoreError, StoreErrorKind, estimate_export_bytes, npz, parquet,
    safetensors, tfds,
};
use common::{find, header, samples, write};

fn open(path: &Path) -> Set {
    Set::open_all(&[path.to_owned()]).expect("a set").remove(0)
}

/// Arrays under the names of exports.
fn dense(trajectories: &Trajectories) -> BTreeMap<String, Array> {
    let batch = Batch::new(&trajectories.iter().collect::<Vec<_>>(), 0).expect("a batch");
    let lengths = Array { shape: vec![batch.samples()], data: ArrayData::F64(batch.lengths.clone()) };
    let arrays = batch.iter().map(|(probe, array)| (format!("{:?}/{}", probe.stage, probe.name), array.clone()));
    let lower = |name: String| format!("{}{}", name[..1].to_lowercase(), &name[1..]);
    arrays.map(|(name, array)| (lower(name), array)).chain([("lengths".into(), lengths)]).collect()
}

fn bytes(data: &ArrayData) -> Vec<u8> {
    match data {
        ArrayData::F64(cells) => cells.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ArrayData::F32(cells) => cells.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ArrayData::I64(cells) => cells.iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

#[test]
fn npz_and_safetensors_contain_the_dense_arrays() {
    let dir = tempfile::tempdir().expect("a directory");
    for algorithm in Registry::builtin().iter() {
        let trajectories = samples(algorithm, &[7], 3);
        let header = header(algorithm.name(), &trajectories);
        let native = write(dir.path(), &header, &trajectories);
        let expected = dense(&trajectories);

        let path = native.with_extension("npz");
        npz::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).expect("a file")).expect("an archive");
        assert_eq!(archive.len(), expected.len());
        for (name, array) in &expected {
            let mut npy = Vec::new();
            archive.by_name(&format!("{name}.npy")).expect("an array").read_to_end(&mut npy).expect("complete");
            let (head, cells) = npy.split_at(10 + usize::from(u16::from_le_bytes([npy[8], npy[9]])));
            assert_eq!((head.len() % 64, &head[..8]), (0, &b"\x93NUMPY\x01\x00"[..]));
            let shape = array.shape.iter().map(|axis| format!("{axis},")).collect::<Vec<_>>().join(" ");
            let shape = if array.shape.len() == 1 { shape } else { shape.trim_end_matches(',').to_owned() };
            let dtype = if matches!(array.data, ArrayData::I64(_)) { "<i8" } else { "<f8" };
            let literal = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}");
            assert_eq!(std::str::from_utf8(&head[10..]).expect("text").trim_end(), literal);
            assert_eq!(cells, bytes(&array.data), "{name}");
        }

        let path = native.with_extension("safetensors");
        safetensors::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");
        let file = std::fs::read(&path).expect("a file");
        let tensors = ::safetensors::SafeTensors::deserialize(&file).expect("tensors");
        assert_eq!(tensors.len(), expected.len());
        for (name, array) in &expected {
            let tensor = tensors.tensor(name).expect("a tensor");
            assert_eq!((tensor.shape(), tensor.data()), (&array.shape[..], &bytes(&array.data)[..]), "{name}");
        }
        let (_, metadata) = ::safetensors::SafeTensors::read_metadata(&file).expect("metadata");
        let stored = &metadata.metadata().as_ref().expect("ours")["clrs.header"];
        assert_eq!(serde_json::from_str::<Header>(stored).expect("a header"), header);
    }
}

/// Shape and values of nested lists.
fn values(array: &ArrayRef) -> (Vec<usize>, Vec<f64>) {
    if let DataType::List(_) = array.data_type() {
        let rows: Vec<(Vec<usize>, Vec<f64>)> = array.as_list::<i32>().iter().map(|row| values(&row.expect("no null"))).collect();
        let inner = rows.first().map(|(shape, _)| shape.clone()).unwrap_or_default();
        assert!(rows.iter().all(|(shape, _)| *shape == inner), "lists of one axis have one length");
        let shape = [array.len()].into_iter().chain(inner).collect();
        return (shape, rows.into_iter().flat_map(|(_, values)| values).collect());
    }
    let values = match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        DataType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|&x| f64::from(x)).collect(),
        DataType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|&x| f64::from(x)).collect(),
        DataType::Int64 => array.as_primitive::<Int64Type>().values().iter().map(|&x| x as f64).collect(),
        other => panic!("{other}"),
    };
    (vec![array.len()], values)
}

fn check_row(row: &RecordBatch, sample: &Trajectory<'_>) {
    assert_eq!(row.column(0).as_primitive::<UInt32Type>().value(0) as usize, sample.nodes());
    assert_eq!(row.column(1).as_primitive::<UInt32Type>().value(0) as usize, sample.steps());
    for ((probe, cells), column) in sample.iter().zip(&row.columns()[2..]) {
        let (shape, found) = values(column);
        let rows = (probe.stage == Stage::Hint).then_some(sample.steps());
        let axes = match probe.location {
            clrs::Location::Node => vec![sample.nodes()],
            clrs::Location::Edge => vec![sample.nodes(), sample.nodes()],
            clrs::Location::Graph => vec![],
        };
        assert_eq!(shape, [1].into_iter().chain(rows).chain(axes).collect::<Vec<_>>(), "{}", probe.name);
        let expected: Vec<f64> = match cells {
            Cells::Scalar(cells) => cells.to_vec(),
            Cells::Class(cells) => cells.iter().map(|&x| f64::from(x)).collect(),
            Cells::Node(cells) if probe.kind == Kind::MaskOne => cells
                .iter()
                .flat_map(|&hot| (0..sample.nodes()).map(move |node| f64::from(u8::from(node == hot as usize))))
                .collect(),
            Cells::Node(cells) => cells.iter().map(|&x| f64::from(x)).collect(),
        };
        assert_eq!(found, expected, "{}", probe.name);
    }
}

#[test]
fn parquet_has_a_row_per_sample_in_its_true_shape() {
    let dir = tempfile::tempdir().expect("a directory");
    for algorithm in Registry::builtin().iter() {
        for (name, sizes) in [("same", &[6][..]), ("mixed", &[6, 9])] {
            let trajectories = samples(algorithm, sizes, 2);
            let header = Header { name: format!("{}_{name}", algorithm.name()), ..header(algorithm.name(), &trajectories) };
            let native = write(dir.path(), &header, &trajectories);
            let path = native.with_extension("parquet");
            parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");

            let file = std::fs::File::open(&path).expect("a file");
            let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
            let stored = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
            let stored =
                stored.iter().find(|pair| pair.key == "clrs.header").and_then(|pair| pair.value.clone()).expect("a header");
            assert_eq!(serde_json::from_str::<Header>(&stored).expect("a header"), header);
            let one_size = trajectories.iter().all(|sample| sample.nodes() == trajectories.get(0).nodes());
            for (probe, field) in trajectories.spec().iter().zip(&reader.schema().fields()[2..]) {
                let axes = count_axes(field.data_type());
                assert_eq!(field.metadata().contains_key("ARROW:extension:name"), one_size && axes > 1, "{}", probe.name);
            }
            let batches: Vec<RecordBatch> = reader.build().expect("a reader").map(|batch| batch.expect("complete")).collect();
            let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
            let rows: Vec<RecordBatch> = rows.collect();
            assert_eq!(rows.len(), trajectories.len());
            for (row, sample) in rows.iter().zip(trajectories.iter()) {
                check_row(row, &sample);
            }
        }
    }
}

fn count_axes(data_type: &DataType) -> usize {
    if let DataType::List(item) = data_type { 1 + count_axes(item.data_type()) } else { 0 }
}

#[test]
fn samples_of_several_sizes_have_no_dense_form() {
    let dir = tempfile::tempdir().expect("a directory");
    let mixed = samples(find("bfs"), &[4, 5], 1);
    let native = write(dir.path(), &header("bfs", &mixed), &mixed);
    let path = dir.path().join("out");
    let error_kind = npz::export(&mut open(&native), &path, OnExisting::Fail, &()).expect_err("two sizes").kind;
    assert!(matches!(error_kind, StoreErrorKind::Batch(_)));
    assert!(safetensors::export(&mut open(&native), &path, OnExisting::Fail, &()).is_err());
    assert_eq!(dir.path().read_dir().expect("a dir").count(), 1);

    parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");
    let error_kind = parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect_err("it exists").kind;
    assert!(matches!(error_kind, StoreErrorKind::Exists));
    let array = Array { shape: vec![1], data: ArrayData::F64(vec![0.5]) };
    assert!(npz::write_npz(&path, [("x", &array)], OnExisting::Fail).is_err());
    npz::write_npz(&path, [("x", &array)], OnExisting::Replace).expect("replaced");
}

/// Counts samples and sets, and cancels after a number of samples.
struct Counter {
    samples: AtomicUsize,
    sets: AtomicUsize,
    cancel_after: usize,
}

impl Counter {
    fn new(cancel_after: usize) -> Counter {
        Counter { samples: 0.into(), sets: 0.into(), cancel_after }
    }
}

impl Progress for Counter {
    fn add_samples(&self, name: &str, count: usize) {
        assert_eq!(name, "bfs_test");
        self.samples.fetch_add(count, Ordering::Relaxed);
    }

    fn finish_set(&self, name: &str) {
        assert_eq!(name, "bfs_test");
        self.sets.fetch_add(1, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.samples.load(Ordering::Relaxed) >= self.cancel_after
    }
}

type Export = fn(&mut Set, &Path, &dyn Progress) -> Result<(), StoreError>;

#[test]
fn every_export_reports_all_samples_and_can_be_cancelled() {
    let dir = tempfile::tempdir().expect("a directory");
    let trajectories = samples(find("bfs"), &[6], 20);
    let native = write(dir.path(), &header("bfs", &trajectories), &trajectories);
    let exports: [(&str, Export); 4] = [
        ("npz", |set, path, progress| npz::export(set, path, OnExisting::Fail, progress)),
        ("safetensors", |set, path, progress| safetensors::export(set, path, OnExisting::Fail, progress)),
        ("parquet", |set, path, progress| parquet::export(set, path, OnExisting::Fail, progress)),
        ("tfds", |set, path, progress| tfds::export(set, path, None, OnExisting::Fail, progress).map(drop)),
    ];
    for (name, export) in exports {
        let counter = Counter::new(0);
        let path = dir.path().join(format!("cancelled.{name}"));
        let kind = export(&mut open(&native), &path, &counter).expect_err("cancelled").kind;
        assert!(matches!(kind, StoreErrorKind::Cancelled), "{name}: {kind}");
        assert!(!path.is_file() && counter.sets.into_inner() == 0, "{name}");

        let counter = Counter::new(usize::MAX);
        export(&mut open(&native), &dir.path().join(format!("complete.{name}")), &counter).expect("exported");
        assert_eq!((counter.samples.into_inner(), counter.sets.into_inner()), (20, 1), "{name}");
    }

    let counter = Counter::new(usize::MAX);
    tfds::import(&dir.path().join("complete.tfds"), &dir.path().join("out"), &Registry::builtin(), OnExisting::Fail, &counter)
        .expect("imported");
    assert_eq!((counter.samples.into_inner(), counter.sets.into_inner()), (20, 1));
}

#[test]
fn estimates_are_close_to_the_exported_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    for algorithm in ["bfs", "heapsort", "floyd_warshall"] {
        let trajectories = samples(find(algorithm), &[16], 50);
        let mut set = open(&write(dir.path(), &header(algorithm, &trajectories), &trajectories));
        let arrays: usize = dense(&trajectories).values().map(|array| bytes(&array.data).len()).sum();
        for format in [ExportFormat::Npz, ExportFormat::Safetensors] {
            assert_eq!(estimate_export_bytes(&mut set, format).expect("estimated"), arrays as u64, "{algorithm}");
        }
        let root = dir.path().join("root");
        let exported = tfds::export(&mut set, &root, None, OnExisting::Fail, &()).expect("exported");
        let files =
            exported.read_dir().expect("a directory").map(|entry| entry.expect("an entry").metadata().expect("a file").len());
        let (written, estimate) = (files.sum::<u64>(), estimate_export_bytes(&mut set, ExportFormat::Tfds).expect("estimated"));
        assert!(estimate < 2 * written && written < 2 * estimate, "{algorithm}: {estimate} estimated, {written} written");
        let path = dir.path().join(format!("{algorithm}.parquet"));
        parquet::export(&mut set, &path, OnExisting::Fail, &()).expect("exported");
        let (written, estimate) =
            (path.metadata().expect("a file").len(), estimate_export_bytes(&mut set, ExportFormat::Parquet).expect("estimated"));
        assert!(written < estimate + 50_000, "{algorithm}: {estimate} estimated, {written} written");
    }
}
