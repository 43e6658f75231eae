//! How many messages were computed: with neighbours, and behind a maximum, that depends on the data, and rates are to count
//! what was done.

use std::ops::Sub;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static FORWARD: AtomicU64 = AtomicU64::new(0);
pub(super) static BACKWARD: AtomicU64 = AtomicU64::new(0);

/// Messages, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// That [`forward`](super::forward) computed.
    pub forward: u64,
    /// That [`backward`](super::backward) went through: those that won something.
    pub backward: u64,
}

impl MessageCounts {
    /// Of all threads of this process, so far. What something took is the difference of two.
    pub fn total() -> MessageCounts {
        MessageCounts { forward: FORWARD.load(Relaxed), backward: BACKWARD.load(Relaxed) }
    }
}

impl Sub for MessageCounts {
    type Output = MessageCounts;

    fn sub(self, before: MessageCounts) -> MessageCounts {
        MessageCounts { forward: self.forward - before.forward, backward: self.backward - before.backward }
    }
}
