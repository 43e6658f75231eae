//! The members of the message-passing family.

/// Nodes that a node receives messages from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Senders {
    All,
    Neighbors,
    Itself,
}

/// Differences between the members of the family.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    pub(super) senders: Senders,
    pub(crate) triplets: bool,
    pub(crate) gated: bool,
    /// Whether decoders are restricted to neighbors.
    pub(super) masks: bool,
}

impl Structure {
    pub(super) fn new(senders: Senders) -> Structure {
        Structure { senders, triplets: false, gated: false, masks: false }
    }
}
