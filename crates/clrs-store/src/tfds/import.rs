use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clrs::column::MAX_NODES;
use clrs::trajectory::TrajectoriesError;
use clrs::{AnyAlgorithm, Cells, Column, Kind, Location, Probe, Registry, Spec, Stage, Trajectories};
use prost::Message;

use super::example::{Example, List};
use super::features::{LENGTHS, Tensor, Tensors, feature_name, from_json, tensors};
use super::info::shard_lengths;
use super::order::order;
use super::record::Records;
use super::{DATASET, FEATURES_FILE, INFO_FILE, shard_name};
use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::OnExisting;
use crate::native::{Header, Provenance, SetSummary, SetWriter};
use crate::progress::Progress;

/// A set that was imported.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportedSet {
    /// Path of the native file.
    pub path: PathBuf,
    /// Contents of the file.
    pub summary: SetSummary,
}

/// What is wrong with a record.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecordError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it reaches over the end of the file")]
    Cut,
    #[error("its checksum does not fit")]
    Checksum,
    #[error("it is no tf.train.Example: {0}")]
    Example(#[from] prost::DecodeError),
    #[error("there is no list of numbers `{0}`")]
    Missing(String),
    #[error("`{feature}` has {found} numbers, not {expected}")]
    Length { feature: String, expected: usize, found: usize },
    #[error("`{feature}` has numbers that mean nothing there")]
    Value { feature: String },
    #[error("{0}")]
    Runs(#[from] TrajectoriesError),
}

/// Runs written together as one record batch, at least.
const BATCH_BYTES: usize = 16 << 20;

/// Imports every set below a folder, which may be the root of a dataset or any folder in it, as `OUT/ALGORITHM_SPLIT.arrow`.
pub fn import(
    folder: &Path,
    out: &Path,
    registry: &Registry,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<Vec<ImportedSet>, StoreError> {
    let found = find(folder)?;
    if found.is_empty() {
        return Err(StoreErrorKind::Features(format!("there is no {FEATURES_FILE} in it or below"))).at(folder);
    }
    std::fs::create_dir_all(out).at(out)?;
    found.iter().map(|set| import_set(set, out, registry, on_existing, progress)).collect()
}

/// The folders that hold a set: those with a `features.json`, three levels down at most.
fn find(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let (mut level, mut found) = (vec![folder.to_owned()], Vec::new());
    for _ in 0..=3 {
        let mut below = Vec::new();
        for folder in level {
            if folder.join(FEATURES_FILE).is_file() {
                found.push(folder);
                continue;
            }
            for entry in folder.read_dir().at(&folder)? {
                let path = entry.at(&folder)?.path();
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
    folder: &Path,
    out: &Path,
    registry: &Registry,
    on_existing: OnExisting,
    progress: &dyn Progress,
) -> Result<ImportedSet, StoreError> {
    // `.../ALGORITHM_SPLIT/1.0.0`
    let absolute = folder.canonicalize().at(folder)?;
    let name = absolute.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some((algorithm, split)) = name.rsplit_once('_') else { return Err(StoreErrorKind::NoSplit(name)).at(folder) };
    let algorithm = registry.find(algorithm).map_err(|error| StoreErrorKind::Features(error.to_string())).at(folder)?;

    let features = folder.join(FEATURES_FILE);
    let text = std::fs::read_to_string(&features).at(&features)?;
    let layout = Layout::new(&text, algorithm).map_err(StoreErrorKind::Features).at(&features)?;
    let info = folder.join(INFO_FILE);
    let text = std::fs::read_to_string(&info).at(&info)?;
    let shards = shard_lengths(&text, split).map_err(StoreErrorKind::Features).at(&info)?;
    let mut runs = layout.runs();
    for (shard, &expected) in shards.iter().enumerate() {
        let path = folder.join(shard_name(split, shard, shards.len()));
        let file = File::open(&path).at(&path)?;
        let length = file.metadata().at(&path)?.len();
        let before = runs.len();
        layout.read(BufReader::new(file), length, &mut runs).at(&path)?;
        // The order can be undone only if all are there.
        let found = (runs.len() - before) as u64;
        if found != expected {
            return Err(StoreErrorKind::SampleCount { expected, found }).at(&path);
        }
        progress.add_samples(&name, runs.len() - before);
        if progress.is_cancelled() {
            return Err(StoreErrorKind::Cancelled).at(&path);
        }
    }

    let path = out.join(format!("{name}.arrow"));
    let header = Header {
        name: name.clone(),
        algorithm: algorithm.name().into(),
        max_nodes: layout.nodes,
        provenance: Provenance {
            size: layout.nodes,
            samples: runs.len() as u64,
            source: Some(format!("TFDS {DATASET}/{name}")),
            ..Provenance::default()
        },
        spec: layout.spec,
    };
    let summary = write(&path, &header, &runs, split, on_existing)?;
    progress.finish_set(&name);
    Ok(ImportedSet { path, summary })
}

/// Writes the samples in the order they were made in.
fn write(
    path: &Path,
    header: &Header,
    runs: &Trajectories,
    split: &str,
    on_existing: OnExisting,
) -> Result<SetSummary, StoreError> {
    let mut places = vec![0; runs.len()];
    for (place, sample) in order(split, runs.len()).into_iter().enumerate() {
        places[sample] = place;
    }
    let mut writer = SetWriter::create(path, header, on_existing)?;
    let mut part = Trajectories::new(header.spec.clone());
    for place in places {
        let run = runs.get(place);
        let cells: Vec<Cells<'_>> = run.iter().map(|(_, cells)| cells).collect();
        part.push(run.nodes(), run.steps(), &cells).expect("it was one of these runs");
        if part.bytes() >= BATCH_BYTES {
            writer.write(&part)?;
            part.clear();
        }
    }
    writer.write(&part)?;
    writer.finish()
}

/// What the records of a set hold: the features of a file, found among the probes of an algorithm.
pub struct Layout {
    spec: Spec,
    nodes: usize,
    /// The steps that hints are padded to; without hints, the most there can be.
    steps: usize,
    tensors: Tensors,
}

impl Layout {
    /// Matches the text of a `features.json` with an algorithm. Hints may be missing: other versions had fewer.
    pub fn new(text: &str, algorithm: &dyn AnyAlgorithm) -> Result<Layout, String> {
        let found = from_json(text)?;
        let mut probes = Vec::new();
        for probe in algorithm.spec() {
            match found.get(&feature_name(probe)) {
                Some(tensor) => probes.push(Probe { dtype: tensor.dense, ..probe.clone() }),
                None if probe.stage == Stage::Hint => {}
                None => return Err(format!("{} has `{}`, and there is none", algorithm.name(), feature_name(probe))),
            }
        }
        let spec = Spec::new(probes).map_err(|error| error.to_string())?;
        let shape = |location, stage: fn(Stage) -> bool| {
            let probe = spec.iter().find(|probe| probe.location == location && stage(probe.stage))?;
            found.get(&feature_name(probe)).map(|tensor: &Tensor| tensor.shape.clone())
        };
        let is_hint = |stage| stage == Stage::Hint;
        let nodes =
            [Location::Node, Location::Edge].into_iter().find_map(|location| shape(location, |stage| stage != Stage::Hint));
        let nodes = nodes.and_then(|shape| shape.first().copied()).filter(|nodes| (1..=MAX_NODES).contains(nodes));
        let nodes = nodes.ok_or_else(|| format!("no feature says how many nodes there are, from 1 to {MAX_NODES}"))?;
        let hints = [Location::Node, Location::Edge, Location::Graph].into_iter().find_map(|location| shape(location, is_hint));
        let steps = hints.map_or(u32::MAX as usize, |shape| shape.first().copied().unwrap_or(0));

        // Everything else follows from the spec, nodes and steps; every feature must be as expected, and there are no others.
        let tensors = tensors(&spec, nodes, steps);
        if let Some(name) = found.keys().find(|&name| !tensors.contains_key(name)) {
            return Err(format!("{} has no probe for the feature `{name}`", algorithm.name()));
        }
        if let Some(name) = tensors.keys().find(|&name| found.get(name) != tensors.get(name)) {
            return Err(format!("`{name}` does not have the shape or the type that it has among {nodes} nodes"));
        }
        Ok(Layout { spec, nodes, steps, tensors })
    }

    /// No samples yet.
    pub fn runs(&self) -> Trajectories {
        Trajectories::new(self.spec.clone())
    }

    /// Adds all records of a file of known length.
    pub fn read(&self, file: impl Read, length: u64, runs: &mut Trajectories) -> Result<(), StoreErrorKind> {
        let mut records = Records::new(file, length);
        for record in 0.. {
            let damaged = |error| StoreErrorKind::CorruptRecord { record, error };
            match records.next().map_err(damaged)? {
                Some(bytes) => self.push(bytes, runs).map_err(damaged)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Adds one record.
    pub fn push(&self, record: &[u8], runs: &mut Trajectories) -> Result<(), RecordError> {
        let example = Example::decode(record)?;
        let mut features = example.features.unwrap_or_default().feature;
        let mut take = |name: &str| {
            let shape = &self.tensors[name].shape;
            let expected = shape.iter().try_fold(1usize, |product, &axis| product.checked_mul(axis));
            let numbers: Vec<f64> = match features.remove(name).and_then(|feature| feature.list) {
                Some(List::Float(list)) => list.value.into_iter().map(f64::from).collect(),
                Some(List::Int64(list)) => list.value.into_iter().map(|x| x as f64).collect(),
                None => return Err(RecordError::Missing(name.into())),
            };
            if Some(numbers.len()) != expected {
                let expected = expected.unwrap_or(usize::MAX);
                return Err(RecordError::Length { feature: name.into(), expected, found: numbers.len() });
            }
            Ok(numbers)
        };
        let length = take(LENGTHS)?[0];
        let steps = node(length, self.steps.saturating_add(1)).ok_or_else(|| RecordError::Value { feature: LENGTHS.into() })?;
        let steps = steps as usize;
        let mut columns = Vec::with_capacity(self.spec.len());
        for probe in self.spec.iter() {
            let name = feature_name(probe);
            let numbers = take(&name)?;
            let kept = if probe.stage == Stage::Hint { numbers.len() / self.steps.max(1) * steps } else { numbers.len() };
            columns.push(typed(probe, self.nodes, &numbers[..kept]).ok_or(RecordError::Value { feature: name })?);
        }
        let cells: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        Ok(runs.push(self.nodes, steps, &cells)?)
    }
}

/// Dense numbers as a column; `None` where they mean nothing.
fn typed(probe: &Probe, nodes: usize, numbers: &[f64]) -> Option<Column> {
    Some(match probe.kind {
        Kind::Scalar => Column::Scalar(numbers.to_vec()),
        Kind::Mask => Column::Class(numbers.iter().map(|&number| class(number)).collect::<Option<_>>()?),
        Kind::Pointer | Kind::Permutation => {
            Column::Node(numbers.iter().map(|&number| node(number, nodes)).collect::<Option<_>>()?)
        }
        Kind::MaskOne => {
            let hot = |row| hot(row).filter(|&(_, value)| value == 1.0);
            Column::Node(numbers.chunks_exact(nodes).map(|row| node(hot(row)?.0 as f64, nodes)).collect::<Option<_>>()?)
        }
        Kind::Categorical { classes } => {
            let class = |row| match hot(row)? {
                (class, 1.0) => i8::try_from(class).ok(),
                (class, -1.0) if class == classes - 1 => Some(-1),
                _ => None,
            };
            Column::Class(numbers.chunks_exact(classes).map(class).collect::<Option<_>>()?)
        }
        Kind::CyclicPermutation => return None, // no algorithm has one
    })
}

/// Where a row is not zero, and what it is there; `None` unless that is one place.
fn hot(row: &[f64]) -> Option<(usize, f64)> {
    let mut others = row.iter().copied().enumerate().filter(|&(_, number)| number != 0.0);
    let found = others.next()?;
    others.next().is_none().then_some(found)
}

/// -1, 0 or 1. Whether a -1 may be there is for the spec to say.
fn class(number: f64) -> Option<i8> {
    [-1i8, 0, 1].into_iter().find(|&class| f64::from(class) == number)
}

/// A whole number below `count`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "looked at first")]
fn node(number: f64, count: usize) -> Option<u32> {
    (number >= 0.0 && number < count as f64 && number.fract() == 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
}
