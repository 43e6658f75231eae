//! Where the samples of a run come from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clrs::clrs30::{UnknownVersion, Version};
use clrs::{AnyAlgorithm, SamplerOptions};
use serde::{Deserialize, Serialize};

/// Where samples come from. A string in recipes and on the command line.
///
/// ```
/// use clrs_nn::config::data_source::DataSource;
///
/// assert_eq!("on_the_fly".parse(), Ok(DataSource::OnTheFly));
/// assert_eq!("clrs30@1.0.0".parse::<DataSource>().unwrap().to_string(), "clrs30@1.0.0");
/// assert_eq!("my/data".parse(), Ok(DataSource::Directory("my/data".into())));
/// assert!("clrs30@9".parse::<DataSource>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum DataSource {
    /// A version of the benchmark, generated in memory.
    Benchmark(Version),
    /// Samples drawn while training.
    OnTheFly,
    /// A directory of sets: files `ALGORITHM_SPLIT.arrow`, or their shards.
    Directory(PathBuf),
}

/// The name of [`DataSource::OnTheFly`].
pub const ON_THE_FLY: &str = "on_the_fly";

impl DataSource {
    /// The version, if this is the benchmark.
    pub fn version(&self) -> Option<Version> {
        if let DataSource::Benchmark(version) = self { Some(*version) } else { None }
    }

    /// Options of an algorithm's sampler that give samples as in this source: those of its version of the benchmark.
    pub fn sampler_options(&self, algorithm: &dyn AnyAlgorithm) -> SamplerOptions {
        self.version().map_or_else(SamplerOptions::default, |version| version.sampler_options(algorithm))
    }

    /// The same source with an absolute path, which does not depend on the working directory.
    #[must_use]
    pub fn absolute(self) -> DataSource {
        match self {
            DataSource::Directory(path) => DataSource::Directory(std::path::absolute(&path).unwrap_or(path)),
            other => other,
        }
    }
}

impl FromStr for DataSource {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<DataSource, UnknownVersion> {
        match text.parse::<Version>() {
            Ok(version) => Ok(DataSource::Benchmark(version)),
            // Not taken for a directory: `clrs30@` is the prefix of versions.
            Err(unknown) if text.starts_with("clrs30@") => Err(unknown),
            Err(_) if text == ON_THE_FLY => Ok(DataSource::OnTheFly),
            Err(_) => Ok(DataSource::Directory(text.into())),
        }
    }
}

impl TryFrom<String> for DataSource {
    type Error = UnknownVersion;

    fn try_from(text: String) -> Result<DataSource, UnknownVersion> {
        text.parse()
    }
}

impl From<DataSource> for String {
    fn from(source: DataSource) -> String {
        source.to_string()
    }
}

impl fmt::Display for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataSource::Benchmark(version) => f.write_str(version.name()),
            DataSource::OnTheFly => f.write_str(ON_THE_FLY),
            DataSource::Directory(path) => write!(f, "{}", path.display()),
        }
    }
}
