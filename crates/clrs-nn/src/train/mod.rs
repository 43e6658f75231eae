//! Training: plan, loop, optimizer.

mod gradients;
mod memory;
pub mod optimizer;
pub mod plan;
pub mod trainer;

pub use gradients::{Gradients, gradients};
