//! Execution of forward and backward passes: parameters, folded weights, features, fused operations, devices.

pub mod adjacency;
pub mod context;
pub mod device;
pub mod features;
pub(crate) mod fused;
pub mod isa;
pub mod parallel;
pub mod parameters;
pub(crate) mod tape;
pub mod tensor;
pub mod weights;
