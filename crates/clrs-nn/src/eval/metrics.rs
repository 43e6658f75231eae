//! Metrics of an evaluation, and its errors.

use clrs::batch::BatchError;
use clrs::score::ScoreError;
use clrs::transform::TransformError;
use serde::{Deserialize, Serialize};

use crate::data::dense::DenseError;
use crate::data::error::DataError;

/// Metrics of a network on a set. All are from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Mean score over the outputs, as papers report it.
    pub score: f64,
    /// Score of every output: micro-F1 of masks, accuracy of others.
    #[serde(serialize_with = "as_map", deserialize_with = "from_map")]
    pub outputs: Vec<(String, f64)>,
    /// Share of samples whose outputs are correct, whether or not they are the reference's.
    pub validity: f64,
    /// Share of samples whose outputs all equal the reference's.
    pub exact_match: f64,
}

fn as_map<S: serde::Serializer>(outputs: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(outputs.iter().map(|(name, score)| (name, score)))
}

fn from_map<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, f64)>, D::Error> {
    let map = serde_json::Map::deserialize(deserializer)?;
    let score = |value: serde_json::Value| value.as_f64().ok_or_else(|| serde::de::Error::custom("a score is a number"));
    map.into_iter().map(|(name, value)| Ok((name, score(value)?))).collect()
}

/// Why a network cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum EvalError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Score(#[from] ScoreError),
    #[error(transparent)]
    Transform(#[from] TransformError),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Dense(#[from] DenseError),
    #[error("the set has no samples")]
    NoSamples,
    #[error("a sample has no steps")]
    NoSteps,
    #[error("a sample has {nodes} nodes; the processor takes at most {max}")]
    TooManyNodes { nodes: usize, max: usize },
    #[error("`batch_size` must be at least 1")]
    BatchSize,
    #[error("sample {sample} does not exist: the set has {samples}")]
    NoSample { sample: usize, samples: usize },
    #[error("the logits of `{probe}` contain {value}")]
    NotFinite { probe: String, value: f32 },
    #[error("the network is not trained on {0}")]
    NotTrained(String),
    #[error("stopped")]
    Stopped,
}
