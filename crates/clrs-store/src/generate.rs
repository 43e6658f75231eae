//! Generates sets and writes them.
//!
//! Several sets are generated at once, and chunks of one set too where threads are idle. A set is sampled, run and written
//! in chunks of a few megabytes, so it is never in memory completely. Neither the chunks nor anything else in a file depends
//! on the number of threads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clrs::clrs30::{BenchmarkSet, Version};
use clrs::sampling::{SampleError, Sampler, SamplerOptions, Seeding};
use clrs::{AnyAlgorithm, Probe, Recorder, Spec};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::{At, StoreError, StoreErrorKind};
use crate::file::{OnExisting, create_directory, lossy_path};
pub use crate::native::Shard;
use crate::native::{Encoded, Encoder, Header, Provenance, SetReader, SetSummary, SetWriter, file_name, is_valid_set_name};
use crate::progress::Progress;

/// Everything that determines the values and the name of a set.
#[derive(Clone)]
pub struct DatasetSpec {
    /// Name of the set, and of its file.
    pub name: String,
    /// The algorithm.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// The probes that are stored.
    pub spec: Spec,
    /// Size that problems are sampled at.
    pub size: usize,
    /// Number of samples of the set, all shards together.
    pub samples: usize,
    /// Seed of the sampler.
    pub seed: u32,
    /// How samples get their random numbers.
    pub seeding: Seeding,
    /// Options of the sampler.
    pub sampler_options: SamplerOptions,
    /// The shard to generate; all samples if `None`.
    pub shard: Option<Shard>,
    /// The benchmark that the set is part of.
    pub benchmark: Option<Version>,
}

impl DatasetSpec {
    /// A set with all probes of an algorithm, default sampler options and the seeding of dm-clrs.
    pub fn new(
        name: impl Into<String>,
        algorithm: &'static dyn AnyAlgorithm,
        size: usize,
        samples: usize,
        seed: u32,
    ) -> DatasetSpec {
        DatasetSpec {
            name: name.into(),
            algorithm,
            spec: Spec::from(algorithm.spec()),
            size,
            samples,
            seed,
            seeding: Seeding::DmClrs,
            sampler_options: SamplerOptions::default(),
            shard: None,
            benchmark: None,
        }
    }

    /// A set of the benchmark.
    pub fn of_benchmark(version: Version, set: BenchmarkSet) -> DatasetSpec {
        let dataset = DatasetSpec::new(set.name(), set.algorithm, set.size, set.samples, set.seed);
        DatasetSpec { spec: set.spec, sampler_options: set.sampler_options, benchmark: Some(version), ..dataset }
    }

    /// One shard of the set. Samples of shards have independent random numbers ([`Seeding::Parallel`]): with dm-clrs's
    /// single stream, a shard would have to sample all problems before its own.
    #[must_use]
    pub fn with_shard(self, shard: Shard) -> DatasetSpec {
        DatasetSpec { shard: Some(shard), seeding: Seeding::Parallel, ..self }
    }

    /// Path of the file of the set, or of its shard, in a directory.
    pub fn path(&self, dir: &Path) -> PathBuf {
        dir.join(file_name(&self.name, self.shard))
    }

    /// Indices of the samples to generate: all of them, or those of the shard.
    pub fn sample_range(&self) -> Range<usize> {
        let Some(shard) = self.shard else { return 0..self.samples };
        let Range { start, end } = shard.range(self.samples as u64);
        let index = |index: u64| usize::try_from(index).unwrap_or(self.samples);
        index(start)..index(end)
    }

    /// Upper bound of the number of cells: an estimate of the work.
    fn max_cells(&self) -> usize {
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
                shard: self.shard,
                ..Provenance::default()
            },
        }
    }
}

/// Options of [`generate`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GenerateOptions {
    /// What to do with a file that is not the requested set, or is corrupt. Complete sets that equal the request are kept.
    pub on_existing: OnExisting,
    /// Number of threads; 0 for as many as cores.
    pub threads: usize,
}

/// A set that was generated, or existed already.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GeneratedSet {
    /// Path of the file.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// Contents of the file.
    #[serde(flatten)]
    pub summary: SetSummary,
    /// Whether the same set existed already, complete and with the values it was written with.
    pub cached: bool,
}

/// Why sets could not be generated.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum GenerateError {
    #[error("{name}: {error}")]
    Sample {
        name: String,
        #[source]
        error: SampleError,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: exists and is another set, {difference}", .path.display())]
    Conflict { path: PathBuf, difference: String },
    #[error("two sets have the name {0}")]
    DuplicateName(String),
    #[error("`{0}` is not a valid name for a set: use letters, digits, _, -, . and @, and no . at the start")]
    InvalidName(String),
    #[error("{name}: shard {index} of {count} does not exist")]
    InvalidShard { name: String, index: u32, count: u32 },
    #[error("{name}: shards need parallel seeding, since the samples of dm-clrs are one stream of random numbers")]
    ShardNeedsParallelSeeding { name: String },
    #[error("cancelled")]
    Cancelled,
    #[error("cannot start threads: {0}")]
    Threads(String),
}

impl GenerateError {
    /// Whether [`OnExisting::Replace`] resolves the error: the file exists and is another set, or is corrupt.
    pub fn is_resolved_by_replacing(&self) -> bool {
        match self {
            GenerateError::Conflict { .. } => true,
            GenerateError::Store(error) => error.kind.is_resolved_by_replacing(),
            _ => false,
        }
    }
}

/// Generates sets into a directory, which is created if necessary.
///
/// Sets that exist already, complete and with the same settings, are kept after their values have been compared with their
/// content hash; so an interrupted call is completed by repeating it. Sets that were written before an error or a
/// cancellation stay.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
///
/// let dir = tempfile::tempdir()?;
/// let registry = Registry::builtin();
/// let dataset = DatasetSpec::new("heapsort_train", registry.find("heapsort")?, 8, 5, 1);
/// let sets = generate(&[dataset.clone()], dir.path(), GenerateOptions::default(), &())?;
/// assert_eq!((sets[0].summary.samples, sets[0].cached), (5, false));
/// let again = generate(&[dataset], dir.path(), GenerateOptions::default(), &())?;
/// assert_eq!((again[0].summary, again[0].cached), (sets[0].summary, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate(
    datasets: &[DatasetSpec],
    dir: &Path,
    options: GenerateOptions,
    progress: &dyn Progress,
) -> Result<Vec<GeneratedSet>, GenerateError> {
    validate(datasets)?;
    create_directory(dir)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| GenerateError::Threads(error.to_string()))?;
    // Threads without a set work on chunks of other sets. Few chunks are in memory at a time.
    let concurrent_chunks = (4 * pool.current_num_threads() / datasets.len().max(1)).clamp(1, pool.current_num_threads());
    let mut order: Vec<usize> = (0..datasets.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(datasets[index].max_cells()));
    let mut sets: Vec<(usize, GeneratedSet)> = pool.install(|| {
        // One at a time and the largest first, so that no thread is left with a large one at the end.
        let generate = |&index: &usize| {
            let set = generate_set(&datasets[index], dir, options.on_existing, concurrent_chunks, progress)?;
            Ok((index, set))
        };
        order.iter().par_bridge().map(generate).collect::<Result<_, GenerateError>>()
    })?;
    sets.sort_by_key(|(index, _)| *index);
    Ok(sets.into_iter().map(|(_, set)| set).collect())
}

/// Checks what can be checked before any work.
fn validate(datasets: &[DatasetSpec]) -> Result<(), GenerateError> {
    let mut files = BTreeSet::new();
    for dataset in datasets {
        if !files.insert(file_name(&dataset.name, dataset.shard)) {
            return Err(GenerateError::DuplicateName(dataset.name.clone()));
        }
        if !is_valid_set_name(&dataset.name) {
            return Err(GenerateError::InvalidName(dataset.name.clone()));
        }
        if let Some(Shard { index, count }) = dataset.shard.filter(|shard| shard.index >= shard.count) {
            return Err(GenerateError::InvalidShard { name: dataset.name.clone(), index, count });
        }
        if dataset.shard.is_some() && dataset.seeding == Seeding::DmClrs {
            return Err(GenerateError::ShardNeedsParallelSeeding { name: dataset.name.clone() });
        }
    }
    Ok(())
}

/// Memory of a chunk, which becomes a record batch: enough for compression, little enough to have several.
const CHUNK_BYTES: usize = 4 << 20;
/// Number of samples from which the memory of one is estimated.
const FIRST_CHUNK: usize = 4;
/// Maximum number of samples of a chunk: problems are in memory until they are run.
const MAX_CHUNK_SAMPLES: usize = 4096;

fn generate_set(
    dataset: &DatasetSpec,
    dir: &Path,
    on_existing: OnExisting,
    concurrent_chunks: usize,
    progress: &dyn Progress,
) -> Result<GeneratedSet, GenerateError> {
    let path = dataset.path(dir);
    if path.exists() {
        match check_cached(dataset, &path, progress) {
            Ok(summary) => {
                progress.finish_set(&dataset.name);
                return Ok(GeneratedSet { path, summary, cached: true });
            }
            Err(error) if on_existing == OnExisting::Replace && error.is_resolved_by_replacing() => {}
            Err(error) => return Err(error),
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

    // The first samples determine the width of nodes and the number of samples of a chunk; neither depends on threads.
    let mut recorder = dataset.algorithm.recorder();
    let sampled_first = FIRST_CHUNK.min(count);
    sampler.record(sampled_first, &mut recorder).map_err(|error| sampled(error.into()))?;
    let nodes = recorder.trajectories().iter().map(|sample| sample.nodes()).max().unwrap_or(dataset.size);
    let chunk = (CHUNK_BYTES * sampled_first.max(1) / recorder.trajectories().bytes().max(1)).clamp(1, MAX_CHUNK_SAMPLES);
    let mut writer = SetWriter::create(&path, &dataset.header(nodes), on_existing)?;
    let encoder = writer.encoder();
    writer.append(encode(dataset, &encoder, &mut recorder).at(&path)?)?;
    progress.add_samples(&dataset.name, sampled_first);

    let mut recorders = vec![recorder];
    let mut left = count - sampled_first;
    while left > 0 {
        if progress.is_cancelled() {
            return Err(GenerateError::Cancelled);
        }
        let now = left.min(chunk * concurrent_chunks);
        sampler.draw(now).map_err(|error| sampled(error.into()))?;
        let chunks: Vec<Range<usize>> = (0..now).step_by(chunk).map(|start| start..now.min(start + chunk)).collect();
        let run = |recorder: &mut Recorder, samples: &Range<usize>| {
            recorder.clear();
            samples
                .clone()
                .try_for_each(|sample| sampler.problems().record(sample, recorder))
                .map_err(|error| sampled(error.into()))?;
            Ok::<_, GenerateError>(encode(dataset, &encoder, recorder).at(&path)?)
        };
        recorders.resize_with(chunks.len().max(recorders.len()), || dataset.algorithm.recorder());
        let chunks = recorders.par_iter_mut().zip(&chunks).map(|(recorder, samples)| run(recorder, samples));
        let encoded = chunks.collect::<Result<Vec<_>, _>>()?;
        encoded.into_iter().try_for_each(|encoded| writer.append(encoded))?;
        left -= now;
        progress.add_samples(&dataset.name, now);
    }
    let summary = writer.finish()?;
    progress.finish_set(&dataset.name);
    Ok(GeneratedSet { path, summary, cached: false })
}

/// Encodes the recorded trajectories with the probes of the set.
fn encode(dataset: &DatasetSpec, encoder: &Encoder, recorder: &mut Recorder) -> Result<Encoded, StoreErrorKind> {
    if recorder.trajectories().spec() == &dataset.spec {
        return encoder.encode(recorder.trajectories());
    }
    let recorded = std::mem::replace(recorder, dataset.algorithm.recorder());
    encoder.encode(&recorded.into_trajectories().with_spec(&dataset.spec))
}

/// Contents of an existing file, if it is the requested set and complete. All of its values are read to compare the hash.
fn check_cached(dataset: &DatasetSpec, path: &Path, progress: &dyn Progress) -> Result<SetSummary, GenerateError> {
    let mut reader = SetReader::open(path)?;
    let header = reader.header();
    let requested = dataset.header(header.max_nodes);
    let conflict = |difference: String| GenerateError::Conflict { path: path.into(), difference };
    let (found, expected) = (&header.provenance, &requested.provenance);
    if header.name != requested.name {
        return Err(conflict(header.name.clone()));
    }
    if header.algorithm != requested.algorithm {
        return Err(conflict(format!("of {}", header.algorithm)));
    }
    if (&found.benchmark, found.size, found.samples, found.seed, found.seeding, &found.options, &found.shard)
        != (
            &expected.benchmark,
            expected.size,
            expected.samples,
            expected.seed,
            expected.seeding,
            &expected.options,
            &expected.shard,
        )
        || !header.spec.same_probes(&requested.spec)
    {
        return Err(conflict("generated with other settings".into()));
    }
    let bytes = path.metadata().at(path)?.len();
    let (hash, samples) = (reader.hash(), reader.samples());
    for batch in reader.batches() {
        if progress.is_cancelled() {
            return Err(GenerateError::Cancelled);
        }
        batch?;
    }
    // Not before: a corrupt set may be generated again, and is counted then.
    progress.add_samples(&dataset.name, dataset.sample_range().len());
    Ok(SetSummary { hash, samples, bytes })
}
