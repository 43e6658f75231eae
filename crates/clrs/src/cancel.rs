//! Cancellation: one thread stops the work of others.
//!
//! Long loops call [`check`]. Once the [`CancelToken`] of their work is cancelled, `check` unwinds the stack to
//! [`CancelToken::run`], which returns [`Cancelled`]. So no function in between needs a parameter or an error for it;
//! rust-analyzer cancels its queries in the same way. Work under a token must tolerate being abandoned between two checks, or its
//! caller restores the state.
//!
//! ```
//! use clrs::cancel::{self, CancelToken, Cancelled};
//!
//! let token = CancelToken::default();
//! assert_eq!(token.run(|| 6 * 7), Ok(42));
//! token.cancel();
//! assert_eq!(token.run(|| loop { cancel::check() }), Err(Cancelled));
//! ```
//!
//! Threads do not inherit a token: parallel regions pass it on, see [`Inherited`].

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CURRENT: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// Cancels the work that is run with it. Clones cancel the same work.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

/// Work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Unwinds if the work of this thread was cancelled. Takes about a nanosecond otherwise.
pub fn check() {
    if CURRENT.with_borrow(|token| token.as_ref().is_some_and(CancelToken::is_cancelled)) {
        // No panic: the panic hook prints nothing.
        resume_unwind(Box::new(Cancelled));
    }
}

impl CancelToken {
    /// Cancels the work, at its next [`check`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs work on this thread that can be cancelled from others.
    ///
    /// # Errors
    /// If it was cancelled before its end.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
        let result = catch_unwind(AssertUnwindSafe(|| Inherited(Some(self.clone())).run(work)));
        result.or_else(|panic| if panic.is::<Cancelled>() { Err(Cancelled) } else { resume_unwind(panic) })
    }
}

/// The token of a thread, if it has one, for the threads that take part in its work.
///
/// ```
/// use clrs::cancel::{self, CancelToken, Cancelled, Inherited};
///
/// let token = CancelToken::default();
/// token.cancel();
/// let in_parallel = || {
///     let inherited = Inherited::current();
///     rayon::join(|| inherited.run(cancel::check), || inherited.run(cancel::check));
/// };
/// assert_eq!(token.run(in_parallel), Err(Cancelled));
/// ```
#[derive(Clone, Debug)]
pub struct Inherited(Option<CancelToken>);

impl Inherited {
    /// The token of this thread.
    pub fn current() -> Inherited {
        Inherited(CURRENT.with_borrow(Clone::clone))
    }

    /// Runs a part of the work, on any thread.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _restore = Restore(CURRENT.replace(self.0.clone()));
        work()
    }
}

/// Restores the token of a thread, also when it unwinds.
struct Restore(Option<CancelToken>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_work_of_a_cancelled_token_unwinds() {
        let (outer, inner) = (CancelToken::default(), CancelToken::default());
        inner.cancel();
        let nested = outer.run(|| {
            let nested = inner.run(check);
            check();
            nested
        });
        assert_eq!(nested, Ok(Err(Cancelled)));
        check();
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let panic = catch_unwind(|| CancelToken::default().run(|| resume_unwind(Box::new("a defect"))));
        assert_eq!(panic.expect_err("a panic").downcast_ref(), Some(&"a defect"));
    }

    #[test]
    fn sampling_can_be_cancelled_and_a_sampler_is_usable_afterwards() {
        use crate::sampling::{Sampler, SamplerOptions};

        let bfs = crate::Registry::builtin().find("bfs").expect("a built-in algorithm");
        let mut sampler = Sampler::new(bfs, 8, 1, &SamplerOptions::default()).expect("a sampler");
        let start = sampler.random().clone();
        let token = CancelToken::default();
        token.cancel();
        assert!(matches!(token.run(|| sampler.record_parallel(100).map(drop)), Err(Cancelled)));
        *sampler.random() = start;
        let recorders = sampler.record_parallel(100).expect("samples");
        let mut expected = bfs.recorder();
        let mut fresh = Sampler::new(bfs, 8, 1, &SamplerOptions::default()).expect("a sampler");
        fresh.record(100, &mut expected).expect("samples");
        let found: Vec<_> = recorders.iter().flat_map(|recorder| recorder.trajectories().iter()).collect();
        let expected: Vec<_> = expected.trajectories().iter().collect();
        assert_eq!(
            found.iter().map(|sample| sample.iter().collect::<Vec<_>>()).collect::<Vec<_>>(),
            expected.iter().map(|sample| sample.iter().collect::<Vec<_>>()).collect::<Vec<_>>()
        );
    }
}
