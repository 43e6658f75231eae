//! How many messages were computed: with neighbours, and behind a maximum, that depends on the data, and rates are to count
//! what was done.

use std::ops::Sub;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static SENT: AtomicU64 = AtomicU64::new(0);
pub(super) static WON: AtomicU64 = AtomicU64::new(0);

/// Messages, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// That [`forward`](super::forward) computed.
    pub sent: u64,
    /// That [`backward`](super::backward) went through: those that won something.
    pub won: u64,
}

impl Count {
    /// Of all threads of this process, so far. What something took is the difference of two.
    pub fn so_far() -> Count {
        Count { sent: SENT.load(Relaxed), won: WON.load(Relaxed) }
    }
}

impl Sub for Count {
    type Output = Count;

    fn sub(self, before: Count) -> Count {
        Count { sent: self.sent - before.sent, won: self.won - before.won }
    }
}
