//! Executing a sweep in this process.

use clrs_nn::Registries;
use clrs_nn::exec::device::Device;
use clrs_nn::run::directory::RunLock;
use clrs_sweep::file::SweepFile;
use clrs_sweep::local::{self, LocalOptions, Observer, RunEnd};
use clrs_sweep::plan::Plan;
use clrs_sweep::status::{self, State};
use clrs_sweep::worker::{Outcome, RunEvent, Worker};

/// Neither shows nor stops anything.
struct Nobody;

impl Observer for Nobody {
    fn on_event(&self, _: usize, _: RunEvent) {}
    fn on_end(&self, _: usize, _: &RunEnd) {}
    fn is_stopped(&self) -> bool {
        false
    }
}

#[test]
fn sets_of_the_benchmark_are_generated_once_for_all_runs_of_an_algorithm() {
    let text = "[set]\nhidden = 4\nsteps = 2\ndata = 'clrs30'\nbatch_size = 2\n\
                [grid]\nalgorithms = ['bfs', 'dijkstra']\nprocessor = ['deepsets', 'pgn']\nseed = [1, 2, 3]\n\
                [eval]\ncheckpoints = ['best']\nsteps = ['oracle']";
    let sweep = SweepFile::parse(text, "test", |_| unreachable!("no recipe file")).expect("a sweep");
    let directory = tempfile::tempdir().expect("a directory");
    let (plan, _) = Plan::update(directory.path(), &sweep, &Registries::builtin()).expect("a plan");
    let worker = Worker::new(directory.path(), Device::flex());
    let progress = status::read(directory.path(), &plan);
    let ends = local::execute(&worker, &plan, &progress, LocalOptions::new(3), &Nobody).expect("threads");
    assert_eq!(ends, (0..12).map(|task| (task, RunEnd::Ok(Outcome::Completed))).collect::<Vec<_>>());
    assert_eq!(worker.sets.generated(), 2 * 3, "training, validation and test set of two algorithms");
}

#[test]
fn a_run_that_another_process_starts_or_resumes_is_running() {
    let text = "[set]\nhidden = 4\nsteps = 2\n[grid]\nalgorithms = ['bfs']\nseed = [1]";
    let sweep = SweepFile::parse(text, "test", |_| unreachable!("no recipe file")).expect("a sweep");
    let directory = tempfile::tempdir().expect("a directory");
    let (plan, _) = Plan::update(directory.path(), &sweep, &Registries::builtin()).expect("a plan");
    let state = || status::read(directory.path(), &plan)[0].state;
    let folder = directory.path().join(&plan.runs[0].folder);
    let lock = || RunLock::create(&folder).expect("free");
    assert_eq!(state(), State::Planned);
    let held = lock();
    assert_eq!(state(), State::Running, "nothing but the lock exists");
    drop(held);
    assert_eq!(state(), State::Planned);

    let stopped = r#"{"status":"stopped","step":0,"steps":2,"updated":0}"#;
    std::fs::write(folder.join("status.json"), stopped).expect("written");
    std::fs::write(folder.join("config.toml"), plan.runs[0].recipe.to_toml()).expect("written");
    assert_eq!(state(), State::Stopped);
    let _held = lock();
    assert_eq!(state(), State::Running);
}
