//! Making sets as a user does: with any number of threads, in parts, stopped halfway, onto a full disk.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{clrs, path, run, text};

fn sets(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("readable").path());
    let mut sets: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|extension| extension == "arrow")).collect();
    sets.sort();
    sets
}

/// Enough sets that several are under way when the program is killed.
const MANY: [&str; 8] =
    ["generate", "--benchmark", "clrs30", "--algorithms", "bfs,bridges,quicksort,floyd_warshall", "--threads", "2", "--out"];

#[test]
fn files_are_the_same_with_any_number_of_threads() {
    let made: Vec<Vec<Vec<u8>>> = ["1", "2", "7"]
        .map(|threads| {
            let folder = tempfile::tempdir().expect("a folder");
            // One set: all threads share it. Three: each has its own.
            for algorithms in ["bridges", "bfs,dfs,quickselect,heapsort,dijkstra,bubble_sort,minimum"] {
                let out = path(folder.path());
                let made = run(&[
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
                assert!(made.status.success(), "{}", text(&made.stderr));
            }
            sets(folder.path()).iter().map(|set| std::fs::read(set).expect("written")).collect()
        })
        .into();
    assert_eq!(made[0].len(), 8);
    assert!(made[0] == made[1] && made[0] == made[2], "the same bytes with 1, 2 and 7 threads");
}

#[test]
fn parts_made_alone_are_the_parts_of_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = ["generate", "--algorithms", "dijkstra", "--count", "100", "--seeding", "parallel"];
    for extra in [&["--name", "whole"][..], &["--shard", "0/3"], &["--shard", "1/3"], &["--shard", "2/3"]] {
        let made = clrs(&base).args(extra).args(["--out", path(folder.path())]).output().expect("it starts");
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let read = |set: &PathBuf| clrs_store::SetReader::open(set).and_then(|mut reader| reader.read_all()).expect("a set");
    let mut runs: Vec<clrs::Trajectories> = sets(folder.path()).iter().map(read).collect();
    let whole = runs.pop().expect("its name is the last");
    let parts: Vec<_> = runs.iter().flat_map(clrs::Trajectories::iter).collect();
    assert_eq!((runs.len(), parts.len(), whole.len()), (3, 100, 100));
    for (part, whole) in parts.iter().zip(whole.iter()) {
        assert!(part.iter().eq(whole.iter()));
    }
}

#[test]
fn killed_at_any_moment_no_half_of_a_set_is_taken_for_a_whole_one_and_a_rerun_completes() {
    let (killed, whole) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    assert!(clrs(&MANY).arg(whole.path()).status().expect("it starts").success());
    let expected = sets(whole.path());
    let mut unfinished = 0;
    for wait in [0, 2, 5, 10, 20, 30, 40, 60, 80, 120, 160, 200] {
        let mut child = clrs(&MANY).arg(killed.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("SIGKILL");
        child.wait().expect("it ends");
        let there = sets(killed.path());
        unfinished += usize::from(there.len() < expected.len());
        if !there.is_empty() {
            let verified = run(&["verify", path(killed.path())]);
            assert!(verified.status.success(), "after {wait} ms: {}{}", text(&verified.stdout), text(&verified.stderr));
        }
    }
    assert!(unfinished > 2, "it was killed before it was done");
    let again = clrs(&MANY).arg(killed.path()).output().expect("it starts");
    assert!(again.status.success(), "{}", text(&again.stderr));
    let there = sets(killed.path());
    assert_eq!(there.len(), expected.len());
    for (there, expected) in there.iter().zip(&expected) {
        assert!(std::fs::read(there).expect("a set") == std::fs::read(expected).expect("a set"), "{}", there.display());
    }
}

#[test]
fn what_is_there_is_kept_and_another_set_is_only_replaced_by_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = path(folder.path());
    let make = |seed: &str, extra: &[&str]| {
        clrs(&["generate", "--algorithms", "minimum", "--count", "3", "--name", "a", "--seed", seed, "--out", out])
            .args(extra)
            .output()
            .expect("it starts")
    };
    assert!(make("1", &[]).status.success());
    let first = std::fs::read(&sets(folder.path())[0]).expect("a set");
    let again = make("1", &[]);
    assert!(text(&again.stdout).contains("1 of them there before"), "{}", text(&again.stdout));
    let other = make("2", &[]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("--force"), "{}", text(&other.stderr));
    assert_eq!(std::fs::read(&sets(folder.path())[0]).expect("a set"), first);
    assert!(make("2", &["--force"]).status.success());
    assert_ne!(std::fs::read(&sets(folder.path())[0]).expect("a set"), first);
}

#[test]
fn a_corrupt_set_is_named_and_made_again_only_by_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = path(folder.path());
    let arguments = ["generate", "--algorithms", "minimum", "--count", "50", "--out", out];
    assert!(run(&arguments).status.success());
    let set = &sets(folder.path())[0];
    let bytes = std::fs::read(set).expect("a set");
    let mut corrupt = bytes.clone();
    corrupt[bytes.len() / 2] ^= 0xff;
    std::fs::write(set, &corrupt).expect("written");
    let verified = run(&["verify", out]);
    assert_eq!(verified.status.code(), Some(2), "{}", text(&verified.stdout));
    std::fs::write(set, &bytes[..bytes.len() / 2]).expect("written");
    assert_eq!(run(&["verify", out]).status.code(), Some(2));
    assert_eq!(run(&arguments).status.code(), Some(2), "half a file is nobody's set");
    assert!(clrs(&arguments).arg("--force").status().expect("it starts").success());
    assert_eq!(std::fs::read(set).expect("a set"), bytes);
}

/// A limit on the size of files stands in for a full disk: the write fails halfway.
#[cfg(unix)]
#[test]
fn where_nothing_more_can_be_written_the_error_names_the_file_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!(
        "trap '' XFSZ; ulimit -f 40; exec {} generate --algorithms bubble_sort -n 32 --count 400 --out {}",
        env!("CARGO_BIN_EXE_clrs"),
        path(folder.path()),
    );
    let made = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert_eq!(made.status.code(), Some(2), "{}", text(&made.stderr));
    let error = text(&made.stderr);
    assert!(error.lines().count() == 1 && error.contains("bubble_sort_n32_s1.arrow"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0, "no half of a file is left");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_whole_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = clrs(&[
        "generate",
        "--algorithms",
        "quickselect,jarvis_march",
        "-n",
        "64",
        "--count",
        "200000",
        "--threads",
        "1",
        "--out",
    ]);
    let child = command.arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(interrupt.success());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("Run the same command again"), "{}", text(&ended.stderr));
    assert!(
        std::fs::read_dir(folder.path()).expect("readable").all(|file| !file
            .expect("a file")
            .path()
            .to_string_lossy()
            .contains("partial"))
    );
}
