//! Evaluation: metrics, predicted trajectories, hint scores, trained models, summaries over seeds.

pub(crate) mod batches;
mod dump;
pub mod evaluate;
mod hint_scores;
pub mod metrics;
pub mod paper;
mod predictions;
pub mod summary;
pub mod trained;
pub mod trajectories;
