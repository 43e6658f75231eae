//! Evaluation: metrics, predicted trajectories, hint scores, trained models.

pub(crate) mod batches;
mod dump;
pub mod evaluate;
mod hint_scores;
pub mod metrics;
pub mod predict;
mod predictions;
pub mod stored;
pub mod trained;
pub mod trajectories;
