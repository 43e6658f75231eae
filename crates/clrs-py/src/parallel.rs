//! Running Rust code for Python: outside the interpreter's lock, in forked processes, and with panics as exceptions.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::error::Error;

/// Process that the module was imported in. Its threads, rayon's among them, do not exist in forked children.
static IMPORTED_BY: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// In a forked child: the child and a pool of one thread.
    static FORKED: RefCell<Option<(u32, ThreadPool)>> = const { RefCell::new(None) };
}

/// To be called once, when the module is imported.
pub(crate) fn init() {
    IMPORTED_BY.store(std::process::id(), Ordering::Relaxed);
}

/// Runs `work` without the interpreter's lock. A panic becomes [`Error::Internal`].
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    py.detach(|| catch_unwind(AssertUnwindSafe(|| in_pool(work))).unwrap_or_else(|panic| Err(Error::Internal(message(&*panic)))))
}

/// Panics, so that tests see what becomes of a panic.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>) -> Result<(), Error> {
    detached(py, || panic!("for tests"))
}

/// Runs `work` where rayon works: as is, or in a forked child in a pool of its own. Forked children are usually workers, one
/// per core, so one thread is enough.
fn in_pool<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let process = std::process::id();
    if process == IMPORTED_BY.load(Ordering::Relaxed) {
        return work();
    }
    FORKED.with_borrow_mut(|pool| {
        if pool.as_ref().is_none_or(|(owner, _)| *owner != process) {
            let new =
                rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| Error::Internal(error.to_string()))?;
            // The threads of a parent's pool do not exist here: dropping it could wait for them.
            std::mem::forget(pool.replace((process, new)));
        }
        let (_, pool) = pool.as_ref().expect("set above");
        pool.install(work)
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("panic").to_owned()
}
