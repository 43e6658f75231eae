//! Exports hold what the set holds.

mod common;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use clrs::{Array, ArrayData, Batch, Cells, Kind, Registry, Stage, Trajectories, Trajectory};
use clrs_store::{Header, OnExisting, Set, SetWriter, StoreErrorKind, npz, parquet, safetensors};
use common::{find, header, samples};

fn write(path: &Path, header: &Header, runs: &Trajectories) {
    let mut writer = SetWriter::create(path, header, OnExisting::Fail).expect("a new file");
    writer.write(runs).expect("written");
    writer.finish().expect("finished");
}

fn open(path: &Path) -> Set {
    Set::open_all(&[path.to_owned()]).expect("a set").remove(0)
}

/// Arrays under the names of exports.
fn dense(runs: &Trajectories) -> BTreeMap<String, Array> {
    let batch = Batch::new(&runs.iter().collect::<Vec<_>>(), 0).expect("a batch");
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
fn npz_and_safetensors_hold_the_dense_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    for algorithm in Registry::builtin().iter() {
        let runs = samples(algorithm, &[7], 3);
        let native = folder.path().join(algorithm.name());
        let header = header(algorithm.name(), &runs);
        write(&native, &header, &runs);
        let expected = dense(&runs);

        let path = native.with_extension("npz");
        npz::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).expect("there")).expect("an archive");
        assert_eq!(archive.len(), expected.len());
        for (name, array) in &expected {
            let mut npy = Vec::new();
            archive.by_name(&format!("{name}.npy")).expect("an array").read_to_end(&mut npy).expect("whole");
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
        let file = std::fs::read(&path).expect("there");
        let tensors = ::safetensors::SafeTensors::deserialize(&file).expect("tensors");
        assert_eq!(tensors.len(), expected.len());
        for (name, array) in &expected {
            let tensor = tensors.tensor(name).expect("a tensor");
            assert_eq!((tensor.shape(), tensor.data()), (&array.shape[..], &bytes(&array.data)[..]), "{name}");
        }
        let (_, metadata) = ::safetensors::SafeTensors::read_metadata(&file).expect("metadata");
        let said = &metadata.metadata().as_ref().expect("ours")["clrs.header"];
        assert_eq!(serde_json::from_str::<Header>(said).expect("a header"), header);
    }
}

/// A cell of nested lists, as a number.
fn numbers(array: &ArrayRef) -> (Vec<usize>, Vec<f64>) {
    if let DataType::List(_) = array.data_type() {
        let rows: Vec<(Vec<usize>, Vec<f64>)> =
            array.as_list::<i32>().iter().map(|row| numbers(&row.expect("no null"))).collect();
        let inner = rows.first().map(|(shape, _)| shape.clone()).unwrap_or_default();
        assert!(rows.iter().all(|(shape, _)| *shape == inner), "lists of one axis have one length");
        let shape = [array.len()].into_iter().chain(inner).collect();
        return (shape, rows.into_iter().flat_map(|(_, numbers)| numbers).collect());
    }
    let numbers = match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        DataType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|&x| f64::from(x)).collect(),
        DataType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|&x| f64::from(x)).collect(),
        DataType::Int64 => array.as_primitive::<Int64Type>().values().iter().map(|&x| x as f64).collect(),
        other => panic!("{other}"),
    };
    (vec![array.len()], numbers)
}

fn check_row(row: &RecordBatch, run: &Trajectory<'_>) {
    assert_eq!(row.column(0).as_primitive::<UInt32Type>().value(0) as usize, run.nodes());
    assert_eq!(row.column(1).as_primitive::<UInt32Type>().value(0) as usize, run.steps());
    for ((probe, cells), column) in run.iter().zip(&row.columns()[2..]) {
        let (shape, found) = numbers(column);
        let rows = (probe.stage == Stage::Hint).then_some(run.steps());
        let axes = match probe.location {
            clrs::Location::Node => vec![run.nodes()],
            clrs::Location::Edge => vec![run.nodes(), run.nodes()],
            clrs::Location::Graph => vec![],
        };
        assert_eq!(shape, [1].into_iter().chain(rows).chain(axes).collect::<Vec<_>>(), "{}", probe.name);
        let expected: Vec<f64> = match cells {
            Cells::Scalar(cells) => cells.to_vec(),
            Cells::Class(cells) => cells.iter().map(|&x| f64::from(x)).collect(),
            Cells::Node(cells) if probe.kind == Kind::MaskOne => cells
                .iter()
                .flat_map(|&hot| (0..run.nodes()).map(move |node| f64::from(u8::from(node == hot as usize))))
                .collect(),
            Cells::Node(cells) => cells.iter().map(|&x| f64::from(x)).collect(),
        };
        assert_eq!(found, expected, "{}", probe.name);
    }
}

#[test]
fn parquet_holds_a_row_per_sample_in_its_true_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    for algorithm in Registry::builtin().iter() {
        for (name, sizes) in [("same", &[6][..]), ("mixed", &[6, 9])] {
            let runs = samples(algorithm, sizes, 2);
            let native = folder.path().join(format!("{}_{name}", algorithm.name()));
            let header = header(algorithm.name(), &runs);
            write(&native, &header, &runs);
            let path = native.with_extension("parquet");
            parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");

            let file = std::fs::File::open(&path).expect("there");
            let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
            let said = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
            let said = said.iter().find(|pair| pair.key == "clrs.header").and_then(|pair| pair.value.clone()).expect("a header");
            assert_eq!(serde_json::from_str::<Header>(&said).expect("a header"), header);
            let one_size = runs.iter().all(|run| run.nodes() == runs.get(0).nodes());
            for (probe, field) in runs.spec().iter().zip(&reader.schema().fields()[2..]) {
                let axes = count_axes(field.data_type());
                assert_eq!(field.metadata().contains_key("ARROW:extension:name"), one_size && axes > 1, "{}", probe.name);
            }
            let batches: Vec<RecordBatch> = reader.build().expect("a reader").map(|batch| batch.expect("whole")).collect();
            let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
            let rows: Vec<RecordBatch> = rows.collect();
            assert_eq!(rows.len(), runs.len());
            for (row, run) in rows.iter().zip(runs.iter()) {
                check_row(row, &run);
            }
        }
    }
}

fn count_axes(data_type: &DataType) -> usize {
    if let DataType::List(item) = data_type { 1 + count_axes(item.data_type()) } else { 0 }
}

#[test]
fn shards_of_a_set_are_put_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = samples(find("bfs"), &[5], 5);
    let shard = |index: u32, of: u32| -> PathBuf {
        let path = folder.path().join(format!("{index}-of-{of}"));
        let mut header = header("bfs", &all);
        header.provenance.shard = Some((index, of));
        let mut part = Trajectories::new(all.spec().clone());
        for run in all.iter().skip(2 * index as usize).take(2) {
            let cells: Vec<_> = run.iter().map(|(_, cells)| cells).collect();
            part.push(run.nodes(), run.steps(), &cells).expect("a run");
        }
        write(&path, &header, &part);
        path
    };
    let shards = [shard(2, 3), shard(0, 3), shard(1, 3)];
    let mut sets = Set::open_all(&shards).expect("a set");
    assert_eq!((sets.len(), sets[0].samples()), (1, 5));
    assert_eq!(sets[0].read_all().expect("whole"), all);

    let refused = |paths: &[PathBuf]| Set::open_all(paths).err().expect("not a whole set").kind.to_string();
    assert_eq!(refused(&shards[1..]), "shard 2 of 3 of its set is not among the files");
    assert_eq!(refused(&[shards[1].clone(), shards[0].clone()]), "shard 1 of 3 of its set is not among the files");
    assert_eq!(refused(&[shards[1].clone(), shards[1].clone()]), "shard 0 is there twice");
    assert!(refused(&[shards[1].clone(), shard(1, 2)]).starts_with("it does not belong to the same set as"));
}

#[test]
fn what_has_no_dense_form_is_an_error_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let native = folder.path().join("mixed");
    let mixed = samples(find("bfs"), &[4, 5], 1);
    write(&native, &header("bfs", &mixed), &mixed);
    let path = folder.path().join("out");
    let problem = npz::export(&mut open(&native), &path, OnExisting::Fail, &()).expect_err("two sizes").kind;
    assert!(matches!(problem, StoreErrorKind::Batch(_)));
    assert!(safetensors::export(&mut open(&native), &path, OnExisting::Fail, &()).is_err());
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);

    parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect("exported");
    let problem = parquet::export(&mut open(&native), &path, OnExisting::Fail, &()).expect_err("it exists").kind;
    assert!(matches!(problem, StoreErrorKind::Exists));
    let array = Array { shape: vec![1], data: ArrayData::F64(vec![0.5]) };
    assert!(npz::write_npz(&path, [("x", &array)], OnExisting::Fail).is_err());
    npz::write_npz(&path, [("x", &array)], OnExisting::Replace).expect("replaced");
}
