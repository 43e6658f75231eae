//! Training as a user does: with any number of threads, interrupted, killed, and with everything that is rejected.
#![cfg(feature = "networks")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{clrs, path, rejection, run, stdout, text, wait_until};

/// Arguments to train a network in a second, with every source of randomness, with further fields of its recipe.
fn small<'a>(out: &'a Path, fields: &[&'a str]) -> Vec<&'a str> {
    let name = |field: &str| field.split('=').next().map(str::to_owned);
    let common = [
        "hidden=8",
        "lengths=4,5",
        "batch_size=10",
        "val_samples=8",
        "eval_every=4",
        "dropout=0.1",
        "teacher_forcing=0.5",
        "lstm=true",
        "processor=triplet_gpgn_mask",
        "steps=24",
    ];
    let is_overridden = |field: &str| fields.iter().any(|other| name(other) == name(field));
    let fields = common.into_iter().filter(|field| !is_overridden(field)).chain(fields.iter().copied());
    let mut arguments = vec!["train", "generalist-2022", "--quiet", "--algorithms", "bfs,insertion_sort", "--out", path(out)];
    arguments.extend(fields.flat_map(|field| ["--set", field]));
    arguments
}

const FILES: [&str; 4] = ["config.toml", "last.safetensors", "best.safetensors", "metrics.jsonl"];

fn files(dir: &Path) -> Vec<Vec<u8>> {
    FILES.map(|name| std::fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))).into()
}

/// Numbers of threads that must not matter; a batch of 32 has as many micro-batches as the second largest.
const THREADS: [&str; 6] = ["1", "2", "3", "7", "16", "32"];

#[test]
fn runs_are_the_same_with_any_number_of_threads() {
    let runs = THREADS.map(|threads| {
        let dir = tempfile::tempdir().expect("a directory");
        let out = dir.path().join("run");
        let output = clrs(&small(&out, &["batch_size=32"])).args(["--threads", threads]).output().expect("the program starts");
        stdout(&output);
        files(&out)
    });
    assert!(runs.iter().all(|run| run == &runs[0]));
}

#[test]
fn a_run_killed_at_any_moment_resumes_to_the_same_bits() {
    kill_and_resume(&[]);
}

#[test]
fn a_chunked_run_killed_at_any_moment_resumes_with_its_recurrent_state() {
    kill_and_resume(&["chunk_length=3"]);
}

/// Steps of the longer runs.
const STEPS: usize = 400;

/// The last step in the metrics of a run.
fn last_step(run: &Path) -> usize {
    let metrics = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    let step = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok()?["step"].as_u64();
    metrics.lines().filter_map(step).max().map_or(0, |step| usize::try_from(step).expect("a small number"))
}

/// When to kill a run.
enum Moment {
    /// When a file of the run exists.
    Exists(&'static str),
    /// When the metrics of a step are written.
    Step(usize),
}

impl Moment {
    fn has_come(&self, run: &Path) -> bool {
        match self {
            Moment::Exists(name) => run.join(name).exists(),
            Moment::Step(step) => last_step(run) >= *step,
        }
    }
}

fn kill_and_resume(fields: &[&str]) {
    let dir = tempfile::tempdir().expect("a directory");
    let (killed, complete) = (dir.path().join("killed"), dir.path().join("complete"));
    let steps = format!("steps={STEPS}");
    let fields = [fields, &[&steps]].concat();
    stdout(&run(&small(&complete, &fields)));

    // Before anything is written, as files appear, and then every few steps, each time at another distance from a checkpoint.
    let files_appear = [".", "status.json", "last.safetensors", "config.toml"].map(Moment::Exists);
    let steps_pass = (1..STEPS).step_by(39).map(Moment::Step);
    let moments = files_appear.into_iter().chain(steps_pass);
    let mut kills = 0;
    for (moment, threads) in moments.zip(THREADS.into_iter().cycle()) {
        let mut command = if killed.join("config.toml").exists() {
            clrs(&["train", "--quiet", "--resume", "--out", path(&killed)])
        } else {
            clrs(&small(&killed, &fields))
        };
        let command = command.args(["--threads", threads]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let is_running = wait_until(&mut child, || moment.has_come(&killed));
        child.kill().expect("SIGKILL");
        let output = child.wait_with_output().expect("the process ends");
        if !is_running {
            assert!(output.status.success(), "{}", text(&output.stderr));
            break;
        }
        kills += 1;
    }
    assert!(kills > 5, "{kills} kills before the end");
    if last_step(&killed) < STEPS || files(&killed) != files(&complete) {
        stdout(&run(&["train", "--quiet", "--resume", "--out", path(&killed)]));
    }
    assert!(files(&killed) == files(&complete), "after {kills} kills");
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_checkpoint_and_tells_how_to_resume() {
    let dir = tempfile::tempdir().expect("a directory");
    let (stopped, complete) = (dir.path().join("stopped"), dir.path().join("complete"));
    stdout(&run(&small(&complete, &["steps=400"])));
    let mut command = clrs(&small(&stopped, &["steps=400"]));
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    assert!(wait_until(&mut child, || last_step(&stopped) > 0));
    let error = common::interruption(&common::interrupt(child));
    assert!(error.contains("of 400; `clrs train --resume --out"), "{error}");
    let status = std::fs::read_to_string(stopped.join("status.json")).expect("a status");
    assert!(status.contains("\"stopped\""), "{status}");
    stdout(&run(&["train", "--quiet", "--resume", "--out", path(&stopped)]));
    assert!(files(&stopped) == files(&complete));
}

/// The validation follows the first step, and has so many batches that it cannot be over when the interrupt arrives.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_validation_which_is_repeated_on_resumption() {
    let dir = tempfile::tempdir().expect("a directory");
    let (stopped, complete) = (dir.path().join("stopped"), dir.path().join("complete"));
    let overrides = ["algorithms=bfs", "hidden=32", "lengths=16", "batch_size=4", "val_samples=16384", "steps=1"];
    let mut arguments = vec!["train", "--quiet"];
    arguments.extend(overrides.iter().flat_map(|text| ["--set", text]));
    arguments.push("--out");
    let mut command = clrs(&arguments);
    let command = command.arg(&stopped).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    assert!(wait_until(&mut child, || last_step(&stopped) == 1));
    common::interruption(&common::interrupt(child));
    let metrics = || std::fs::read_to_string(stopped.join("metrics.jsonl")).expect("metrics");
    assert!(!metrics().contains("validity"), "the validation was not stopped: {}", metrics());
    stdout(&run(&["train", "--quiet", "--resume", "--out", path(&stopped)]));
    assert!(metrics().contains("validity"), "{}", metrics());
    stdout(&clrs(&arguments).arg(&complete).output().expect("the program starts"));
    assert!(files(&stopped) == files(&complete));
}

#[test]
fn mistakes_are_rejected_in_one_line_and_nothing_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let run_path = dir.path().join("run");
    let out = path(&run_path);
    let rejected = |arguments: &[&str], words: &str| {
        let error = rejection(&run(arguments));
        assert!(error.contains(words), "{arguments:?}: {error}");
    };
    rejected(&["train", "--out", out], "no algorithm to train on: set `algorithms` with --algorithms");
    rejected(&["train", "--algorithms", "bsf", "--out", out], "did you mean `bfs`?");
    rejected(&["train", "--algorithms", "bfs,bfs", "--out", out], "`algorithms` names bfs twice");
    rejected(&["train", "generalist", "--algorithms", "bfs", "--out", out], "unknown recipe `generalist`; did you mean");
    rejected(&["train", "paper2022", "--algorithms", "bfs", "--out", out], "did you mean `paper-2022`?");
    rejected(&["train", "mine", "--algorithms", "bfs", "--out", out], "neither a file nor one of paper-2022, generalist-2022");
    rejected(&["train", "bfs", "--out", out], "`bfs` is an algorithm, not a recipe; use `--algorithms bfs`");
    rejected(&["train", "bfs,dfs", "--out", out], "`bfs,dfs` are algorithms, not recipes; use `--algorithms bfs,dfs`");
    rejected(
        &["train", "--algorithms", "quicksort", "--set", "lengths=1", "--out", out],
        "quicksort: the algorithm needs at least 2",
    );
    rejected(&["train", "--algorithms", "bfs", "--set", "hiden=3", "--out", out], "did you mean `hidden`?");
    rejected(
        &["train", "--algorithms", "bfs", "--set", "hidden=wide", "--out", out],
        "`hidden`: expected a non-negative integer, got \"wide\"",
    );
    rejected(&["train", "--algorithms", "bfs", "--set", "processor=mpn", "--out", out], "did you mean `mpnn`?");
    rejected(&["train", "--algorithms", "bfs", "--set", "steps=0", "--out", out], "`steps` must be at least 1");
    rejected(
        &["train", "--algorithms", "bfs", "--set", "learning_rate=nan", "--out", out],
        "`learning_rate` must be a finite number of at least 0, not NaN",
    );
    rejected(
        &["train", "--algorithms", "bfs", "--set", "grad_clip=-1.0", "--out", out],
        "`grad_clip` must be a finite number of at least 0, not -1",
    );
    rejected(
        &["train", "--algorithms", "bfs", "--set", "hidden=1000000000", "--out", out],
        "`hidden` must be at most 16384, not 1000000000",
    );
    let triplets = ["train", "--algorithms", "bfs", "--set", "triplet_features=100000000000000000", "--out", out];
    rejected(&triplets, "`triplet_features` must be at most 16384");
    let batch = ["train", "--algorithms", "bfs", "--set", "batch_size=1000000000000000000", "--out", out];
    rejected(&batch, "`batch_size` must be at most 65536");
    rejected(&["train", "--algorithms", "bfs", "--device", "abacus", "--out", out], "unknown device `abacus`");
    rejected(&["train", "--algorithms", "bfs", "--set", "lengths=", "--out", out], "`lengths` must contain at least one size");
    rejected(&["train", "--algorithms", "bfs", "--set", "heads=3", "--out", out], "`heads` must divide `hidden`");
    rejected(&["train", "paper-2022", "--algorithms", "bfs", "--set", "batch_size=1001", "--out", out], "has 1000 samples");
    rejected(&["train", "--algorithms", "bfs", "--set", "data=nowhere", "--out", out], "nowhere: not a directory");
    rejected(&["train", "--algorithms", "bfs", "--set", "seed=5000000000", "--out", out], "`seed`: 5000000000 is too large");
    let memory = ["train", "--algorithms", "bfs", "--set", "processor=memnet_full", "--set", "lengths=128", "--out", out];
    rejected(&memory, "a sample has 128 nodes; the processor takes at most 127");
    rejected(&["train", "--resume", "--out", out], "not a run directory");
    assert!(!run_path.join("config.toml").exists());
    let taken = dir.path().join("metrics.jsonl");
    std::fs::write(&taken, "of another program").expect("writable");
    rejected(
        &["train", "--algorithms", "bfs", "--out", path(dir.path())],
        "metrics.jsonl: exists, but its directory contains no run",
    );
    assert_eq!(std::fs::read_to_string(&taken).expect("there"), "of another program");

    stdout(&run(&small(&run_path, &["steps=4"])));
    let before = files(&run_path);
    rejected(&small(&run_path, &[]), "contains a run already; add --resume");
    rejected(&["train", "--resume", "--out", out], "all 4 steps are done");
    rejected(&["weights", out, "--out", path(dir.path()), "--force"], ": is a directory");
    rejected(&["weights", out, "--checkpoint", "bset"], "--checkpoint bset: neither `best` nor `last` nor a file");
    assert!(files(&run_path) == before);
    let (last, away) = (run_path.join("last.safetensors"), run_path.join("away"));
    std::fs::rename(&last, &away).expect("there");
    let config = run_path.join("config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    std::fs::write(&config, recipe.replace("\nsteps = 4\n", "\nsteps = 8\n")).expect("writable");
    rejected(&["train", "--resume", "--out", out], "last.safetensors: missing; the run cannot be resumed");
    std::fs::rename(&away, &last).expect("there");

    // The parameters of another network, and half a file.
    let other = dir.path().join("other");
    let weights = run_path.join("best.safetensors");
    let begin = |hidden: &str, words: &str| {
        let arguments = ["train", "--quiet", "--algorithms", "bfs", "--set", hidden, "--set", "processor=mpnn", "--weights"];
        let output = clrs(&arguments).arg(&weights).arg("--out").arg(&other).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    };
    begin("hidden=16", "`processor/receiver/weight` has shape [16, 8], expected [32, 16]");
    let bytes = std::fs::read(&weights).expect("written");
    std::fs::write(&weights, &bytes[..bytes.len() / 2]).expect("writable");
    begin("hidden=8", "not a complete safetensors file");
    assert!(!other.exists());
}

#[test]
fn a_checkpoint_is_not_resumed_with_another_recipe() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("run");
    stdout(&run(&small(&out, &["chunk_length=3", "steps=2", "batch_size=16"])));
    let config = out.join("config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    let changed = recipe.replace("\nsteps = 2\n", "\nsteps = 4\n").replace("\nbatch_size = 16\n", "\nbatch_size = 24\n");
    std::fs::write(&config, changed).expect("writable");
    let error = rejection(&run(&["train", "--quiet", "--resume", "--out", path(&out)]));
    assert!(error.contains("belongs to another recipe"), "{error}");
}

/// A limit on the size of files stands in for a full disk: metrics reach it first, or checkpoints.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_names_file_and_step_and_the_run_resumes_later() {
    let dir = tempfile::tempdir().expect("a directory");
    let (full, complete) = (dir.path().join("full"), dir.path().join("complete"));
    for (out, steps) in [(&full, "steps=8"), (&complete, "steps=16")] {
        stdout(&run(&small(out, &[steps])));
    }
    let config = full.join("config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    std::fs::write(&config, recipe.replace("\nsteps = 8\n", "\nsteps = 16\n")).expect("writable");

    let last = || std::fs::read(full.join("last.safetensors")).expect("a checkpoint");
    let before = last();
    let metrics = std::fs::metadata(full.join("metrics.jsonl")).expect("metrics").len();
    // In blocks of 512 bytes.
    for (limit, file) in [(metrics / 512 + 1, "metrics.jsonl"), (16, ".safetensors")] {
        let program = env!("CARGO_BIN_EXE_clrs");
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec {program} train --quiet --resume --out {}", path(&full));
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let error = rejection(&output);
        assert!(error.contains(file) && error.contains("File too large"), "{error}");
        assert!(last() == before, "{error}");
    }
    let output = run(&["train", "--quiet", "--resume", "--out", path(&full)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(files(&full) == files(&complete));
}

#[test]
fn a_run_is_trained_by_one_process_at_a_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("run");
    let mut child =
        clrs(&small(&out, &["steps=100000"])).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    assert!(wait_until(&mut child, || out.join("config.toml").exists()));
    let second = run(&["train", "--resume", "--out", path(&out)]);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ended");
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("another process is training in it"), "{}", text(&second.stderr));
}

#[test]
fn a_loss_that_is_not_finite_ends_the_run_and_keeps_the_checkpoint() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("run");
    let small = ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4"];
    let mut wild = vec!["train", "--quiet", "--algorithms", "bfs", "--set", "learning_rate=1e30", "--out", path(&out)];
    wild.extend(small);
    let output = run(&wild);
    let error = rejection(&output);
    assert!(error.contains("at step") && error.contains("the checkpoint before this step is intact"), "{error}");
    assert!(out.join("last.safetensors").exists());
}

#[test]
fn chunks_without_supervised_cells_do_not_stop_training() {
    let dir = tempfile::tempdir().expect("a directory");
    for mode in ["none", "none_encoded_decoded", "decoded_only"] {
        let (out, mode) = (dir.path().join(mode), format!("hint_mode={mode}"));
        let small = ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4", "--set", "steps=4", "--set", &mode];
        let arguments = ["train", "--quiet", "--algorithms", "insertion_sort", "--set", "chunk_length=1", "--out", path(&out)];
        let output = clrs(&arguments).args(small).output().expect("the program starts");
        assert!(output.status.success(), "{mode}: {}", text(&output.stderr));
    }
}

#[test]
fn parameters_are_exported_and_imported_under_both_names() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name).to_str().expect("text").to_string();
    let small =
        ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4", "--set", "steps=1", "--set", "eval_every=1"];
    let output =
        clrs(&["train", "--quiet", "--algorithms", "bfs", "--out", &at("run")]).args(small).output().expect("the program starts");
    stdout(&output);
    for names in ["clrs", "dm-clrs"] {
        let file = at(&format!("{names}.safetensors"));
        let written = run(&["weights", &at("run"), "--names", names, "--out", &file]);
        assert!(written.status.success(), "{}", text(&written.stderr));
        // With a learning rate of 0 they do not change.
        let again = at(&format!("again-{names}"));
        let mut command = clrs(&["train", "--quiet", "--algorithms", "bfs", "--weights", &file, "--out", &again]);
        let output = command.args(small).args(["--set", "learning_rate=0"]).output().expect("the program starts");
        stdout(&output);
        let back = at(&format!("back-{names}.safetensors"));
        assert!(run(&["weights", &again, "--names", names, "--out", &back]).status.success());
        assert!(std::fs::read(&file).expect("written") == std::fs::read(&back).expect("written"), "{names}");
        assert_eq!(run(&["weights", &again, "--out", &back]).status.code(), Some(2), "nothing is replaced");
        let error = rejection(&run(&["eval", &again, "--checkpoint", &back]));
        assert!(error.contains("parameters without a checkpoint are for `clrs train --weights`"), "{error}");
    }
}

#[test]
fn parameters_that_the_network_lacks_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    common::train(dir.path(), "both", &["algorithms=bfs,dfs"]);
    common::train(dir.path(), "same", &["algorithms=bfs"]);
    let start = |weights: &str, out: &str| {
        let small = ["processor=mpnn", "hidden=8", "steps=1", "lengths=4", "val_samples=4", "batch_size=4"];
        let mut arguments = vec!["train", "--quiet", "--algorithms", "bfs", "--out", out];
        arguments.extend(small.iter().flat_map(|field| ["--set", field]));
        let output = common::run_in(dir.path(), &[&arguments[..], &["--weights", weights]].concat());
        stdout(&output);
        text(&output.stderr)
    };
    let note = start("both/best.safetensors", "a");
    assert!(note.starts_with("clrs: note: both/best.safetensors: ignored ") && note.contains(": dfs/"), "{note}");
    assert_eq!(note.lines().count(), 1, "{note}");
    // The state of the optimizer in a checkpoint is not worth a note.
    assert_eq!(start("same/last.safetensors", "b"), "");
}
