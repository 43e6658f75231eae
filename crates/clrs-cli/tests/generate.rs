//! Generating sets as a user does: with any number of threads, in shards, interrupted, onto a full disk.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{clrs, interruption, partial_files, path, run, stdout, text, wait_until};

fn sets(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).into_iter().flatten().map(|file| file.expect("readable").path());
    let mut sets: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|extension| extension == "arrow")).collect();
    sets.sort();
    sets
}

/// Twelve sets, so that several are incomplete when the program is killed.
const MANY: [&str; 8] =
    ["generate", "--benchmark", "clrs30", "--algorithms", "bfs,bridges,quicksort,floyd_warshall", "--threads", "2", "--out"];

#[test]
fn files_are_the_same_with_any_number_of_threads() {
    let files: Vec<Vec<Vec<u8>>> = ["1", "2", "7"]
        .map(|threads| {
            let dir = tempfile::tempdir().expect("a directory");
            // One set: all threads share it. Seven: each thread has its own.
            for algorithms in ["bridges", "bfs,dfs,quickselect,heapsort,dijkstra,bubble_sort,minimum"] {
                let out = path(dir.path());
                let output = run(&[
                    "generate",
                    "--algorithms",
                    algorithms,
                    "--count",
                    "700",
                    "--name",
                    algorithms.split(',').next().expect("one"),
                    "--threads",
                    threads,
                    "--out",
                    out,
                ]);
                stdout(&output);
            }
            sets(dir.path()).iter().map(|set| std::fs::read(set).expect("written")).collect()
        })
        .into();
    assert_eq!(files[0].len(), 8);
    assert!(files[0] == files[1] && files[0] == files[2], "the same bytes with 1, 2 and 7 threads");
}

#[test]
fn shards_generated_alone_are_the_shards_of_the_complete_set() {
    let dir = tempfile::tempdir().expect("a directory");
    let base = ["generate", "--algorithms", "dijkstra", "--count", "100", "--seeding", "parallel"];
    for extra in [&["--name", "unsharded"][..], &["--shard", "0/3"], &["--shard", "1/3"], &["--shard", "2/3"]] {
        let output = clrs(&base).args(extra).args(["--out", path(dir.path())]).output().expect("the program starts");
        stdout(&output);
    }
    let read = |set: &PathBuf| clrs_store::SetReader::open(set).and_then(|mut reader| reader.read_all()).expect("a set");
    let mut shards: Vec<clrs::Trajectories> = sets(dir.path()).iter().map(read).collect();
    let complete = shards.pop().expect("its name is the last");
    let samples: Vec<_> = shards.iter().flat_map(clrs::Trajectories::iter).collect();
    assert_eq!((shards.len(), samples.len(), complete.len()), (3, 100, 100));
    for (sample, expected) in samples.iter().zip(complete.iter()) {
        assert!(sample.iter().eq(expected.iter()));
    }
}

#[test]
fn killed_at_any_moment_only_complete_sets_exist_and_a_rerun_completes_them() {
    let (killed, complete) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let out = killed.path();
    stdout(&clrs(&MANY).arg(complete.path()).output().expect("the program starts"));
    let expected = sets(complete.path());
    let moments: [&dyn Fn() -> bool; 7] = [
        &|| true,
        &|| partial_files(out) > 0,
        &|| !sets(out).is_empty(),
        &|| sets(out).len() > 2 && partial_files(out) > 0,
        &|| sets(out).len() > 4,
        &|| sets(out).len() > 6 && partial_files(out) > 0,
        &|| sets(out).len() > 8,
    ];
    let mut unfinished = 0;
    for (round, moment) in moments.iter().enumerate() {
        let mut command = clrs(&MANY);
        let command = command.arg(out).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        wait_until(&mut child, moment);
        child.kill().expect("SIGKILL");
        child.wait().expect("the process ends");
        let found = sets(out);
        unfinished += usize::from(found.len() < expected.len());
        if !found.is_empty() {
            let verified = run(&["verify", path(out)]);
            assert!(verified.status.success(), "round {round}: {}{}", text(&verified.stdout), text(&verified.stderr));
        }
    }
    assert!(unfinished > 0, "killed before the end");
    stdout(&clrs(&MANY).arg(out).output().expect("the program starts"));
    let found = sets(out);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!(std::fs::read(found).expect("a set") == std::fs::read(expected).expect("a set"), "{}", found.display());
    }
}

#[test]
fn an_existing_set_is_kept_and_another_is_replaced_only_by_force() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = path(dir.path());
    let generate = |seed: &str, extra: &[&str]| {
        clrs(&["generate", "--algorithms", "minimum", "--count", "3", "--name", "a", "--seed", seed, "--out", out])
            .args(extra)
            .output()
            .expect("the program starts")
    };
    assert!(generate("1", &[]).status.success());
    let first = std::fs::read(&sets(dir.path())[0]).expect("a set");
    let again = generate("1", &[]);
    assert!(text(&again.stdout).contains("1 set (1 existed already)"), "{}", text(&again.stdout));
    let other = generate("2", &[]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("--force"), "{}", text(&other.stderr));
    assert_eq!(std::fs::read(&sets(dir.path())[0]).expect("a set"), first);
    assert!(generate("2", &["--force"]).status.success());
    assert_ne!(std::fs::read(&sets(dir.path())[0]).expect("a set"), first);
}

#[test]
fn a_corrupt_set_is_named_and_regenerated_only_by_force() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = path(dir.path());
    let arguments = ["generate", "--algorithms", "minimum", "--count", "50", "--out", out];
    assert!(run(&arguments).status.success());
    let set = &sets(dir.path())[0];
    let bytes = std::fs::read(set).expect("a set");
    let mut corrupt = bytes.clone();
    corrupt[bytes.len() / 2] ^= 0xff;
    std::fs::write(set, &corrupt).expect("written");
    let verified = run(&["verify", out]);
    assert_eq!(verified.status.code(), Some(2), "{}", text(&verified.stdout));
    std::fs::write(set, &bytes[..bytes.len() / 2]).expect("written");
    assert_eq!(run(&["verify", out]).status.code(), Some(2));
    assert_eq!(run(&arguments).status.code(), Some(2), "half a file is not a set");
    assert!(clrs(&arguments).arg("--force").status().expect("the program starts").success());
    assert_eq!(std::fs::read(set).expect("a set"), bytes);
}

/// A limit on the size of files stands in for a full disk: the write fails halfway.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_names_the_file_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let script = format!(
        "trap '' XFSZ; ulimit -f 40; exec {} generate --algorithms bubble_sort -n 32 --count 400 --out {}",
        env!("CARGO_BIN_EXE_clrs"),
        path(dir.path()),
    );
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(error.lines().count() == 1 && error.contains("bubble_sort_n32_s1.arrow"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0, "no incomplete file is left");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_complete_sets_and_tells_how_to_continue() {
    let dir = tempfile::tempdir().expect("a directory");
    let arguments = ["generate", "--algorithms", "quickselect,jarvis_march", "-n", "64", "--count", "200000", "--threads", "1"];
    let mut command = clrs(&arguments);
    let command = command.args(["--quiet", "--out"]).arg(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    assert!(wait_until(&mut child, || partial_files(dir.path()) > 0));
    let output = common::interrupt(child);
    assert!(interruption(&output).contains("Repeat the command"), "{}", text(&output.stderr));
    assert_eq!(partial_files(dir.path()), 0);
}
