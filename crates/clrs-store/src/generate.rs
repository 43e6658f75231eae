//! Makes sets and writes them: several at once, and pieces of a set too where threads are left.
//!
//! A set is drawn, run and written in pieces of a few megabytes, so it is never whole in memory. Neither the pieces nor
//! anything else in a file depends on the number of threads.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clrs::clrs30::{BenchmarkSet, Version};
use clrs::sampling::{SampleError, Sampler, SamplerOptions, Seeding};
use clrs::{AnyAlgorithm, Probe, Recorder, Spec};
use rayon::prelude::*;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::OnExisting;
use crate::native::{Encoded, Encoder, Header, Provenance, SetReader, SetSummary, SetWriter, is_valid_set_name};
use crate::progress::Progress;

/// A part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, counted from 0.
    pub index: u32,
    /// Number of shards of the set.
    pub count: u32,
}

/// Everything that decides the values of a set, and its name.
#[derive(Clone)]
pub struct DatasetSpec {
    /// Name of the set, and of its file.
    pub name: String,
    /// Whose runs it holds.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// The probes that are kept.
    pub spec: Spec,
    /// The size that problems are drawn at.
    pub size: usize,
    /// How many samples the set has, over all its shards.
    pub samples: usize,
    /// The seed.
    pub seed: u32,
    /// How samples get their random numbers.
    pub seeding: Seeding,
    /// Options of the distribution.
    pub sampler_options: SamplerOptions,
    /// The part to make.
    pub shard: Option<Shard>,
    /// The benchmark it belongs to.
    pub benchmark: Option<Version>,
}

impl DatasetSpec {
    /// A set of the benchmark.
    pub fn of_benchmark(version: Version, set: BenchmarkSet) -> DatasetSpec {
        DatasetSpec {
            name: set.name(),
            algorithm: set.algorithm,
            spec: set.spec,
            size: set.size,
            samples: set.samples,
            seed: set.seed,
            seeding: Seeding::Reference,
            sampler_options: SamplerOptions::default(),
            shard: None,
            benchmark: Some(version),
        }
    }

    /// Where the set, or the shard of it, is written.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join(match self.shard {
            None => format!("{}.arrow", self.name),
            Some(Shard { index, count }) => format!("{}-{index:05}-of-{count:05}.arrow", self.name),
        })
    }

    /// Indices of the samples to generate: all of them, or those of the shard.
    pub fn sample_range(&self) -> Range<usize> {
        let Some(Shard { index, count }) = self.shard else { return 0..self.samples };
        let start = |index: u32| (self.samples as u128 * u128::from(index) / u128::from(count)) as usize;
        start(index)..start(index + 1)
    }

    /// No more cells than this are written: a guess at the work.
    fn most_cells(&self) -> usize {
        let steps = self.algorithm.max_steps(self.size);
        let row = |probe: &Probe| probe.rows(steps).saturating_mul(probe.width(self.size));
        self.spec.iter().map(row).fold(0, usize::saturating_add).saturating_mul(self.sample_range().len())
    }

    fn header(&self, max_nodes: usize) -> Header {
        Header {
            name: self.name.clone(),
            algorithm: self.algorithm.name().into(),
            max_nodes,
            spec: self.spec.clone(),
            provenance: Provenance {
                benchmark: self.benchmark.map(|version| version.name().into()),
                size: self.size,
                samples: self.samples as u64,
                seed: self.seed,
                seeding: self.seeding,
                options: self.sampler_options.iter().map(|(name, value)| (name.into(), value.into())).collect(),
                shard: self.shard.map(|Shard { index, count }| (index, count)),
                ..Provenance::default()
            },
        }
    }
}

/// How sets are made.
#[derive(Clone, Copy, Debug, Default)]
pub struct GenerateOptions {
    /// What is done where a file is there that is not the set.
    pub on_existing: OnExisting,
    /// Threads to work on; 0 for as many as there are cores.
    pub threads: usize,
}

/// What became of a dataset.
#[derive(Clone, Debug)]
pub struct GeneratedSet {
    /// Its file.
    pub path: PathBuf,
    /// What the file holds.
    pub summary: SetSummary,
    /// Whether it was there already, whole.
    pub cached: bool,
}

/// Why sets could not be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GenerateError {
    #[error("{name}: {error}")]
    Sample { name: String, error: SampleError },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: another set is there, {difference}; choose another folder or name, or replace it", .path.display())]
    Conflict { path: PathBuf, difference: String },
    #[error("two sets are called {0}: give them names of their own")]
    DuplicateName(String),
    #[error("`{0}` cannot be the name of a set: letters, digits, _ - . and @ can, and no . at the start")]
    InvalidName(String),
    #[error("stopped")]
    Cancelled,
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// Makes every set that is not there yet, whole and the same, and the folder if need be. What was made before an error, or a stop, stays.
pub fn generate(
    datasets: &[DatasetSpec],
    folder: &Path,
    options: GenerateOptions,
    progress: &dyn Progress,
) -> Result<Vec<GeneratedSet>, GenerateError> {
    let mut names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(GenerateError::DuplicateName(twice[0].into()));
    }
    if let Some(dataset) = datasets.iter().find(|dataset| !is_valid_set_name(&dataset.name)) {
        return Err(GenerateError::InvalidName(dataset.name.clone()));
    }
    std::fs::create_dir_all(folder).at(folder)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| GenerateError::Threads(error.to_string()))?;
    // Threads without a set of their own help with the pieces of others'. Few pieces are in memory at a time.
    let at_once = (4 * pool.current_num_threads() / datasets.len().max(1)).clamp(1, pool.current_num_threads());
    let mut order: Vec<usize> = (0..datasets.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(datasets[place].most_cells()));
    let mut made: Vec<(usize, GeneratedSet)> = pool.install(|| {
        // One at a time and the largest first, so that no thread is left with a large one at the end.
        let make = |&place: &usize| Ok((place, make_set(&datasets[place], folder, options.on_existing, at_once, progress)?));
        order.iter().par_bridge().map(make).collect::<Result<_, GenerateError>>()
    })?;
    made.sort_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, made)| made).collect())
}

/// What a record batch should weigh: enough for compression, little enough for memory.
const PIECE_BYTES: usize = 4 << 20;
/// Samples that show how much one weighs.
const FIRST_PIECE: usize = 4;
/// Problems are kept until they are run: not too many at once.
const MOST_SAMPLES: usize = 4096;

fn make_set(
    dataset: &DatasetSpec,
    folder: &Path,
    on_existing: OnExisting,
    at_once: usize,
    progress: &dyn Progress,
) -> Result<GeneratedSet, GenerateError> {
    let path = dataset.path(folder);
    if path.exists() {
        match is_there(dataset, &path) {
            Ok(summary) => {
                let set = GeneratedSet { path, summary, cached: true };
                progress.add_samples(&dataset.name, dataset.sample_range().len());
                progress.finish_set(&dataset.name);
                return Ok(set);
            }
            Err(error) if on_existing == OnExisting::Fail => return Err(error),
            Err(_) => {}
        }
    }
    let sampled = |error: SampleError| GenerateError::Sample { name: dataset.name.clone(), error };
    let Range { start: first, end } = dataset.sample_range();
    let count = end - first;
    let sampler = Sampler::with_seeding(
        dataset.algorithm,
        dataset.size,
        dataset.seed,
        &dataset.sampler_options,
        dataset.seeding,
        first as u64,
    );
    let mut sampler = sampler.map_err(sampled)?;

    // The first samples say how wide nodes are, and how many samples make a piece; neither depends on threads.
    let mut recorder = dataset.algorithm.recorder();
    let begin = FIRST_PIECE.min(count);
    sampler.record(begin, &mut recorder).map_err(|error| sampled(error.into()))?;
    let nodes = recorder.trajectories().iter().map(|run| run.nodes()).max().unwrap_or(dataset.size);
    let piece = (PIECE_BYTES * begin.max(1) / recorder.trajectories().bytes().max(1)).clamp(1, MOST_SAMPLES);
    let mut writer = SetWriter::create(&path, &dataset.header(nodes), on_existing)?;
    let encoder = writer.encoder();
    writer.append(encode(dataset, &encoder, &mut recorder).at(&path)?)?;
    progress.add_samples(&dataset.name, begin);

    let mut recorders = vec![recorder];
    let mut left = count - begin;
    while left > 0 {
        if progress.is_cancelled() {
            return Err(GenerateError::Cancelled);
        }
        let now = left.min(piece * at_once);
        sampler.draw(now).map_err(|error| sampled(error.into()))?;
        let pieces: Vec<Range<usize>> = (0..now).step_by(piece).map(|start| start..now.min(start + piece)).collect();
        let run = |recorder: &mut Recorder, places: &Range<usize>| {
            recorder.clear();
            places
                .clone()
                .try_for_each(|place| sampler.problems().record(place, recorder))
                .map_err(|error| sampled(error.into()))?;
            Ok::<_, GenerateError>(encode(dataset, &encoder, recorder).at(&path)?)
        };
        recorders.resize_with(pieces.len().max(recorders.len()), || dataset.algorithm.recorder());
        let pieces = recorders.par_iter_mut().zip(&pieces).map(|(recorder, places)| run(recorder, places));
        let encoded = pieces.collect::<Result<Vec<_>, _>>()?;
        encoded.into_iter().try_for_each(|encoded| writer.append(encoded))?;
        left -= now;
        progress.add_samples(&dataset.name, now);
    }
    let summary = writer.finish()?;
    progress.finish_set(&dataset.name);
    Ok(GeneratedSet { path, summary, cached: false })
}

/// Compresses what was recorded, under the dataset's spec.
fn encode(dataset: &DatasetSpec, encoder: &Encoder, recorder: &mut Recorder) -> Result<Encoded, StoreErrorKind> {
    if recorder.trajectories().spec() == &dataset.spec {
        return encoder.encode(recorder.trajectories());
    }
    let recorded = std::mem::replace(recorder, dataset.algorithm.recorder());
    encoder.encode(&recorded.into_trajectories().with_spec(&dataset.spec))
}

/// What the file holds, if it is the planned set, whole.
fn is_there(dataset: &DatasetSpec, path: &Path) -> Result<SetSummary, GenerateError> {
    let reader = SetReader::open(path)?;
    let header = reader.header();
    let planned = dataset.header(header.max_nodes);
    let other = |difference: &str| GenerateError::Conflict { path: path.into(), difference: difference.into() };
    let (there, ours) = (&header.provenance, &planned.provenance);
    if header.algorithm != planned.algorithm {
        return Err(other(&format!("of {}", header.algorithm)));
    }
    if (&there.benchmark, there.size, there.samples, there.seed, there.seeding, &there.options, &there.shard)
        != (&ours.benchmark, ours.size, ours.samples, ours.seed, ours.seeding, &ours.options, &ours.shard)
        || header.spec != planned.spec
    {
        return Err(other("made with other settings"));
    }
    let bytes = path.metadata().at(path)?.len();
    Ok(SetSummary { hash: reader.hash(), samples: reader.samples(), bytes })
}
