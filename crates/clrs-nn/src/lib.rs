//! Networks that learn to execute algorithms: the encode-process-decode baselines of the CLRS benchmark.
//!
//! Encoders, decoders and losses are derived from the [`Spec`](clrs::Spec) of an algorithm; this crate names no algorithm.
//!
//! | module | responsibility |
//! |---|---|
//! | [`config`] | recipes and model configuration, parsed and validated once |
//! | [`data`] | batches and chunks as the network reads them, loaders, prefetching, evaluation sets |
//! | [`exec`] | parameters, forward context, folded weights, fused CPU operations, devices |
//! | [`model`] | the network: encoders, processors, decoders, rollout, losses |
//! | [`run`] | run directories: checkpoints, metrics, `TensorBoard` events, status |
//! | [`eval`] | evaluation, predicted trajectories, hint scores, trained models |
//! | [`train`] | the training loop and the optimizer |
//! | [`parity`] | comparison with fixtures recorded from dm-clrs, FLOP counts |
//!
//! A module uses only modules above it in this table.

pub mod config;
pub mod data;
pub mod eval;
pub mod exec;
pub mod model;
pub mod parity;
pub mod run;
pub mod train;

pub use config::model::ModelConfig;
pub use config::recipe::Recipe;
pub use data::batch::ModelBatch;
pub use eval::trained::TrainedModel;
pub use exec::parameters::Parameters;
pub use exec::weights::Weights;
pub use model::network::{BuildError, Mode, Network, Task};
pub use model::registries::Registries;
