//! Work of requests: on threads of its own, a few at a time, bounded in time, and abandoned when the client leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::error::ApiError;

/// How long a request waits for its turn.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How long a client waits for an answer.
const MAX_WORK: Duration = Duration::from_mins(1);

/// The threads that do the work.
pub(super) struct Workers(Arc<Semaphore>);

impl Workers {
    pub(super) fn new() -> Workers {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Workers(Arc::new(Semaphore::new(cores.max(2))))
    }

    /// Does some work. If the returned future is dropped, which happens when the client leaves, work that has not started is not
    /// started, and other work can see that nobody waits for it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Abandoned) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = timeout(MAX_WAIT, Arc::clone(&self.0).acquire_owned()).await;
        let permit = permit.map_err(|_| ApiError::Busy)?.map_err(|_| ApiError::Internal)?;
        let guard = AbandonOnDrop(Abandoned::default());
        let abandoned = guard.0.clone();
        let task = tokio::task::spawn_blocking(move || {
            // Held until the work ends, whether anyone waits for it or not.
            let _permit = permit;
            if abandoned.is_set() { Err(ApiError::TimedOut) } else { work(&abandoned) }
        });
        match timeout(MAX_WORK, task).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(ApiError::Internal),
            Err(_) => Err(ApiError::TimedOut),
        }
    }
}

/// Whether nobody waits for the result any more.
#[derive(Clone, Default)]
pub(super) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct AbandonOnDrop(Abandoned);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn work_sees_that_its_client_has_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (started, has_started) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        runtime.block_on(async {
            let workers = Workers::new();
            let work = move |abandoned: &Abandoned| {
                started.send(()).expect("the test waits");
                while !abandoned.is_set() {
                    std::thread::yield_now();
                }
                ended.send(()).expect("the test waits");
                Ok(())
            };
            let client = tokio::task::spawn_blocking(move || has_started.recv().expect("the work starts"));
            tokio::select! {
                _ = workers.run(work) => panic!("the work ends only when its client has left"),
                waited = client => waited.expect("no panic"),
            }
        });
        has_ended.recv().expect("the work ends");
    }
}
