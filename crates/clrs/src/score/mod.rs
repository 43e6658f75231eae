//! How good predictions are: the reference's scores, and two judgements it does not have.
//!
//! - [`evaluate`] and [`evaluate_hints`]: the reference's scores, to the last bit.
//! - [`validity`]: the share of samples whose outputs are *right*, whether or not they are the ones the algorithm gave.
//! - [`exact_match`]: the share of samples whose whole output is the one the algorithm gave.
//! - [`verdicts`]: both, sample by sample, and what is wrong.

mod evaluation;
mod judgement;

pub use evaluation::{HintScore, HintScorer, Scores, evaluate, evaluate_hints};
pub use judgement::{SampleResult, check_samples, exact_match, hard_decode, validity};

/// Why predictions cannot be scored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ScoreError {
    #[error("`{0}` is not predicted")]
    Missing(String),
    #[error("`{probe}` is predicted with the shape {found:?}, not {expected:?}")]
    Shape { probe: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("`{0}` is an order of the nodes: a transform has to say first how it is predicted")]
    Order(String),
    #[error("`{0}` has no mask of the first node beside it")]
    NoMask(String),
    #[error("{found} samples are predicted, not {expected}")]
    Samples { expected: usize, found: usize },
    #[error("`{0}` is predicted with a value that is no node")]
    Node(String),
}
