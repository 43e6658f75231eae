//! Errors of data sources.

use std::path::PathBuf;

use clrs::Stage;
use clrs::batch::BatchError;
use clrs::sampling::SampleError;
use clrs::transform::TransformError;
use clrs_store::StoreError;

/// Why samples cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum DataError {
    #[error("{algorithm}: {source}")]
    Sample { algorithm: String, source: SampleError },
    #[error("{algorithm}: {source}")]
    Transform { algorithm: String, source: TransformError },
    #[error("{algorithm}: {source}")]
    Batch { algorithm: String, source: BatchError },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: not a directory, and not a version of the benchmark (clrs30@2.0.3, clrs30@1.0.0, clrs30@1.0.0-unsorted)", .0.display())]
    NoDirectory(PathBuf),
    #[error("samples drawn on the fly have no {split} set", split = .0.name())]
    OnTheFly(clrs::clrs30::Split),
    #[error("{algorithm} is not part of {version}; draw its samples on the fly, or read them from a directory of sets")]
    NotInBenchmark { algorithm: String, version: &'static str },
    #[error("`batch_size` is {batch_size}, but the training set of {algorithm} has {samples} samples")]
    BatchSize { algorithm: String, batch_size: usize, samples: usize },
    #[error("the loader has stopped after an earlier error")]
    Ended,
    #[error("{algorithm}: a sample of the training set has no steps")]
    NoSteps { algorithm: String },
    #[error("{algorithm}: the samples lack the {stage} `{probe}`, or have it with another kind than the network", stage = .stage.name())]
    MissingProbe { algorithm: String, stage: Stage, probe: String },
}
