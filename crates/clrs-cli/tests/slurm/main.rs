//! A sweep on a real Slurm cluster, where everything goes wrong that can: the runs end with the bits of those that were executed here.
//!
//! `cargo xtask test --only slurm` installs Slurm on Debian and runs this; without Slurm, it is skipped.
#![cfg(all(feature = "networks", target_os = "linux"))]
#![expect(clippy::print_stderr, reason = "says why it is skipped, and what it measured")]

mod cluster;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cluster::{Cluster, processes, wait_for};
use serde_json::Value;

const CLRS: &str = env!("CARGO_BIN_EXE_clrs");

/// Twelve runs of a few seconds each.
const SWEEP: &str = "[set]\nhidden = 32\nsteps = 400\nlengths = [12]\nval_samples = 8\nbatch_size = 8\neval_every = 50\n\
                     [grid]\nalgorithms = ['dijkstra', 'insertion_sort']\nseed = [1, 2, 3, 4, 5, 6]\n\
                     [eval]\nsizes = [8]\nsteps = ['oracle']\n";

fn plan(cluster: &Cluster, folder: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("a directory");
    fs::write(folder.join("test.toml"), text).expect("written");
    let sweep = folder.join("sweep");
    clrs(cluster, &["sweep", "plan", path(&folder.join("test.toml")), "--out", path(&sweep)]);
    sweep
}

fn clrs(cluster: &Cluster, arguments: &[&str]) -> String {
    cluster.run(CLRS, arguments)
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn status(cluster: &Cluster, sweep: &Path) -> Value {
    serde_json::from_str(&clrs(cluster, &["sweep", "status", path(sweep), "--json"])).expect("JSON")
}

fn count(status: &Value, state: &str) -> u64 {
    status["counts"][state].as_u64().expect("a count")
}

/// Checkpoints, metrics and evaluations of all runs.
fn results(sweep: &Path, status: &Value) -> BTreeMap<String, Vec<u8>> {
    let mut results = BTreeMap::new();
    for run in status["runs"].as_array().expect("a list") {
        let folder = run["folder"].as_str().expect("a path");
        let evals = fs::read_dir(sweep.join(folder).join("evals")).expect("evaluated").flatten();
        let evals = evals.map(|entry| format!("evals/{}", entry.file_name().to_string_lossy()));
        let names = ["best.safetensors", "last.safetensors", "metrics.jsonl"].map(String::from).into_iter().chain(evals);
        results.extend(names.map(|name| (format!("{folder}/{name}"), fs::read(sweep.join(folder).join(&name)).expect("a file"))));
    }
    results
}

/// Process ids of the program by the runs that they execute. No run may have two that train.
fn workers(sweep: &Path) -> BTreeMap<String, String> {
    let is_worker = |arguments: &[String]| {
        let expected = ["sweep", "run", path(sweep), "--task"];
        arguments.first().is_some_and(|program| program.ends_with("clrs")) && arguments.get(1..5).is_some_and(|of| of == expected)
    };
    let mut workers = BTreeMap::new();
    for process in processes().into_iter().filter(|process| is_worker(&process.arguments)) {
        let task = process.arguments[5].clone();
        assert!(workers.insert(task.clone(), process.id).is_none(), "two processes execute run {task}");
    }
    workers
}

/// Steps that are logged.
fn metrics_lines(sweep: &Path, status: &Value, task: usize) -> usize {
    let folder = status["runs"][task]["folder"].as_str().expect("a path");
    fs::read_to_string(sweep.join(folder).join("metrics.jsonl")).map_or(0, |text| text.lines().count())
}

#[test]
#[ignore = "takes minutes, and needs Slurm: cargo xtask test --only slurm"]
fn a_sweep_survives_a_cluster() {
    if let Some(reason) = Cluster::missing() {
        eprintln!("skipped: {reason}; `cargo xtask test` installs Slurm on Debian and Ubuntu if the user is root");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let mut cluster = Cluster::start();
    let local = plan(&cluster, &directory.path().join("local"), SWEEP);
    clrs(&cluster, &["sweep", "run", path(&local), "--quiet"]);
    let sweep = plan(&cluster, &directory.path().join("cluster"), SWEEP);

    let submit = ["sweep", "submit", path(&sweep), "--slurm", "--runs-per-task", "1"];
    let dry = clrs(&cluster, &[&submit[..], &["--dry-run"]].concat());
    assert!(dry.starts_with("12 runs in 12 array tasks: sbatch: Job") && dry.contains("to start at"), "{dry}");
    let refused = cluster.output(CLRS, &[&submit[..], &["--", "--partition=nowhere"]].concat());
    let line = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains("`sbatch` failed: ") && line.contains("invalid partition"), "{line}");
    let submitted = clrs(&cluster, &submit);
    let job = submitted.strip_prefix("submitted job ").and_then(|rest| rest.split(':').next()).expect("a job id").to_string();
    assert!(clrs(&cluster, &submit).starts_with("nothing to submit"), "submitted twice in a row");

    let at_first = status(&cluster, &sweep);
    assert_eq!(at_first["counts"].as_object().expect("counts").values().filter_map(Value::as_u64).sum::<u64>(), 12);
    assert_eq!(count(&at_first, "planned"), 0, "every run is queued, running or done: {at_first}");
    let trains = |task: usize| metrics_lines(&sweep, &at_first, task) > 20;
    // Four run at once: two nodes with two CPUs each.
    wait_for("four runs", || (0..4).all(trains));
    assert_eq!(count(&status(&cluster, &sweep), "running"), 4);

    // All at once, while none of the runs has ended. The first is killed.
    let pid = workers(&sweep)["0"].clone();
    cluster.run("kill", &["-KILL", &pid]);
    // The second is cancelled from outside.
    cluster.run("scancel", &[&format!("{job}_1")]);
    // The third has its preemption announced: it saves a checkpoint and requeues itself.
    let mut signal = cluster.command("scancel", &["--signal=USR2", "--batch", &format!("{job}_2")]).spawn().expect("started");
    wait_for("the killed task ended", || cluster.state(&format!("{job}_0")) == "FAILED");
    wait_for("the cancelled task ended", || !workers(&sweep).contains_key("1"));
    wait_for("the cancelled task is known as such", || cluster.state(&format!("{job}_1")) == "CANCELLED");
    wait_for("the preempted task left its node", || !workers(&sweep).contains_key("2"));
    // It finds the job requeued already, and would try for a minute to signal it again.
    let _ = signal.kill();
    let _ = signal.wait();
    wait_for("the preempted task is queued", || cluster.state(&format!("{job}_2")) == "PENDING");
    let runs = &status(&cluster, &sweep)["runs"];
    assert_eq!(
        (&runs[0]["state"], &runs[1]["state"], &runs[2]["state"]),
        (&"stopped".into(), &"stopped".into(), &"queued".into())
    );
    assert_eq!(runs[1]["job"], format!("{job}_1 cancelled"));
    assert!(runs[1]["step"].as_u64() > Some(0), "it saved a checkpoint");
    cluster.start_requeued(&format!("{job}_2"));
    // A node goes down and comes back.
    wait_for("a run on the second node", || {
        !cluster.try_run("squeue", &["-h", "-w", "n2", "-t", "running", "-o", "%K"]).is_empty()
    });
    let on_node = cluster.run("squeue", &["-h", "-r", "-w", "n2", "-t", "running", "-o", "%K"]);
    cluster.run("scontrol", &["update", "nodename=n2", "state=down", "reason=test"]);
    let lost: Vec<&str> = on_node.split_whitespace().collect();
    wait_for("the runs of the node ended", || lost.iter().all(|task| !workers(&sweep).contains_key(*task)));
    // It may have come back by itself.
    cluster.try_run("scontrol", &["update", "nodename=n2", "state=resume"]);
    for task in &lost {
        cluster.start_requeued(&format!("{job}_{task}"));
    }
    // The controller restarts while runs go on.
    cluster.stop_controller();
    let unknown = cluster.output(CLRS, &["sweep", "status", path(&sweep)]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("note: the state of jobs is unknown"), "{unknown:?}");
    assert!(unknown.status.success());
    cluster.start_controller();

    let deadline = Instant::now() + Duration::from_mins(6);
    loop {
        workers(&sweep);
        let now = status(&cluster, &sweep);
        if count(&now, "complete") == 12 {
            break;
        }
        // What was killed or cancelled is submitted again; the others are not.
        if count(&now, "queued") + count(&now, "running") == 0 {
            let again = clrs(&cluster, &submit);
            assert!(again.starts_with("submitted job "), "{again}\n{now:#}");
        }
        assert!(Instant::now() < deadline, "{now:#}");
        std::thread::sleep(Duration::from_secs(1));
    }
    let (done, expected) = (status(&cluster, &sweep), status(&cluster, &local));
    assert!(results(&sweep, &done) == results(&local, &expected), "the bits of the local execution");
    assert!(clrs(&cluster, &submit).starts_with("nothing to submit"));
    // A job that ended while the controller was down stays in its queue for a while.
    wait_for("no job is left", || {
        clrs(&cluster, &["sweep", "cancel", path(&sweep)]).starts_with("no job of this sweep is queued")
    });

    ten_thousand_runs(&cluster, directory.path());
    shards(&cluster, directory.path());
}

/// Plans and submits ten thousand short runs as one array.
fn ten_thousand_runs(cluster: &Cluster, directory: &Path) {
    let seeds: Vec<String> = (0..10_000).map(|seed: u32| seed.to_string()).collect();
    let text = SWEEP.replace("steps = 400", "steps = 2").replace("[1, 2, 3, 4, 5, 6]", &format!("[{}]", seeds.join(",")));
    let text = text.replace("['dijkstra', 'insertion_sort']", "['bfs']");
    let start = Instant::now();
    let sweep = plan(cluster, &directory.join("large"), &text);
    let planned = start.elapsed();
    let submitted = clrs(cluster, &["sweep", "submit", path(&sweep), "--slurm", "--", "--hold"]);
    eprintln!("10,000 runs planned in {:.2} s; {}", planned.as_secs_f64(), submitted.lines().next().unwrap_or_default());
    // Under two seconds on an idle machine; one plan per run would take minutes.
    assert!(planned < Duration::from_mins(1), "{planned:?}");
    assert!(submitted.starts_with("submitted job ") && submitted.contains(": 10000 runs in "), "{submitted}");
    assert_eq!(submitted.matches("submitted job").count(), 1, "{submitted}");
    assert_eq!(count(&status(cluster, &sweep), "queued"), 10_000);
    assert!(clrs(cluster, &["sweep", "cancel", path(&sweep)]).starts_with("cancelled job "));
    wait_for("all are cancelled", || count(&status(cluster, &sweep), "planned") == 10_000);
}

/// Generates a large set as a job array, one shard per task.
fn shards(cluster: &Cluster, directory: &Path) {
    let data = directory.join("data");
    let generate = format!(
        "{CLRS} generate --algorithms bfs -n 16 --count 400 --name train --out {} --seeding parallel --shard $SLURM_ARRAY_TASK_ID/4 --quiet",
        data.display()
    );
    let log = format!("--output={}/%a.log", directory.display());
    cluster.run("sbatch", &["--wait", "--array=0-3", &log, &format!("--wrap={generate}")]);
    let verified = clrs(cluster, &["verify", path(&data)]);
    assert!(verified.contains("4 files verified"), "{verified}");
}
