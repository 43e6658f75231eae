//! Running Rust code for Python: outside the interpreter's lock, in forked processes, with panics as exceptions, and with Ctrl-C.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use clrs::cancel::{CancelToken, Cancelled};
use pyo3::intern;
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
    py.detach(|| caught(|| in_pool(work)))
}

/// Time between two looks at the signals of the process.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// As [`detached`], for work that may take longer than a user waits: a signal whose handler raises, Ctrl-C above all, cancels it.
///
/// Python runs handlers on its main thread alone, and only when asked. So the work moves to another thread, and this one asks.
/// The work is [cancelled](clrs::cancel) where it is: what it changes beyond its result must be restored by the caller.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    // A forked process is usually a worker, whose parent gets the signal, too. Other threads have no handlers to ask for, and must not
    // attach to an interpreter that may be gone: it does not wait for daemon threads.
    if is_forked() || !is_main_thread(py)? {
        return detached(py, work);
    }
    let token = CancelToken::default();
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (running, finished) = mpsc::channel::<()>();
            let worker = std::thread::Builder::new().spawn_scoped(scope, || {
                let _running = running;
                caught(|| token.run(work).unwrap_or_else(|Cancelled| Err(Error::Cancelled)))
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return (Err(Error::TooLarge(format!("cannot start a thread: {error}"))), None),
            };
            let mut interrupt = None;
            while finished.recv_timeout(SIGNAL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if interrupt.is_none() {
                    interrupt = Python::attach(|py| {
                        py.check_signals()?;
                        PyResult::Ok(())
                    })
                    .err();
                }
                if interrupt.is_some() {
                    token.cancel();
                }
            }
            (worker.join().unwrap_or_else(|panic| Err(Error::Internal(message(&*panic)))), interrupt)
        })
    });
    // Also if the work has just been completed: the user wants to stop.
    interrupt.map_or(result, |interrupt| Err(interrupt.into()))
}

/// Whether this is the thread that runs handlers of signals.
fn is_main_thread(py: Python<'_>) -> Result<bool, Error> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?.getattr(intern!(py, "ident"))?;
    Ok(main.eq(threading.call_method0(intern!(py, "get_ident"))?)?)
}

/// Panics, so that tests see what becomes of a panic.
#[pyfunction]
pub(crate) fn _panic(py: Python<'_>) -> Result<(), Error> {
    detached(py, || panic!("for tests"))
}

/// Turns a panic into [`Error::Internal`].
fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::Internal(message(&*panic))))
}

fn is_forked() -> bool {
    std::process::id() != IMPORTED_BY.load(Ordering::Relaxed)
}

/// Runs `work` where rayon works: as is, or in a forked child in a pool of its own. Forked children are usually workers, one
/// per core, so one thread is enough.
fn in_pool<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    if !is_forked() {
        return work();
    }
    let process = std::process::id();
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
