//! What an algorithm has for itself, beside the processor that all share.

use crate::decode::Decoders;
use crate::encode::Encoders;

/// Its encoders and decoders.
pub(crate) struct Heads {
    pub(crate) encoders: Encoders,
    pub(crate) decoders: Decoders,
}
