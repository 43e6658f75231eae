//! The network: encoders, processors, decoders, the rollout over algorithm steps, losses.

mod decoders;
pub(crate) mod encoders;
mod end_policy;
pub(crate) mod feedback;
mod fixpoint;
mod loss;
pub mod losses;
mod lstm;
pub mod network;
mod noise;
pub mod processors;
mod raw_features;
pub mod registries;
pub mod rollout;
mod task_modules;
