//! Run directories: recipe, checkpoints, metrics, status.

pub mod checkpoint;
pub mod directory;
pub mod error;
pub mod status;
pub mod tensor_file;
mod tensorboard;
