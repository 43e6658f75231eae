//! The modules that a task does not share with others: its encoders and decoders.

use std::sync::{Arc, OnceLock};

use super::decoders::Decoders;
use super::encoders::Encoders;
use crate::exec::weights::{TaskLayers, UsedWeight};

pub(super) struct TaskModules {
    pub(super) encoders: Encoders,
    pub(super) decoders: Decoders,
    /// The layers that weights are folded from.
    pub(super) layers: Arc<TaskLayers>,
    /// The folded weights that the first training step read.
    pub(super) used_weights: OnceLock<Vec<UsedWeight>>,
}

impl TaskModules {
    pub(super) fn new(encoders: Encoders, decoders: Decoders) -> TaskModules {
        let layers = TaskLayers {
            hidden: encoders.hidden,
            encoders: encoders.layers().collect(),
            node_hints: decoders.node_hints.clone(),
        };
        TaskModules { encoders, decoders, layers: Arc::new(layers), used_weights: OnceLock::new() }
    }
}
