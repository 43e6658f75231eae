//! Parallel regions: independent tasks on all threads, with results in order.
//!
//! All parallel work of this crate passes through one function, so that [`profile`] can record the CPU time of every task. From these
//! times follows how long the work would take on another number of cores, also on a machine that does not have them.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clrs::cancel::Inherited;
use rayon::prelude::*;

/// Applies a function to all items, on all threads, and returns the results in order. A single item runs on the calling thread.
///
/// Threads take the items one by one, in order. So they end together, up to one item, and only the last items are incomplete at
/// any time.
pub(crate) fn map<I: Send, T: Send>(items: Vec<I>, f: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    if !IS_RECORDING.load(Ordering::Relaxed) {
        return if items.len() > 1 { in_order(items, f) } else { items.into_iter().map(f).collect() };
    }
    let timed = |item: I| {
        let start = thread_cpu_time();
        let result = f(item);
        let time = thread_cpu_time().saturating_sub(start);
        TASKS.set(TASKS.get() + time);
        (result, time)
    };
    let (results, tasks): (Vec<T>, Vec<Duration>) = in_order(items, timed).into_iter().unzip();
    REGIONS.lock().unwrap_or_else(PoisonError::into_inner).push(tasks);
    results
}

fn in_order<I: Send, T: Send>(items: Vec<I>, f: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    let inherited = Inherited::current();
    let apply = |(index, item)| (index, inherited.run(|| f(item)));
    let mut results: Vec<(usize, T)> = items.into_iter().enumerate().par_bridge().map(apply).collect();
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

thread_local! {
    /// CPU time of the recorded tasks of this thread.
    static TASKS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// [`map`] for passes over as many elements as all parameters have. Small ones run on the calling thread: waking others would take
/// longer.
pub(crate) fn map_elements<I: Send, T: Send>(elements: usize, items: Vec<I>, f: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    const SMALL: usize = 1 << 16;
    if elements < SMALL { items.into_iter().map(f).collect() } else { map(items, f) }
}

static IS_RECORDING: AtomicBool = AtomicBool::new(false);
static REGIONS: Mutex<Vec<Vec<Duration>>> = Mutex::new(Vec::new());

/// CPU time of some work: of the calling thread between parallel regions, and of every task of every region.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Profile {
    /// CPU time outside of parallel regions.
    pub serial: Duration,
    /// CPU times of the tasks of each region.
    pub regions: Vec<Vec<Duration>>,
}

/// Records the CPU time of some work. Only one recording at a time, for benchmarks: other work of the process is mixed in.
pub fn profile<R>(work: impl FnOnce() -> R) -> (R, Profile) {
    REGIONS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    IS_RECORDING.store(true, Ordering::Relaxed);
    // The calling thread may run tasks, too.
    let start = thread_cpu_time().saturating_sub(TASKS.get());
    let result = work();
    let serial = thread_cpu_time().saturating_sub(TASKS.get()).saturating_sub(start);
    IS_RECORDING.store(false, Ordering::Relaxed);
    (result, Profile { serial, regions: std::mem::take(&mut *REGIONS.lock().unwrap_or_else(PoisonError::into_inner)) })
}

impl Profile {
    /// CPU time of all threads.
    pub fn total(&self) -> Duration {
        self.serial + self.regions.iter().flatten().sum::<Duration>()
    }

    /// Predicted time on a number of cores: the serial time and, for each region, its longest task or its total divided by the
    /// cores, whichever is larger. Leaves out what threads wait for one another, and what they lose by sharing caches and memory.
    ///
    /// # Panics
    /// If there are no cores.
    pub fn predict(&self, cores: u32) -> Duration {
        let region = |tasks: &Vec<Duration>| {
            let longest = tasks.iter().max().copied().unwrap_or_default();
            longest.max(tasks.iter().sum::<Duration>() / cores)
        };
        self.serial + self.regions.iter().map(region).sum::<Duration>()
    }
}

#[cfg(unix)]
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a CPU time is not negative")
}

/// Wall time, where the system has no clock for a thread.
#[cfg(not(unix))]
fn thread_cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_tasks_are_recorded() {
        let squares = |count: u64| map((0..count).collect(), |x| x * x);
        assert_eq!(squares(100), (0..100).map(|x| x * x).collect::<Vec<_>>());
        let (found, profile) = profile(|| squares(3));
        assert_eq!(found, [0, 1, 4]);
        assert!(profile.regions.iter().any(|tasks| tasks.len() == 3), "{profile:?}");
    }

    #[test]
    fn a_region_takes_as_long_as_its_longest_task_or_its_share_of_the_cores() {
        let seconds = |seconds: &[u64]| seconds.iter().map(|&s| Duration::from_secs(s)).collect();
        let profile = Profile { serial: Duration::from_secs(1), regions: vec![seconds(&[4, 4, 4, 4]), seconds(&[6, 2])] };
        assert_eq!(profile.total(), Duration::from_secs(25));
        let predicted = [1, 2, 4, 100].map(|cores| profile.predict(cores).as_secs());
        assert_eq!(predicted, [25, 1 + 8 + 6, 1 + 4 + 6, 1 + 4 + 6]);
    }
}
