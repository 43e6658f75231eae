//! Sets to evaluate on.

use std::fmt;
use std::sync::Arc;

use clrs::clrs30::Split;
use clrs::sampling::{FixedSet, Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Trajectories};
use serde::{Deserialize, Serialize};

use super::error::DataError;
use super::sets::{self, SetCache};
use crate::config::data_source::DataSource;

/// A set of any algorithm to evaluate on.
///
/// ```
/// use clrs_nn::data::eval_set::EvalSet;
///
/// let bfs = clrs::Registry::builtin().find("bfs")?;
/// let set = EvalSet::sampled(8);
/// assert_eq!(set.to_string(), "n=8");
/// assert_eq!(set.load(bfs)?.len(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EvalSet {
    /// A set of the benchmark or of a directory.
    Fixed {
        /// Where it comes from.
        data: DataSource,
        /// Which split.
        split: Split,
    },
    /// Samples drawn for the evaluation.
    Sampled {
        /// Size of the problems.
        size: usize,
        /// Number of samples; `None` for as many as the benchmark's test set has.
        count: Option<usize>,
        /// Seed of the samples.
        seed: u32,
        /// Options of the distribution.
        options: SamplerOptions,
    },
}

/// Samples of the benchmark's test sets, before the algorithm's multiplier.
const TEST_SAMPLES: usize = 32;

/// Default seed of sampled sets; 1, 2 and 3 are those of the benchmark's sets.
const SEED: u32 = 4;

impl EvalSet {
    /// The benchmark's test set, or another split or source.
    pub fn fixed(data: DataSource, split: Split) -> EvalSet {
        EvalSet::Fixed { data, split }
    }

    /// Samples of a size, with the default count, seed and options.
    pub fn sampled(size: usize) -> EvalSet {
        EvalSet::sampled_count(size, None)
    }

    /// [`EvalSet::sampled`] with a number of samples; `None` for as many as the benchmark's test set has.
    pub fn sampled_count(size: usize, count: Option<usize>) -> EvalSet {
        EvalSet::Sampled { size, count, seed: SEED, options: SamplerOptions::default() }
    }

    /// The same set, with options of the distribution where it has none of that name.
    #[must_use]
    pub fn or_options(self, defaults: &SamplerOptions) -> EvalSet {
        match self {
            EvalSet::Sampled { size, count, seed, options } => {
                EvalSet::Sampled { size, count, seed, options: options.or(defaults) }
            }
            fixed @ EvalSet::Fixed { .. } => fixed,
        }
    }

    /// Number of samples of an algorithm. Finds most errors of the set before any sample is generated.
    ///
    /// # Errors
    /// If the set does not exist, or samples of this size cannot be drawn.
    pub fn count(&self, algorithm: &'static dyn AnyAlgorithm) -> Result<usize, DataError> {
        match self {
            EvalSet::Fixed { data, split } => sets::count(data, algorithm, *split),
            EvalSet::Sampled { count, size, seed, options } => {
                sampler(algorithm, *size, *seed, options)?;
                Ok(count.unwrap_or_else(|| TEST_SAMPLES * algorithm.eval_multiplier()))
            }
        }
    }

    /// Loads or draws the samples of an algorithm.
    ///
    /// # Errors
    /// If the set does not exist or cannot be read, or samples cannot be drawn.
    pub fn load(&self, algorithm: &'static dyn AnyAlgorithm) -> Result<Trajectories, DataError> {
        self.load_from(algorithm, &SetCache::default()).map(Arc::unwrap_or_clone)
    }

    /// [`EvalSet::load`], with sets of the benchmark from a cache.
    ///
    /// # Errors
    /// As [`EvalSet::load`].
    pub fn load_from(&self, algorithm: &'static dyn AnyAlgorithm, sets: &SetCache) -> Result<Arc<Trajectories>, DataError> {
        match self {
            EvalSet::Fixed { data, split } => sets.load(data, algorithm, *split),
            EvalSet::Sampled { size, seed, options, .. } => {
                let set = FixedSet::new(sampler(algorithm, *size, *seed, options)?, self.count(algorithm)?);
                let set = set.map_err(|source| DataError::Sample { algorithm: algorithm.name().into(), source })?;
                Ok(Arc::new(set.into_trajectories()))
            }
        }
    }
}

fn sampler(algorithm: &'static dyn AnyAlgorithm, size: usize, seed: u32, options: &SamplerOptions) -> Result<Sampler, DataError> {
    Sampler::new(algorithm, size, seed, options)
        .map_err(|source| DataError::Sample { algorithm: algorithm.name().into(), source })
}

impl fmt::Display for EvalSet {
    /// `clrs30@2.0.3 test`, `n=64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalSet::Fixed { data, split } => write!(f, "{data} {}", split.name()),
            EvalSet::Sampled { size, .. } => write!(f, "n={size}"),
        }
    }
}
