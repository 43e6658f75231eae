//! Scores of predictions.
//!
//! - [`evaluate`] and [`evaluate_hints`]: the scores of dm-clrs, to the last bit.
//! - [`validity`]: fraction of samples whose outputs are correct, whether or not the algorithm would return them.
//! - [`exact_match`]: fraction of samples whose outputs all equal the algorithm's.
//! - [`check_samples`]: both for each sample, and why an output is incorrect.
//!
//! ```
//! use clrs::score::evaluate;
//! use clrs::{Batch, Registry, Stage};
//!
//! let bfs = Registry::builtin().find("bfs")?;
//! let mut recorder = bfs.recorder();
//! bfs.record_json(r#"{"weights": [[0, 1], [1, 0]], "source": 0}"#, &mut recorder)?;
//! let truth = Batch::new(&[recorder.trajectories().get(0)], 0)?;
//! let predicted = truth.get("pi").expect("an output");
//! let scores = evaluate(&truth, &[("pi", predicted)])?;
//! assert_eq!(scores.score, 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evaluation;
mod samples;

use crate::batch::BatchError;

pub use evaluation::{HintScore, HintScorer, Scores, evaluate, evaluate_hints};
pub use samples::{SampleResult, check_samples, exact_match, hard_decode, validity};

/// Predictions that cannot be scored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum ScoreError {
    #[error("no prediction for `{0}`")]
    Missing(String),
    #[error("the prediction of `{probe}` has shape {found:?}, expected {expected:?}")]
    Shape { probe: String, expected: Vec<usize>, found: Vec<usize> },
    #[error("`{0}` is a permutation; apply `cyclic_permutations` or `plain_permutations` before scoring")]
    Permutation(String),
    #[error("`{0}` is a cyclic permutation without a mask of its first node")]
    NoMask(String),
    #[error("expected predictions of {expected} samples, found {found}")]
    Samples { expected: usize, found: usize },
    #[error("the prediction of `{0}` has a value that is not a node")]
    Node(String),
    #[error("step 0 is given, not predicted")]
    GivenStep,
    #[error("a prediction for step {step}, but predicted steps are from 1 to {last}")]
    Step { step: usize, last: usize },
    #[error(transparent)]
    Batch(#[from] BatchError),
}
