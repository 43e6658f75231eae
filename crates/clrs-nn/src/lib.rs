//! Networks that learn to execute algorithms: encode, process, decode.
//!
//! Everything is driven by the spec of an algorithm: no algorithm is named here. `network` puts encoders (`encode`), a
//! processor (`processors`) and decoders (`decode`) together; `batch` is what it reads, `loss` what it is judged by.
//! `train` runs a `recipe` on `data` and leaves its traces in a folder (`run`). `trained` is a network of such a folder,
//! `evaluate` says how well it does on a `set`, and `summary` puts several of them together, beside the `paper`. `work` counts
//! what a batch costs.

mod answers;
pub mod batch;
pub mod chunk;
pub mod chunked;
pub mod data;
mod decode;
pub mod device;
mod dump;
mod encode;
pub mod evaluate;
mod events;
pub mod features;
mod feedback;
mod fused;
mod heads;
mod hints;
mod loss;
mod lstm;
pub mod network;
pub mod optimise;
pub mod paper;
pub mod parameters;
mod pass;
pub mod processors;
mod queue;
pub mod recipe;
pub mod recording;
pub mod run;
mod said;
pub mod set;
pub mod settings;
mod settle;
pub mod summary;
pub mod tensors;
pub mod train;
pub mod trained;
mod weights;
pub mod work;

pub use batch::Batch;
pub use network::{BuildError, Mode, Network, Shown, Task};
pub use parameters::Parameters;
pub use recipe::Recipe;
pub use settings::Settings;
pub use weights::Weights;
