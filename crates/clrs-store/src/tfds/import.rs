use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clrs::batch::column_of;
use clrs::column::MAX_NODES;
use clrs::registry::UnknownAlgorithm;
use clrs::spec::DuplicateProbe;
use clrs::trajectory::TrajectoriesError;
use clrs::{AnyAlgorithm, Cells, Column, Location, Probe, Registry, Spec, Stage, Trajectories};
use prost::Message;
use serde::Serialize;

use super::example::{Example, List};
use super::features::{LENGTHS, Tensor, Tensors, feature_name, from_json, tensors};
use super::info::shard_lengths;
use super::order::order;
use super::record::Records;
use super::{DATASET, FEATURES_FILE, INFO_FILE, VERSION, shard_name};
use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{OnExisting, create_directory, lossy_path, open_regular, read_regular};
use crate::native::{Header, Provenance, SetSummary, SetWriter, file_name, is_valid_set_name};
use crate::progress::Progress;

/// A set that was imported.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ImportedSet {
    /// Path of the native file.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// Contents of the file.
    #[serde(flatten)]
    pub summary: SetSummary,
}

/// Why a directory cannot be read as a set of TFDS.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum LayoutError {
    #[error("not a TFDS directory: no {FEATURES_FILE} here or below")]
    NoFeatures,
    #[error("`{0}` is not ALGORITHM_SPLIT, such as bfs_train")]
    DirectoryName(String),
    #[error(transparent)]
    Algorithm(#[from] UnknownAlgorithm),
    #[error("not JSON: {0}")]
    Json(String),
    #[error("the dictionary of features is missing")]
    NoDictionary,
    #[error("`{0}` is not a numeric tensor")]
    NotNumeric(String),
    #[error("the feature `{feature}` of {algorithm} is missing")]
    MissingFeature { feature: String, algorithm: String },
    #[error("{algorithm} has no probe for the feature `{feature}`")]
    UnknownFeature { feature: String, algorithm: String },
    #[error("no feature has from 1 to {MAX_NODES} nodes")]
    Nodes,
    #[error("`{feature}` does not have the type and shape of {nodes} nodes")]
    Shape { feature: String, nodes: usize },
    #[error(transparent)]
    Spec(#[from] DuplicateProbe),
    #[error("the shards of the split `{0}` are missing")]
    NoShards(String),
}

/// What is wrong with a record.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum RecordError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it reaches past the end of the file")]
    Truncated,
    #[error("its checksum is wrong")]
    Checksum,
    #[error("not a tf.train.Example: {0}")]
    Example(String),
    #[error("the list of numbers `{0}` is missing")]
    Missing(String),
    #[error("`{feature}` has {found} values instead of {expected}")]
    Length { feature: String, expected: usize, found: usize },
    #[error("`{feature}` has invalid values")]
    Value { feature: String },
    #[error("{0}")]
    Trajectories(#[from] TrajectoriesError),
}

/// Memory of a record batch: samples are written when they take as much.
const BATCH_BYTES: usize = 16 << 20;

/// Maximum size of `features.json` and of `dataset_info.json`.
const MAX_JSON_BYTES: u64 = 16 << 20;

/// Imports every set below a directory as `OUT/ALGORITHM_SPLIT.arrow`. The directory may be the root of a dataset or any
/// directory in it.
pub fn import(
    dir: &Path,
    out: &Path,
    registry: &Registry,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<Vec<ImportedSet>, StoreError> {
    let found = find(dir)?;
    if found.is_empty() {
        return Err(LayoutError::NoFeatures).at(dir);
    }
    create_directory(out)?;
    found.iter().map(|set| import_set(set, out, registry, on_existing, progress)).collect()
}

/// The directories of sets, which contain a `features.json`: at most three levels down.
fn find(root: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let (mut level, mut found) = (vec![root.to_owned()], Vec::new());
    for _ in 0..=3 {
        let mut below = Vec::new();
        for dir in level {
            if dir.join(FEATURES_FILE).symlink_metadata().is_ok() {
                found.push(dir);
                continue;
            }
            for entry in dir.read_dir().at(&dir)? {
                let path = entry.at(&dir)?.path();
                if path.is_dir() {
                    below.push(path);
                }
            }
        }
        below.sort();
        level = below;
    }
    Ok(found)
}

fn import_set(
    dir: &Path,
    out: &Path,
    registry: &Registry,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<ImportedSet, StoreError> {
    // `.../ALGORITHM_SPLIT/1.0.0`
    let absolute = dir.canonicalize().at(dir)?;
    let name = absolute.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let split = name.rsplit_once('_').filter(|_| is_valid_set_name(&name));
    let (algorithm, split) = split.ok_or_else(|| LayoutError::DirectoryName(name.clone())).at(dir)?;
    let algorithm = registry.find(algorithm).map_err(LayoutError::from).at(dir)?;

    let (layout, trajectories) = read_records(dir, algorithm, split, progress)?;

    let path = out.join(file_name(&name, None));
    let header = Header {
        name: name.clone(),
        algorithm: algorithm.name().into(),
        max_nodes: layout.nodes,
        provenance: Provenance {
            size: layout.nodes,
            samples: trajectories.len() as u64,
            source: Some(format!("TFDS {DATASET}/{name}")),
            ..Provenance::default()
        },
        spec: layout.spec,
    };
    let summary = write(&path, &header, &trajectories, split, on_existing)?;
    progress.finish_set(&name);
    Ok(ImportedSet { path, summary })
}

/// Reads a set of dm-clrs's dataset below a root directory, in the order of its records: what `clrs.create_dataset` iterates over.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::{OnExisting, Set, tfds};
///
/// let dir = tempfile::tempdir()?;
/// let bfs = Registry::builtin().find("bfs")?;
/// generate(&[DatasetSpec::new("bfs_val", bfs, 8, 10, 2)], dir.path(), GenerateOptions::default(), &())?;
/// let mut set = Set::open(dir.path(), "bfs", "val")?;
/// tfds::export(&mut set, dir.path(), None, OnExisting::Fail, &())?;
/// let records = tfds::read(dir.path(), bfs, "val")?;
/// assert_eq!(records, tfds::records_of(&set.read_all()?, "val"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(root: &Path, algorithm: &dyn AnyAlgorithm, split: &str) -> Result<Trajectories, StoreError> {
    let dir = root.join(DATASET).join(format!("{}_{split}", algorithm.name())).join(VERSION);
    if !dir.is_dir() {
        return Err(LayoutError::NoFeatures).at(&dir);
    }
    Ok(read_records(&dir, algorithm, split, &())?.1)
}

/// The samples of a set as its TFDS records have them: in their order, and with scalars rounded to float32.
#[must_use]
pub fn records_of(trajectories: &Trajectories, split: &str) -> Trajectories {
    let mut records = Trajectories::new(trajectories.spec().clone());
    for sample in order(split, trajectories.len()) {
        let sample = trajectories.get(sample);
        let columns: Vec<Column> = sample.iter().map(|(_, cells)| rounded(cells)).collect();
        let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        records.push(sample.nodes(), sample.steps(), &cells).expect("it has the same spec");
    }
    records
}

#[expect(clippy::cast_possible_truncation, reason = "the type of floats in records")]
fn rounded(cells: Cells<'_>) -> Column {
    match cells {
        Cells::Scalar(cells) => Column::Scalar(cells.iter().map(|&cell| f64::from(cell as f32)).collect()),
        cells => cells.to_column(),
    }
}

/// Reads all records of the directory of a set, `.../ALGORITHM_SPLIT/1.0.0`.
fn read_records(
    dir: &Path,
    algorithm: &dyn AnyAlgorithm,
    split: &str,
    progress: &dyn Progress,
) -> Result<(Layout, Trajectories), StoreError> {
    let name = format!("{}_{split}", algorithm.name());
    let features = dir.join(FEATURES_FILE);
    let layout = Layout::new(&read_text(&features)?, algorithm).at(&features)?;
    let info = dir.join(INFO_FILE);
    let shards = shard_lengths(&read_text(&info)?, split).at(&info)?;
    let mut trajectories = layout.trajectories();
    for (shard, &expected) in shards.iter().enumerate() {
        let path = dir.join(shard_name(split, shard, shards.len()));
        let file = open_regular(&path)?;
        let length = file.metadata().at(&path)?.len();
        let before = trajectories.len();
        layout.read(BufReader::new(file), length, &mut trajectories).at(&path)?;
        // The order can only be restored if no record is missing.
        let found = (trajectories.len() - before) as u64;
        if found != expected {
            return Err(StoreErrorKind::SampleCount { expected, found }).at(&path);
        }
        progress.add_samples(&name, trajectories.len() - before);
        if progress.is_cancelled() {
            return Err(StoreErrorKind::Cancelled).at(&path);
        }
    }

    Ok((layout, trajectories))
}

fn read_text(path: &Path) -> Result<String, StoreError> {
    let bytes = read_regular(path, MAX_JSON_BYTES)?;
    String::from_utf8(bytes).map_err(|error| LayoutError::Json(error.to_string())).at(path)
}

/// Writes the samples in the order of their indices.
fn write(
    path: &Path,
    header: &Header,
    trajectories: &Trajectories,
    split: &str,
    on_existing: OnExisting,
) -> Result<SetSummary, StoreError> {
    let mut records = vec![0; trajectories.len()];
    for (record, sample) in order(split, trajectories.len()).into_iter().enumerate() {
        records[sample] = record;
    }
    let mut writer = SetWriter::create(path, header, on_existing)?;
    let mut batch = Trajectories::new(header.spec.clone());
    for record in records {
        let sample = trajectories.get(record);
        let cells: Vec<Cells<'_>> = sample.iter().map(|(_, cells)| cells).collect();
        batch.push(sample.nodes(), sample.steps(), &cells).expect("it has the same spec");
        if batch.bytes() >= BATCH_BYTES {
            writer.write(&batch)?;
            batch.clear();
        }
    }
    writer.write(&batch)?;
    writer.finish()
}

/// Layout of the records of a set: the features of a file, matched with the probes of an algorithm.
pub struct Layout {
    spec: Spec,
    nodes: usize,
    /// Number of steps that hints are padded to; without hints, the largest number possible.
    steps: usize,
    tensors: Tensors,
}

impl Layout {
    /// Matches the text of a `features.json` with an algorithm. Hints may be missing: other versions have fewer.
    pub fn new(text: &str, algorithm: &dyn AnyAlgorithm) -> Result<Layout, LayoutError> {
        let found = from_json(text)?;
        let mut probes = Vec::new();
        for probe in algorithm.spec() {
            match found.get(&feature_name(probe)) {
                Some(tensor) => probes.push(Probe { dtype: tensor.dtype, ..probe.clone() }),
                None if probe.stage == Stage::Hint => {}
                None => {
                    let (feature, algorithm) = (feature_name(probe), algorithm.name().into());
                    return Err(LayoutError::MissingFeature { feature, algorithm });
                }
            }
        }
        let spec = Spec::new(probes)?;
        let shape = |location, stage: fn(Stage) -> bool| {
            let probe = spec.iter().find(|probe| probe.location == location && stage(probe.stage))?;
            found.get(&feature_name(probe)).map(|tensor: &Tensor| tensor.shape.clone())
        };
        let is_hint = |stage| stage == Stage::Hint;
        let nodes =
            [Location::Node, Location::Edge].into_iter().find_map(|location| shape(location, |stage| stage != Stage::Hint));
        let nodes = nodes.and_then(|shape| shape.first().copied()).filter(|nodes| (1..=MAX_NODES).contains(nodes));
        let nodes = nodes.ok_or(LayoutError::Nodes)?;
        let hints = [Location::Node, Location::Edge, Location::Graph].into_iter().find_map(|location| shape(location, is_hint));
        let steps = hints.map_or(u32::MAX as usize, |shape| shape.first().copied().unwrap_or(0));

        // All shapes follow from the spec, nodes and steps: every feature must have the expected one, and no other may be present.
        let tensors = tensors(&spec, nodes, steps);
        if let Some(name) = found.keys().find(|&name| !tensors.contains_key(name)) {
            let (feature, algorithm) = (name.clone(), algorithm.name().into());
            return Err(LayoutError::UnknownFeature { feature, algorithm });
        }
        if let Some(name) = tensors.keys().find(|&name| found.get(name) != tensors.get(name)) {
            return Err(LayoutError::Shape { feature: name.clone(), nodes });
        }
        Ok(Layout { spec, nodes, steps, tensors })
    }

    /// Returns trajectories of the set's spec, without samples.
    pub fn trajectories(&self) -> Trajectories {
        Trajectories::new(self.spec.clone())
    }

    /// Adds all records of a file of known length in bytes. No more memory is allocated than the file has bytes, times a constant.
    pub fn read(&self, file: impl Read, length: u64, trajectories: &mut Trajectories) -> Result<(), StoreErrorKind> {
        let mut records = Records::new(file, length);
        for record in 0.. {
            let damaged = |error| StoreErrorKind::CorruptRecord { record, error };
            match records.next().map_err(damaged)? {
                Some(bytes) => self.push(bytes, trajectories).map_err(damaged)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Adds one record.
    pub fn push(&self, record: &[u8], trajectories: &mut Trajectories) -> Result<(), RecordError> {
        let example = Example::decode(record).map_err(|error| RecordError::Example(error.to_string()))?;
        let mut features = example.features.unwrap_or_default().feature;
        let mut take = |name: &str| {
            let shape = &self.tensors[name].shape;
            let expected = shape.iter().try_fold(1usize, |product, &axis| product.checked_mul(axis));
            let values: Vec<f64> = match features.remove(name).and_then(|feature| feature.list) {
                Some(List::Float(list)) => list.value.into_iter().map(f64::from).collect(),
                Some(List::Int64(list)) => list.value.into_iter().map(|x| x as f64).collect(),
                None => return Err(RecordError::Missing(name.into())),
            };
            if Some(values.len()) != expected {
                let expected = expected.unwrap_or(usize::MAX);
                return Err(RecordError::Length { feature: name.into(), expected, found: values.len() });
            }
            Ok(values)
        };
        let length = take(LENGTHS)?[0];
        let steps = node(length, self.steps.saturating_add(1)).ok_or_else(|| RecordError::Value { feature: LENGTHS.into() })?;
        let steps = steps as usize;
        let mut columns = Vec::with_capacity(self.spec.len());
        for probe in self.spec.iter() {
            let name = feature_name(probe);
            let values = take(&name)?;
            let unpadded = if probe.stage == Stage::Hint { values.len() / self.steps.max(1) * steps } else { values.len() };
            columns.push(column_of(probe, self.nodes, &values[..unpadded]).ok_or(RecordError::Value { feature: name })?);
        }
        let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        Ok(trajectories.push(self.nodes, steps, &cells)?)
    }
}

/// An integer below `count`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked first")]
fn node(number: f64, count: usize) -> Option<u32> {
    (number >= 0.0 && number < count as f64 && number.fract() == 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
}
