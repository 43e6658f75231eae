//! Training.

pub mod optimizer;
pub mod trainer;
