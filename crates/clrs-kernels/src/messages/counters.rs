//! Number of messages computed. With an adjacency mask, and in backward, it depends on the data, and rates of operations must count
//! the work actually done.

use std::ops::Sub;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static FORWARD: AtomicU64 = AtomicU64::new(0);
pub(super) static BACKWARD: AtomicU64 = AtomicU64::new(0);

/// Message counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages computed by [`forward`](super::forward).
    pub forward: u64,
    /// Messages visited by [`backward`](super::backward): those that are the maximum somewhere.
    pub backward: u64,
}

impl MessageCounts {
    /// Returns the counts of all threads of this process so far. The difference of two counts is the work between them.
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
