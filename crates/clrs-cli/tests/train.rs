//! Training as a user does: with any number of threads, stopped halfway, with things that cannot be.
#![cfg(feature = "networks")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{clrs, path, run, text};

/// A network that is trained in a second, with everything that chance decides.
const SMALL: [&str; 26] = [
    "train",
    "generalist-2022",
    "--quiet",
    "--algorithms",
    "bfs,insertion_sort",
    "--set",
    "hidden=8",
    "--set",
    "lengths=4,5",
    "--set",
    "batch_size=10",
    "--set",
    "val_samples=8",
    "--set",
    "eval_every=4",
    "--set",
    "dropout=0.1",
    "--set",
    "teacher_forcing=0.5",
    "--set",
    "lstm=true",
    "--set",
    "processor=triplet_gpgn_mask",
    "--set",
    "steps=24",
    "--out",
];

const FILES: [&str; 4] = ["config.toml", "last.safetensors", "best.safetensors", "metrics.jsonl"];

fn files(folder: &Path) -> Vec<Vec<u8>> {
    FILES.map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))).into()
}

#[test]
fn runs_are_the_same_with_any_number_of_threads() {
    let runs: Vec<Vec<Vec<u8>>> = ["1", "2", "7"]
        .map(|threads| {
            let folder = tempfile::tempdir().expect("a folder");
            let out = folder.path().join("run");
            let done = clrs(&SMALL).arg(&out).args(["--threads", threads]).output().expect("it starts");
            assert!(done.status.success(), "{}", text(&done.stderr));
            files(&out)
        })
        .into();
    assert!(runs[0] == runs[1] && runs[0] == runs[2]);
}

#[test]
fn killed_at_any_moment_a_run_goes_on_to_the_same_bits() {
    killed_and_resumed(&[]);
}

#[test]
fn killed_at_any_moment_chunks_go_on_with_what_they_carry() {
    killed_and_resumed(&["--set", "chunk_length=3"]);
}

fn killed_and_resumed(more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    let more = [more, &["--set", "steps=400"]].concat();
    let done = clrs(&SMALL).arg(&whole).args(&more).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));

    let mut kills = 0;
    for round in 0..40 {
        let mut command = if killed.join("config.toml").exists() {
            clrs(&["train", "--quiet", "--resume", "--out"])
        } else {
            clrs(&[&SMALL[..SMALL.len() - 1], &more, &["--out"]].concat())
        };
        let mut child = command.arg(&killed).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(150 + 40 * round));
        if let Some(status) = child.try_wait().expect("it can be asked") {
            let output = child.wait_with_output().expect("it ended");
            assert!(status.success(), "{}", text(&output.stderr));
            break;
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("it ended");
        kills += 1;
    }
    assert!(kills > 1, "it was killed before it was done");
    assert!(files(&killed) == files(&whole), "after {kills} kills");
}

#[test]
fn mistakes_are_named_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_path = folder.path().join("run");
    let out = path(&run_path);
    let refused = |arguments: &[&str], words: &str| {
        let output = run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words) && said.trim_end().lines().count() == 1, "{arguments:?}: {said}");
    };
    refused(&["train", "--out", out], "no algorithm to learn: set `algorithms`");
    refused(&["train", "--algorithms", "bsf", "--out", out], "did you mean `bfs`?");
    refused(&["train", "--algorithms", "bfs,bfs", "--out", out], "bfs is named twice");
    refused(&["train", "generalist", "--algorithms", "bfs", "--out", out], "no recipe is called `generalist`");
    refused(&["train", "--algorithms", "bfs", "--set", "hiden=3", "--out", out], "did you mean `hidden`?");
    refused(
        &["train", "--algorithms", "bfs", "--set", "hidden=wide", "--out", out],
        "`hidden`: a whole number from 0 on is wanted, not \"wide\"",
    );
    refused(&["train", "--algorithms", "bfs", "--set", "processor=mpn", "--out", out], "did you mean `mpnn`?");
    refused(&["train", "--algorithms", "bfs", "--set", "steps=0", "--out", out], "`steps` is 0");
    refused(&["train", "--algorithms", "bfs", "--set", "learning_rate=nan", "--out", out], "`learning_rate` is NaN");
    refused(&["train", "--algorithms", "bfs", "--set", "grad_clip=-1.0", "--out", out], "`grad_clip` is -1");
    refused(&["train", "--algorithms", "bfs", "--set", "hidden=1000000000", "--out", out], "`hidden` is 1000000000");
    let triplets = ["train", "--algorithms", "bfs", "--set", "triplet_features=100000000000000000", "--out", out];
    refused(&triplets, "`triplet_features` is 100000000000000000");
    let batch = ["train", "--algorithms", "bfs", "--set", "batch_size=1000000000000000000", "--out", out];
    refused(&batch, "524288 samples are the most");
    refused(&["train", "--algorithms", "bfs", "--device", "abacus", "--out", out], "there is no device `abacus`");
    refused(&["train", "--algorithms", "bfs", "--set", "lengths=", "--out", out], "`lengths` names no size");
    refused(&["train", "--algorithms", "bfs", "--set", "heads=3", "--out", out], "heads must divide `hidden`");
    refused(&["train", "paper-2022", "--algorithms", "bfs", "--set", "batch_size=1001", "--out", out], "has 1000 samples");
    refused(&["train", "--algorithms", "bfs", "--set", "data=nowhere", "--out", out], "no data is called `nowhere`");
    refused(
        &["train", "--algorithms", "bfs", "--set", "seed=5000000000", "--out", out],
        "`seed`: 5000000000 is too large a number",
    );
    let memory = ["train", "--algorithms", "bfs", "--set", "processor=memnet_full", "--set", "lengths=128", "--out", out];
    refused(&memory, "a sample has 128 nodes, and the processor has room for 127");
    refused(&["train", "--resume", "--out", out], "not the folder of a run");
    assert!(!run_path.join("config.toml").exists());
    let taken = folder.path().join("metrics.jsonl");
    std::fs::write(&taken, "of somebody else").expect("writable");
    refused(&["train", "--algorithms", "bfs", "--out", path(folder.path())], "metrics.jsonl: it is there, but no run is");
    assert_eq!(std::fs::read_to_string(&taken).expect("there"), "of somebody else");

    let done = clrs(&SMALL).arg(out).args(["--set", "steps=4"]).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let before = files(&run_path);
    let mut again: Vec<&str> = SMALL.to_vec();
    again.push(out);
    refused(&again, "a run is there already");
    refused(&["train", "--resume", "--out", out], "all 4 steps are taken");
    refused(&["weights", out, "--out", path(folder.path()), "--force"], "it is there, and no plain file");
    assert!(files(&run_path) == before);
    let (last, away) = (run_path.join("last.safetensors"), run_path.join("away"));
    std::fs::rename(&last, &away).expect("there");
    refused(&["train", "--resume", "--out", out], "there is no checkpoint to go on from");
    std::fs::rename(&away, &last).expect("there");

    // Parameters of another network, and half a file.
    let other = folder.path().join("other");
    let weights = run_path.join("best.safetensors");
    let begin = |hidden: &str, words: &str| {
        let arguments = ["train", "--quiet", "--algorithms", "bfs", "--set", hidden, "--set", "processor=mpnn", "--weights"];
        let output = clrs(&arguments).arg(&weights).arg("--out").arg(&other).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    };
    begin("hidden=16", "`processor/receiver/weight` has the shape [16, 8], not [32, 16]");
    let bytes = std::fs::read(&weights).expect("written");
    std::fs::write(&weights, &bytes[..bytes.len() / 2]).expect("writable");
    begin("hidden=8", "no whole safetensors file");
    assert!(!other.exists());
}

#[test]
fn lanes_go_on_only_with_as_many_states_as_were_carried() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let more = ["--set", "chunk_length=3", "--set", "steps=2", "--set", "batch_size=16"];
    let done = clrs(&SMALL).arg(&out).args(more).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let config = out.join("config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    // Three parts of eight, where two were carried.
    let changed = recipe.replace("\nsteps = 2\n", "\nsteps = 4\n").replace("\nbatch_size = 16\n", "\nbatch_size = 24\n");
    std::fs::write(&config, changed).expect("writable");
    let output = run(&["train", "--quiet", "--resume", "--out", path(&out)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("what it carries is not what the recipe carries"), "{}", text(&output.stderr));
}

/// A limit on the size of files stands in for a full disk: metrics reach it first, or checkpoints.
#[cfg(unix)]
#[test]
fn where_nothing_more_can_be_written_the_error_names_file_and_step_and_the_run_goes_on_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let (full, whole) = (folder.path().join("full"), folder.path().join("whole"));
    for (out, steps) in [(&full, "steps=8"), (&whole, "steps=16")] {
        let done = clrs(&SMALL).arg(out).args(["--set", steps]).output().expect("it starts");
        assert!(done.status.success(), "{}", text(&done.stderr));
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
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(&format!("{file}: cannot be written at step ")), "{said}");
        assert!(last() == before, "{said}");
    }
    let output = run(&["train", "--quiet", "--resume", "--out", path(&full)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(files(&full) == files(&whole));
}

#[test]
fn a_run_belongs_to_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let mut long: Vec<&str> = SMALL.to_vec();
    long.push(path(&out));
    long.extend(["--set", "steps=100000"]);
    let mut child = clrs(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    while !out.join("config.toml").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = run(&["train", "--resume", "--out", path(&out)]);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ended");
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("another process is training there"), "{}", text(&second.stderr));
}

#[test]
fn a_loss_that_is_no_number_ends_the_run_and_keeps_the_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let small = ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4", "--set", "eval_every=1"];
    let mut wild = vec!["train", "--quiet", "--algorithms", "bfs", "--set", "learning_rate=1e30", "--out", path(&out)];
    wild.extend(small);
    let output = run(&wild);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("at step") && said.contains("the checkpoint before it is kept"), "{said}");
    assert!(out.join("last.safetensors").exists());
}

#[test]
fn a_chunk_in_which_nothing_is_judged_teaches_nothing_and_training_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    for mode in ["none", "none_encoded_decoded", "decoded_only"] {
        let (out, mode) = (folder.path().join(mode), format!("hint_mode={mode}"));
        let small = ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4", "--set", "steps=4", "--set", &mode];
        let arguments = ["train", "--quiet", "--algorithms", "insertion_sort", "--set", "chunk_length=1", "--out", path(&out)];
        let done = clrs(&arguments).args(small).output().expect("it starts");
        assert!(done.status.success(), "{mode}: {}", text(&done.stderr));
    }
}

#[test]
fn parameters_leave_and_come_back_under_both_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    let small =
        ["--set", "hidden=8", "--set", "lengths=4", "--set", "val_samples=4", "--set", "steps=1", "--set", "eval_every=1"];
    let done = clrs(&["train", "--quiet", "--algorithms", "bfs", "--out", &at("run")]).args(small).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    for names in ["clrs", "dm-clrs"] {
        let file = at(&format!("{names}.safetensors"));
        let written = run(&["weights", &at("run"), "--names", names, "--out", &file]);
        assert!(written.status.success(), "{}", text(&written.stderr));
        // A step of no size leaves them as they are.
        let again = at(&format!("again-{names}"));
        let mut command = clrs(&["train", "--quiet", "--algorithms", "bfs", "--weights", &file, "--out", &again]);
        let done = command.args(small).args(["--set", "learning_rate=0"]).output().expect("it starts");
        assert!(done.status.success(), "{}", text(&done.stderr));
        let back = at(&format!("back-{names}.safetensors"));
        assert!(run(&["weights", &again, "--names", names, "--out", &back]).status.success());
        assert!(std::fs::read(&file).expect("written") == std::fs::read(&back).expect("written"), "{names}");
        assert_eq!(run(&["weights", &again, "--out", &back]).status.code(), Some(2), "nothing is written over");
        let judged = run(&["eval", &again, "--checkpoint", &back]);
        assert!(text(&judged.stderr).contains("parameters alone are for `clrs train --weights`"), "{}", text(&judged.stderr));
    }
}
