//! Many single-threaded runs at once, on one machine.
//!
//! Runs are independent, so one thread for each uses all cores better than all cores for one. By default, the longest start first, so that
//! no long run is left at the end with the other cores idle.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::plan::{Plan, PlannedRun};
use crate::status::{RunProgress, State};
use crate::worker::{Outcome, RunEvent, Worker};

/// Receives the progress of all runs, and can stop them.
pub trait Observer: Sync {
    /// Something happened in a run.
    fn on_event(&self, task: usize, event: RunEvent);
    /// A run ended.
    fn on_end(&self, task: usize, end: &RunEnd);
    /// Whether all runs are to stop, each with a checkpoint.
    fn is_stopped(&self) -> bool;
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// Without an error.
    Ok(Outcome),
    /// With an error, in one line.
    Failed(String),
}

/// The ends of all runs that were started, by task number.
pub type Ends = Vec<(usize, RunEnd)>;

/// Order in which runs start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Those with the most work left first: the sweep ends earliest.
    #[default]
    Longest,
    /// Those with the least work left first: most runs are complete if the sweep is stopped.
    Shortest,
    /// That of the plan.
    Plan,
}

/// How to execute a sweep.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Runs at a time.
    pub jobs: usize,
    /// Order in which they start.
    pub order: Order,
}

impl LocalOptions {
    /// The longest runs first.
    pub fn new(jobs: usize) -> LocalOptions {
        LocalOptions { jobs, order: Order::Longest }
    }

    /// Sets [`LocalOptions::order`].
    #[must_use]
    pub fn order(self, order: Order) -> LocalOptions {
        LocalOptions { order, ..self }
    }
}

/// Executes unfinished runs, `jobs` at a time, each on one thread, and returns how they ended. A run that fails does not stop others.
///
/// # Errors
/// If a thread cannot be started.
pub fn execute(
    worker: &Worker,
    plan: &Plan,
    progress: &[RunProgress],
    options: LocalOptions,
    observer: &dyn Observer,
) -> Result<Ends, rayon::ThreadPoolBuildError> {
    let queue = Mutex::new(ordered(plan, progress, options.order));
    let ends = Mutex::new(Vec::new());
    let pools = (0..options.jobs.max(1)).map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build());
    let pools = pools.collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        for pool in &pools {
            scope.spawn(|| {
                while !observer.is_stopped() {
                    let Some(task) = lock(&queue).pop_front() else { return };
                    let end = pool.install(|| execute_one(worker, task, &plan.runs[task], observer));
                    observer.on_end(task, &end);
                    lock(&ends).push((task, end));
                }
            });
        }
    });
    let mut ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
    ends.sort_by_key(|(task, _)| *task);
    Ok(ends)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Task numbers of unfinished runs.
fn ordered(plan: &Plan, progress: &[RunProgress], order: Order) -> VecDeque<usize> {
    let unfinished = progress.iter().filter(|run| !matches!(run.state, State::Complete | State::Running));
    let mut left: Vec<(f64, usize)> = unfinished.map(|run| (run.flops_left(&plan.runs[run.task]), run.task)).collect();
    left.sort_by(|a, b| match order {
        Order::Longest => b.0.total_cmp(&a.0),
        Order::Shortest => a.0.total_cmp(&b.0),
        Order::Plan => a.1.cmp(&b.1),
    });
    left.into_iter().map(|(_, task)| task).collect()
}

fn execute_one(worker: &Worker, task: usize, run: &PlannedRun, observer: &dyn Observer) -> RunEnd {
    let mut on_event = |event: RunEvent| {
        observer.on_event(task, event);
        if observer.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    // A defect that shows in one run must not end the others.
    match catch_unwind(AssertUnwindSafe(|| worker.execute(run, &mut on_event))) {
        Ok(Ok(outcome)) => RunEnd::Ok(outcome),
        Ok(Err(error)) => RunEnd::Failed(error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")),
        Err(_) => RunEnd::Failed("internal error (please report it)".into()),
    }
}
