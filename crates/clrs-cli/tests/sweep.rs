//! Sweeps as a user executes them on one machine: whatever is stopped, killed or executed in another order, the runs end with the bits of
//! `clrs train`.
#![cfg(feature = "networks")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

#[cfg(unix)]
use common::Signal;
use common::{clrs, rejection, run_in, stdout, text};
use serde_json::Value;
use tempfile::TempDir;

/// Four small runs.
const SWEEP: &str = "[set]\nhidden = 8\nsteps = 6\nlengths = [4]\nval_samples = 2\nbatch_size = 4\neval_every = 3\n\
                     [grid]\nalgorithms = ['bfs', 'dijkstra']\nseed = [1, 2]\n[eval]\nsizes = [4]\nsteps = ['oracle']\ncheckpoints = ['best']\n";

/// A directory with a sweep file and its plan in `s`.
fn planned(sweep: &str) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("sweep.toml"), sweep).expect("written");
    stdout(&run_in(dir.path(), &["sweep", "plan", "sweep.toml", "--out", "s"]));
    dir
}

fn status(dir: &Path) -> Value {
    serde_json::from_str(&stdout(&run_in(dir, &["sweep", "status", "s", "--json"]))).expect("JSON")
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let status = status(dir);
    let runs = status["runs"].as_array().expect("a list");
    runs.iter().map(|run| dir.join("s").join(run["folder"].as_str().expect("a path"))).collect()
}

/// Checkpoints and evaluations of a run: what must not depend on how it was executed.
fn results(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let evals = fs::read_dir(run.join("evals")).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = ["best.safetensors", "last.safetensors", "metrics.jsonl"].map(|name| run.join(name)).into_iter().chain(evals);
    files.map(|path| (path.file_name().expect("a name").to_string_lossy().into(), fs::read(&path).expect("a file"))).collect()
}

fn all_results(dir: &Path) -> Vec<BTreeMap<String, Vec<u8>>> {
    folders(dir).iter().map(|folder| results(folder)).collect()
}

#[test]
fn runs_have_the_bits_of_single_trainings_for_any_number_of_jobs_and_any_order() {
    let (one, two, tasks) = (planned(SWEEP), planned(SWEEP), planned(SWEEP));
    let done = stdout(&run_in(one.path(), &["sweep", "run", "s", "--jobs", "1", "--quiet"]));
    assert_eq!(done, "4 of 4 runs complete; `clrs report s --out FOLDER` writes tables and figures\n");
    stdout(&run_in(two.path(), &["sweep", "run", "s", "--jobs", "3", "--quiet"]));
    for task in ["3", "0,2", "1"] {
        stdout(&run_in(tasks.path(), &["sweep", "run", "s", "--task", task, "--threads", "2", "--quiet"]));
    }
    let expected = all_results(one.path());
    assert_eq!(expected[0].len(), 5, "{:?}", expected[0].keys());
    assert!(expected == all_results(two.path()) && expected == all_results(tasks.path()));

    let arguments = ["train", "--quiet", "--out", "single", "--algorithms", "bfs"];
    let fields = ["hidden=8", "steps=6", "lengths=4", "val_samples=2", "batch_size=4", "eval_every=3", "seed=1"];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["--set", field]).collect();
    stdout(&run_in(one.path(), &[&arguments[..], &fields[..]].concat()));
    stdout(&run_in(one.path(), &["eval", "single", "--data", "clrs30", "--sizes", "4", "--quiet"]));
    assert!(results(&one.path().join("single")) == expected[0], "`clrs train` and `clrs eval` give the same files");

    let again = stdout(&run_in(one.path(), &["sweep", "run", "s", "--task", "1", "--quiet"]));
    assert_eq!(again, "run 1 (bfs, mpnn, seed 2): was complete\n");
    assert!(all_results(one.path()) == expected);
}

/// Every run is killed again and again, until all are complete.
#[cfg(unix)]
#[test]
fn killed_sweeps_end_with_the_same_bits() {
    let longer = SWEEP.replace("steps = 6", "steps = 60").replace("eval_every = 3", "eval_every = 7");
    let (killed, whole) = (planned(&longer), planned(&longer));
    stdout(&run_in(whole.path(), &["sweep", "run", "s", "--quiet"]));
    let complete = |dir: &Path| status(dir)["counts"]["complete"].as_u64();
    let mut kills = 0;
    let runs = folders(killed.path());
    for _ in 0..20 {
        if complete(killed.path()) == Some(4) {
            break;
        }
        let before: Vec<u64> = runs.iter().map(|run| metrics_bytes(run)).collect();
        let mut command = clrs(&["sweep", "run", "s", "--jobs", "2", "--quiet"]);
        let mut child = command.current_dir(killed.path()).stdout(Stdio::null()).spawn().expect("the program starts");
        // Some progress, so that the test ends; a process that has ended is no longer there to be killed.
        let has_moved = || runs.iter().zip(&before).any(|(run, before)| metrics_bytes(run) > before + 900);
        if kills < 4 && common::wait_until(&mut child, has_moved) {
            child.kill().expect("killed");
            kills += 1;
        }
        child.wait().expect("it ends");
    }
    assert!(kills > 0);
    assert_eq!(complete(killed.path()), Some(4));
    assert!(all_results(killed.path()) == all_results(whole.path()));
}

fn metrics_bytes(run: &Path) -> u64 {
    fs::metadata(run.join("metrics.jsonl")).map_or(0, |file| file.len())
}

#[cfg(unix)]
#[test]
fn signals_save_checkpoints_and_have_exit_codes_of_their_own() {
    let endless = SWEEP.replace("steps = 6", "steps = 1000000").replace("eval_every = 3", "eval_every = 1000000");
    let dir = planned(&endless);
    let start = |arguments: &[&str]| {
        let mut command = clrs(&[&["sweep", "run", "s", "--quiet"], arguments].concat());
        command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let first = folders(dir.path())[0].clone();
    let step = || status(dir.path())["runs"][0]["step"].as_u64().expect("a step");
    let mut last = 0;
    for signal in [Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGTERM] {
        let mut child = start(&["--task", "0"]);
        let before = metrics_bytes(&first);
        assert!(common::wait_until(&mut child, || metrics_bytes(&first) > before + 500));
        let second = stdout(&run_in(dir.path(), &["sweep", "run", "s", "--task", "0", "--quiet"]));
        assert_eq!(second, "run 0 (bfs, mpnn, seed 1): another process executes it\n");
        assert_eq!(status(dir.path())["runs"][0]["state"], "running");
        let output = common::signal(child, signal);
        assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("stopped with a checkpoint (exit code 75); the same command resumes it"));
        assert_eq!(status(dir.path())["runs"][0]["state"], "stopped");
        assert!(step() > last, "it was resumed");
        last = step();
    }
    let folders = folders(dir.path());
    let written = || folders.iter().map(|folder| metrics_bytes(folder)).sum::<u64>();
    let before = written();
    let mut child = start(&["--jobs", "2"]);
    assert!(common::wait_until(&mut child, || written() > before + 500));
    let output = common::interrupt(child);
    assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("stopped: 0 of 4 runs complete; `clrs sweep run s` continues"));
    let output = run_in(dir.path(), &["sweep", "run", "s", "--quiet", "--until", "1s"]);
    assert_eq!(output.status.code(), Some(75), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("stopped: 0 of 4 runs complete"));
}

#[test]
fn the_number_of_a_run_comes_from_schedulers() {
    let dir = planned(SWEEP);
    for (task, variable) in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "HQ_ENTRY"].into_iter().enumerate() {
        let mut command = clrs(&["sweep", "run", "s", "--quiet"]);
        let output = command.current_dir(dir.path()).env(variable, task.to_string()).output().expect("the program starts");
        assert!(stdout(&output).starts_with(&format!("run {task} (")));
    }
    let output = clrs(&["sweep", "run", "s"]).current_dir(dir.path()).env("HQ_ENTRY", "x").output().expect("the program starts");
    assert!(rejection(&output).contains("HQ_ENTRY is `x`, not the number of a run"));
    assert_eq!(status(dir.path())["counts"]["complete"], 3);
}

#[test]
fn one_failure_stops_nothing() {
    let failing = SWEEP.replace("seed = [1, 2]", "learning_rate = [1e30, 0.001]");
    let dir = planned(&failing);
    let output = run_in(dir.path(), &["sweep", "run", "s", "--jobs", "1", "--quiet"]);
    let lines = text(&output.stderr);
    assert_eq!((output.status.code(), lines.lines().count()), (Some(2), 3), "{lines}");
    assert!(
        lines.contains("clrs: bfs, mpnn, seed 42, learning_rate 1e30: ")
            && lines.ends_with("2 of 4 runs complete, 2 failed; the same command tries again\n")
    );
    let table = stdout(&run_in(dir.path(), &["sweep", "status", "s"]));
    assert!(table.starts_with("sweep `sweep`: 4 runs: 2 complete, 2 failed\n"), "{table}");
    assert!(table.contains("run 0 failed: ") && table.contains("not finite") | table.contains("is NaN"), "{table}");
}

#[test]
fn what_cannot_be_planned_or_executed_is_rejected_in_one_line() {
    let dir = planned(SWEEP);
    let at = dir.path();
    let error = |arguments: &[&str]| rejection(&run_in(at, &[&["sweep"], arguments].concat()));
    assert!(error(&["plan", "quik", "--out", "x"]).contains("unknown sweep `quik`; did you mean `quick`?"));
    assert!(error(&["plan", "nothing-like-it", "--out", "x"]).contains("neither a file nor one of quick, paper-2022"));
    fs::write(at.join("bad.toml"), "[grid]\nhiden = [1]").expect("written");
    assert!(
        error(&["plan", "bad.toml", "--out", "x"]).contains("bad.toml: [grid] unknown field `hiden`; did you mean `hidden`?")
    );
    assert!(error(&["plan", "quick", "--out", "s"]).contains("s is the directory of the sweep `sweep`, not of `quick`"));
    assert!(error(&["run", "nowhere"]).contains("nowhere: not the directory of a sweep (no plan.jsonl)"));
    assert!(error(&["run", "s", "--task", "4"]).contains("there is no run 4: the plan has 4 runs, numbered from 0"));
    assert!(!at.join("x").exists());

    // A directory of another run in the place of a planned one.
    stdout(&run_in(at, &["sweep", "run", "s", "--task", "0,1", "--quiet"]));
    let folders = folders(at);
    fs::rename(&folders[0], at.join("moved")).expect("moved");
    assert_eq!(status(at)["runs"][0]["state"], "planned", "it starts anew");
    fs::rename(&folders[1], &folders[0]).expect("moved");
    let other = error(&["run", "s", "--task", "0", "--quiet"]);
    assert!(other.contains("contains a run of another recipe than planned; move it away"), "{other}");
    assert_eq!(status(at)["runs"][0]["state"], "failed");

    // The status of a complete run is damaged, and removed.
    fs::rename(&folders[0], &folders[1]).expect("moved back");
    let status_file = folders[1].join("status.json");
    fs::write(&status_file, "{").expect("written");
    let damaged = error(&["run", "s", "--task", "1", "--quiet"]);
    assert!(damaged.contains("status.json: damaged; remove it, and the run resumes from its last checkpoint"), "{damaged}");
    fs::remove_file(&status_file).expect("removed");
    stdout(&run_in(at, &["sweep", "run", "s", "--task", "1", "--quiet"]));
    assert_eq!(status(at)["runs"][1]["state"], "complete");

    let plan = fs::read_to_string(at.join("s/plan.jsonl")).expect("a plan");
    fs::write(at.join("s/plan.jsonl"), &plan[..plan.len() - 20]).expect("written");
    let damaged = error(&["run", "s"]);
    assert!(damaged.contains("s/plan.jsonl, line 5: ") && damaged.contains("remove the file and plan again"), "{damaged}");
    fs::remove_file(at.join("s/plan.jsonl")).expect("removed");
    stdout(&run_in(at, &["sweep", "plan", "s/sweep.toml", "--out", "s"]));
    stdout(&run_in(at, &["sweep", "plan", "sweep.toml", "--out", "s"]));
    assert_eq!(fs::read_to_string(at.join("s/plan.jsonl")).expect("a plan"), plan);
}

/// Directories that cannot be written, and a limit on the size of files that stands in for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let dir = planned(SWEEP);
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {} sweep run s --jobs 2 --quiet", env!("CARGO_BIN_EXE_clrs"));
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().expect("a shell");
    let lines = text(&output.stderr);
    assert_eq!((output.status.code(), lines.lines().count()), (Some(2), 5), "{lines}");
    assert!(lines.ends_with("0 of 4 runs complete, 4 failed; the same command tries again\n"), "{lines}");
    stdout(&run_in(dir.path(), &["sweep", "run", "s", "--quiet"]));
    assert_eq!(status(dir.path())["counts"]["complete"], 4);
}

/// None of them may take a run of another for its own, or fail because of it.
#[test]
fn processes_that_execute_one_sweep_share_its_runs() {
    let dir = planned(&SWEEP.replace("seed = [1, 2]", "seed = [1, 2, 3, 4, 5]").replace("steps = 6", "steps = 2"));
    let start = || {
        let mut command = clrs(&["sweep", "run", "s", "--jobs", "1", "--order", "plan", "--quiet"]);
        command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    for process in processes {
        let output = process.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(status(dir.path())["counts"]["complete"], 10);
}

#[test]
fn plans_at_once_lose_no_runs() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = dir.path();
    let sweep =
        |seed: usize| SWEEP.replace("seed = [1, 2]", &format!("seed = [{seed}]")).replacen("[set]", "name = 'x'\n[set]", 1);
    for seed in 0..4 {
        fs::write(at.join(format!("{seed}.toml")), sweep(seed)).expect("written");
    }
    let start = |seed: usize| {
        let mut command = clrs(&["sweep", "plan", &format!("{seed}.toml"), "--out", "s"]);
        command.current_dir(at).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let processes: Vec<_> = (0..4).map(start).collect();
    let mut planned = 0;
    for process in processes {
        let output = process.wait_with_output().expect("it ends");
        let error = text(&output.stderr);
        assert!(output.status.success() || error.contains("s: another process plans into it"), "{error}");
        planned += usize::from(output.status.success());
    }
    assert_eq!(status(at)["runs"].as_array().map(Vec::len), Some(2 * planned));
}

#[test]
fn sizes_to_evaluate_are_checked_before_training() {
    let dir = tempfile::tempdir().expect("a directory");
    for (size, reason) in [("100000", "100000 nodes are too many; the limit is 65536"), ("1", "size")] {
        let sweep = SWEEP.replace("sizes = [4]", &format!("sizes = [{size}]")).replace("'dijkstra'", "'lcs_length'");
        fs::write(dir.path().join("sweep.toml"), sweep).expect("written");
        let error = rejection(&run_in(dir.path(), &["sweep", "plan", "sweep.toml", "--out", "s"]));
        assert!(error.contains("seed 1: evaluation: ") && error.contains(reason), "{error}");
    }
    assert!(!dir.path().join("s").exists());
}

#[test]
fn a_run_that_cannot_be_evaluated_is_reported_as_failed_and_the_rest_is_evaluated() {
    let dir = planned(SWEEP);
    let run = folders(dir.path()).remove(0);
    stdout(&run_in(dir.path(), &["sweep", "run", "s", "--task", "0", "--quiet"]));
    let evaluations = || fs::read_dir(run.join("evals")).into_iter().flatten().count();
    assert_eq!(evaluations(), 2);
    fs::remove_dir_all(run.join("evals")).expect("removed");
    let best = run.join("best.safetensors");
    let bytes = fs::read(&best).expect("a checkpoint");
    fs::write(&best, &bytes[..bytes.len() / 2]).expect("written");
    assert!(rejection(&run_in(dir.path(), &["sweep", "run", "s", "--task", "0", "--quiet"])).contains("best.safetensors"));
    let progress = &status(dir.path())["runs"][0];
    assert_eq!(progress["state"], "failed");
    assert!(progress["error"].as_str().is_some_and(|error| error.contains("best.safetensors")), "{progress}");
    fs::write(&best, &bytes).expect("written");
    stdout(&run_in(dir.path(), &["sweep", "run", "s", "--task", "0", "--quiet"]));
    assert_eq!((&status(dir.path())["runs"][0]["state"], evaluations()), (&Value::from("complete"), 2));

    fs::remove_file(run.join("config.toml")).expect("removed");
    let error = rejection(&run_in(dir.path(), &["sweep", "run", "s", "--task", "0", "--quiet"]));
    assert!(error.contains("has files of a run, but no config.toml; move it away"), "{error}");
    assert_eq!(status(dir.path())["runs"][0]["state"], "failed");
}

#[test]
fn the_copy_of_a_sweep_file_can_be_planned_again() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("small.toml"), "hidden = 8\nsteps = 6").expect("written");
    let sweep = "recipe = 'small.toml'\n[set]\nlengths = [4]\n[grid]\nalgorithms = ['bfs']\nhidden = [8, 16]\n";
    fs::write(dir.path().join("sweep.toml"), sweep).expect("written");
    stdout(&run_in(dir.path(), &["sweep", "plan", "sweep.toml", "--out", "my sweep"]));
    let again = stdout(&run_in(dir.path(), &["sweep", "plan", "my sweep/sweep.toml", "--out", "my sweep"]));
    assert!(again.contains("has 2 runs; 2 unfinished") && again.contains("`clrs sweep run 'my sweep'`"), "{again}");
    let status = stdout(&run_in(dir.path(), &["sweep", "status", "my sweep", "--all"]));
    assert!(status.contains("bfs, mpnn, seed 42, hidden 8") && status.contains("hidden 16"), "{status}");
    let long = run_in(dir.path(), &["sweep", "run", "my sweep", "--until", "9999999999999999s", "--quiet"]);
    assert!(stdout(&long).starts_with("2 of 2 runs complete"));
}

#[test]
fn without_slurm_a_script_can_be_written_but_not_submitted() {
    let dir = planned(SWEEP);
    let submit = |arguments: &[&str]| {
        let mut command = clrs(&[&["sweep", "submit", "s", "--slurm"], arguments].concat());
        command.current_dir(dir.path()).env("PATH", "").output().expect("the program starts")
    };
    let missing = rejection(&submit(&[]));
    assert!(missing.contains("`sbatch` was not found: this machine has no Slurm client; submit from a login node"), "{missing}");
    assert!(!dir.path().join("s/slurm/job-001.sbatch").exists(), "nothing is left of what was not submitted");
    assert!(rejection(&submit(&["--time", "soon"])).contains("invalid time limit `soon`"));

    let written =
        stdout(&submit(&["--script", "--time", "30", "--cpus-per-task", "2", "--max-parallel", "3", "--runs-per-task", "3"]));
    assert!(written.ends_with("s/slurm/job-001.sbatch: 4 runs in 2 array tasks\n"), "{written}");
    let script = fs::read_to_string(dir.path().join("s/slurm/job-001.sbatch")).expect("a script");
    assert!(script.contains("#SBATCH --array=0-1%3\n") && script.contains("#SBATCH --time=30\n"), "{script}");
    let tasks = fs::read_to_string(dir.path().join("s/slurm/job-001.tasks")).expect("its tasks");
    assert_eq!(tasks, "0,1,2\n3\n");
    assert_eq!(status(dir.path())["counts"]["planned"], 4);
}

#[test]
fn manifests_are_for_schedulers() {
    let dir = planned(SWEEP);
    stdout(&run_in(dir.path(), &["sweep", "run", "s", "--task", "2", "--quiet"]));
    assert_eq!(stdout(&run_in(dir.path(), &["sweep", "manifest", "s", "--for", "hyperqueue"])), "[0,1,3]\n");
    let kubernetes = ["sweep", "manifest", "s", "--for", "kubernetes", "--image", "registry/clrs:1", "--claim", "sweeps"];
    let manifest = stdout(&run_in(dir.path(), &kubernetes));
    assert!(manifest.contains("  completionMode: Indexed\n  completions: 4\n"), "{manifest}");
    assert!(manifest.contains(r#"command: ["clrs", "sweep", "run", "/sweeps/s", "--threads", "1"]"#), "{manifest}");
}

#[test]
fn planning_says_which_runs_are_new_and_which_are_no_longer_in_the_file() {
    let dir = planned(SWEEP);
    fs::write(dir.path().join("sweep.toml"), SWEEP.replace("seed = [1, 2]", "seed = [2, 3]")).expect("written");
    let again = stdout(&run_in(dir.path(), &["sweep", "plan", "sweep.toml", "--out", "s"]));
    assert!(again.starts_with("s: sweep `sweep` has 6 runs, 2 of them new; 6 unfinished ("), "{again}");
    assert!(again.contains("\n2 runs of the plan are not in the sweep file, and stay in the plan\n"), "{again}");
}
