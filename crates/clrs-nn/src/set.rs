//! Sets that networks are judged on.

use std::fmt;
use std::path::Path;

use clrs::clrs30::{Split, Version};
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, SamplerOptions, Trajectories};

use crate::data::{self, DataError};
use crate::paper::Table;

/// Samples of any algorithm to judge a network on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgedSet {
    /// A version of the benchmark, or a folder of sets named `ALGORITHM_SPLIT`.
    Fixed {
        /// Which.
        data: String,
        /// Which part of it.
        split: Split,
    },
    /// Drawn for the purpose.
    Drawn {
        /// The size of problems.
        size: usize,
        /// How many; as many as the benchmark's tests have, if it is not said.
        count: Option<usize>,
        /// The seed of the one stream they are drawn from.
        seed: u32,
        /// Options of their distribution.
        options: SamplerOptions,
    },
}

/// Samples of a test of the benchmark, where a sample says much.
const TEST_SAMPLES: usize = 32;

impl JudgedSet {
    /// How many samples of an algorithm there are. What is wrong with the set is said here, before any is made.
    pub fn samples(&self, algorithm: &'static dyn AnyAlgorithm) -> Result<usize, DataError> {
        match self {
            JudgedSet::Fixed { data, split } => match data.parse::<Version>() {
                Ok(version) => Ok(data::benchmark_set(version, algorithm, *split)?.samples),
                Err(_) if Path::new(data).is_dir() => {
                    let reader = data::open_set(&data::set_path(Path::new(data), algorithm, *split), algorithm)?;
                    Ok(usize::try_from(reader.samples()).unwrap_or(usize::MAX))
                }
                Err(_) => Err(DataError::Unknown(data.clone())),
            },
            JudgedSet::Drawn { count, .. } => {
                self.sampler(algorithm)?;
                Ok(count.unwrap_or_else(|| TEST_SAMPLES * algorithm.eval_multiplier()))
            }
        }
    }

    /// The samples of an algorithm.
    pub fn make(&self, algorithm: &'static dyn AnyAlgorithm) -> Result<Trajectories, DataError> {
        match self {
            JudgedSet::Fixed { data, split } => data::fixed(data, algorithm, *split),
            JudgedSet::Drawn { .. } => {
                let set = FixedSet::new(self.sampler(algorithm)?, self.samples(algorithm)?);
                Ok(set.map_err(|error| DataError::Sample { algorithm: algorithm.name().into(), error })?.into_trajectories())
            }
        }
    }

    /// Which numbers of the paper are of such a set.
    pub fn paper_table(&self) -> Option<Table> {
        match self {
            JudgedSet::Fixed { data, split: Split::Test } if data.parse::<Version>().is_ok() => Some(Table::Test),
            JudgedSet::Fixed { data, split: Split::Val } if data.parse::<Version>().is_ok() => Some(Table::Validation),
            _ => None,
        }
    }

    fn sampler(&self, algorithm: &'static dyn AnyAlgorithm) -> Result<Sampler, DataError> {
        let JudgedSet::Drawn { size, seed, options, .. } = self else { unreachable!("only these are drawn") };
        Sampler::new(algorithm, *size, *seed, options)
            .map_err(|error| DataError::Sample { algorithm: algorithm.name().into(), error })
    }
}

impl fmt::Display for JudgedSet {
    /// `clrs30@2.0.3 test`, `n=64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JudgedSet::Fixed { data, split } => {
                let name = data.parse::<Version>().map_or(data.as_str(), |version| version.name());
                write!(f, "{name} {}", split.name())
            }
            JudgedSet::Drawn { size, .. } => write!(f, "n={size}"),
        }
    }
}
