//! What an algorithm has for itself, beside the processor that all share.

use crate::model::decoders::Decoders;
use crate::model::encoders::Encoders;

/// Its encoders and decoders.
pub(crate) struct TaskModules {
    pub(crate) encoders: Encoders,
    pub(crate) decoders: Decoders,
}
