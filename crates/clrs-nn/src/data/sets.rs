//! Fixed sets of samples, of the benchmark or of a directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clrs::clrs30::{BenchmarkSet, Split, Version};
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, Probe, Spec, Trajectories};
use clrs_store::Set;

use super::error::DataError;
use super::transform::BatchTransform;
use crate::config::data_source::DataSource;
use crate::config::recipe::Recipe;

/// Loads a complete set: generates one of the benchmark, or reads one of a directory.
///
/// # Errors
/// If the source has no such set, or it cannot be read.
pub fn load(source: &DataSource, algorithm: &'static dyn AnyAlgorithm, split: Split) -> Result<Trajectories, DataError> {
    match source {
        DataSource::OnTheFly => Err(DataError::OnTheFly(split)),
        DataSource::Benchmark(version) => {
            let set = benchmark_set(*version, algorithm, split)?;
            let failed = |source| DataError::Sample { algorithm: algorithm.name().into(), source };
            let sampler = Sampler::new(algorithm, set.size, set.seed, &set.sampler_options).map_err(failed)?;
            let samples = FixedSet::new(sampler, set.samples).map_err(failed)?.into_trajectories();
            Ok(samples.with_spec(&set.spec))
        }
        DataSource::Directory(directory) => Ok(open(directory, algorithm, split)?.read_all()?),
    }
}

/// Sets of the benchmark that have been generated, for several runs in one process. Clones share them.
///
/// ```
/// use clrs::clrs30::{Split, Version};
/// use clrs_nn::config::data_source::DataSource;
/// use clrs_nn::data::sets::SetCache;
///
/// let (sets, bfs) = (SetCache::default(), clrs::Registry::builtin().find("bfs")?);
/// for _ in 0..3 {
///     sets.load(&DataSource::Benchmark(Version::default()), bfs, Split::Val)?;
/// }
/// assert_eq!(sets.generated(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct SetCache(Arc<Mutex<BTreeMap<String, Entry>>>);

/// A set, once it is generated. Locked while it is, so that others wait for it instead of generating it too.
type Entry = Arc<Mutex<Option<Arc<Trajectories>>>>;

impl SetCache {
    /// [`load`], at most once for each set of the benchmark.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(
        &self,
        source: &DataSource,
        algorithm: &'static dyn AnyAlgorithm,
        split: Split,
    ) -> Result<Arc<Trajectories>, DataError> {
        let DataSource::Benchmark(version) = source else { return load(source, algorithm, split).map(Arc::new) };
        let name = format!("{} {} {}", version.name(), algorithm.name(), split.name());
        let entry = Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default());
        let mut entry = entry.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = &*entry {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(load(source, algorithm, split)?);
        *entry = Some(Arc::clone(&set));
        Ok(set)
    }

    /// Number of sets that were generated.
    pub fn generated(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Number of samples of a set.
pub(crate) fn count(source: &DataSource, algorithm: &'static dyn AnyAlgorithm, split: Split) -> Result<usize, DataError> {
    match source {
        DataSource::OnTheFly => Err(DataError::OnTheFly(split)),
        DataSource::Benchmark(version) => Ok(benchmark_set(*version, algorithm, split)?.samples),
        DataSource::Directory(directory) => {
            Ok(usize::try_from(open(directory, algorithm, split)?.samples()).unwrap_or(usize::MAX))
        }
    }
}

/// Largest number of nodes in the training set of an algorithm.
pub(crate) fn max_nodes(source: &DataSource, algorithm: &'static dyn AnyAlgorithm) -> Result<usize, DataError> {
    match source {
        DataSource::OnTheFly => Err(DataError::OnTheFly(Split::Train)),
        DataSource::Benchmark(version) => Ok(benchmark_set(*version, algorithm, Split::Train)?.size),
        DataSource::Directory(directory) => Ok(open(directory, algorithm, Split::Train)?.header().max_nodes),
    }
}

/// Spec of the recorded samples of an algorithm, before any transform.
pub fn recorded_spec(source: &DataSource, algorithm: &'static dyn AnyAlgorithm) -> Result<Spec, DataError> {
    match source {
        DataSource::Benchmark(version) => Ok(version.spec(algorithm)),
        DataSource::OnTheFly => Ok(Spec::from(algorithm.spec())),
        DataSource::Directory(directory) => Ok(open(directory, algorithm, Split::Train)?.header().spec.clone()),
    }
}

/// Spec of the network for an algorithm: the recorded spec after the recipe's transforms.
pub fn network_spec(recipe: &Recipe, recorded: &Spec, algorithm: &'static dyn AnyAlgorithm) -> Result<Spec, DataError> {
    let transformed = BatchTransform::new(recipe, algorithm, 0, Split::Test).spec(recorded);
    transformed.map_err(|source| DataError::Transform { algorithm: algorithm.name().into(), source })
}

/// Restricts samples to the probes of a spec.
///
/// # Errors
/// [`DataError::MissingProbe`] if the samples lack a probe, or have it with another stage, location or kind.
pub fn with_spec(samples: Arc<Trajectories>, spec: &Spec, algorithm: &dyn AnyAlgorithm) -> Result<Arc<Trajectories>, DataError> {
    if samples.spec() == spec {
        return Ok(samples);
    }
    let exists = |probe: &Probe| samples.spec().get(&probe.name).is_some_and(|other| other.same_layout(probe));
    if let Some(missing) = spec.iter().find(|probe| !exists(probe)) {
        let (algorithm, probe) = (algorithm.name().into(), missing.name.to_string());
        return Err(DataError::MissingProbe { algorithm, stage: missing.stage, probe });
    }
    Ok(Arc::new(Arc::unwrap_or_clone(samples).with_spec(spec)))
}

fn benchmark_set(version: Version, algorithm: &dyn AnyAlgorithm, split: Split) -> Result<BenchmarkSet, DataError> {
    let matches = |set: &BenchmarkSet| set.algorithm.name() == algorithm.name() && set.split == split;
    let missing = || DataError::NotInBenchmark { algorithm: algorithm.name().into(), version: version.name() };
    version.sets().into_iter().find(matches).ok_or_else(missing)
}

fn open(directory: &Path, algorithm: &dyn AnyAlgorithm, split: Split) -> Result<Set, DataError> {
    if !directory.is_dir() {
        return Err(DataError::NoDirectory(directory.into()));
    }
    Ok(Set::open(directory, algorithm.name(), split.name())?)
}
