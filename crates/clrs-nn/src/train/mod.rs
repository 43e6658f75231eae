//! Training: plan, loop, optimizer.

mod gradients;
mod memory;
pub mod model;
pub mod optimizer;
pub mod plan;
pub mod trainer;

pub use gradients::{Gradients, average, gradients, update_streams};
