//! Run directories: recipe, checkpoints, metrics.

pub mod directory;
mod events;
pub mod tensor_file;
