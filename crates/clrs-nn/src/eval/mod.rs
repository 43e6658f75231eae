//! Evaluation of trained models.

mod dump;
pub mod evaluate;
mod hint_scores;
pub mod paper;
mod predictions;
pub mod summary;
pub mod trained;
