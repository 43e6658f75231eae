//! Run directories: recipe, checkpoints, metrics, status, provenance.

pub mod checkpoint;
pub mod directory;
pub mod error;
pub mod machine;
pub mod metrics;
pub mod status;
pub mod tensor_file;
mod tensorboard;
