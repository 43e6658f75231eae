//! The network: encoders, processors, decoders, the rollout over algorithm steps, losses.

pub mod chunked;
mod decoders;
pub(crate) mod encoders;
pub(crate) mod feedback;
mod fixpoint;
mod loss;
mod lstm;
pub mod network;
pub mod processors;
mod raw_features;
pub(crate) mod task_modules;
