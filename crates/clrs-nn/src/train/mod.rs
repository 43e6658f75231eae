//! Training: plan, loop, optimizer.

mod gradients;
pub mod optimizer;
pub mod plan;
pub mod trainer;

pub use gradients::{Gradients, gradients};
