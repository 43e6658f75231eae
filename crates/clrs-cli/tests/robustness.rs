//! Whatever it is given, the program neither panics nor hangs, destroys nothing, and exits with 2 (130 after Ctrl-C).

mod common;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

#[cfg(unix)]
use common::Signal;
use common::{clrs, partial_files, path, rejection, run, stdout, text, wait_until};
use tempfile::TempDir;

/// A directory with one small set, `data/bfs_n4_s1.arrow`.
fn data() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("data");
    stdout(&run(&["generate", "--algorithms", "bfs", "-n", "4", "--count", "5", "--out", path(&out)]));
    dir
}

fn add_bad_set(dir: &Path) {
    std::fs::write(dir.join("bad.arrow"), "not a set").expect("writable");
}

#[test]
fn failed_verification_exits_with_2_even_if_nobody_reads_the_report() {
    let dir = data();
    let data = dir.path().join("data");
    add_bad_set(&data);
    for arguments in [&["verify", path(&data)][..], &["verify", "--json", path(&data)]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = clrs(arguments).stdout(writer).output().expect("the program starts");
        assert!(rejection(&output).contains("1 of 2 files failed verification"), "{}", text(&output.stderr));
    }
}

#[test]
fn output_that_nobody_reads_is_no_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = clrs(&["list"]).stdout(writer).output().expect("the program starts");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn output_to_a_full_device_is_an_error() {
    for arguments in [&["completions", "bash"][..], &["list"], &["list", "--json"], &["trace", "bfs"], &["show", "bfs"]] {
        let full = File::create("/dev/full").expect("Linux has /dev/full");
        let output = clrs(arguments).stdout(full).output().expect("the program starts");
        let error = rejection(&output);
        assert!(error.starts_with("clrs: cannot write to standard output: No space left"), "{arguments:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_utf_8_are_printed_with_replacement_characters() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join(std::ffi::OsStr::from_bytes(b"d\xff"));
    let command = |arguments: &[&str], path: &Path| {
        let output = clrs(arguments).arg(path).output().expect("the program starts");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let generate = ["generate", "--algorithms", "bfs", "-n", "4", "--count", "5", "--json", "--out"];
    for arguments in [&generate[..], &["verify", "--json"], &["stats", "--json"]] {
        let (code, json, error) = command(arguments, &out);
        assert_eq!(code, Some(0), "{arguments:?}: {error}");
        serde_json::from_str::<serde_json::Value>(&json).expect("JSON");
        assert!(arguments[0] == "stats" || json.contains("d\u{fffd}/bfs_n4_s1.arrow"), "{json}");
    }
    add_bad_set(&out);
    let (code, json, error) = command(&["verify", "--json"], &out);
    assert_eq!(code, Some(2), "{error}");
    assert!(json.contains("d\u{fffd}/bad.arrow"), "{json}");
}

#[test]
fn requests_that_would_not_fit_into_memory_are_rejected_with_a_figure() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("x.npz");
    let stream = ["--stream", "--transform", "chunk", "--next", "2,2"];
    let requests: [(&[&str], &str); 5] = [
        (&["--count", "1000000000000"], "arrays of 1000000000000 samples of bfs at size 16 take about "),
        (&["--count", "1000000000000", "--digest"], "1000000000000 samples of bfs at size 16 take about "),
        (&["--next", "1000000000000"], "arrays of 1000000000001 samples"),
        (&["--stream", "--next", "1000000000000"], "arrays of 1000000000000 samples"),
        (&[&stream[..], &["--chunk-length", "1000000000"]].concat(), "2 chunks of 1000000000 steps of 2 samples take about "),
    ];
    for (arguments, words) in requests {
        let out = if arguments.contains(&"--digest") { vec![] } else { vec!["--out", path(&out)] };
        let error = rejection(&clrs(&["sample", "bfs"]).args(arguments).args(out).output().expect("the program starts"));
        assert!(error.contains(words) && error.contains(" GB, more than the memory limit of "), "{error}");
    }
    assert!(!out.exists());
}

#[test]
fn force_is_suggested_only_where_it_helps() {
    let dir = data();
    let (data, file, out) = (dir.path().join("data"), dir.path().join("x.npz"), dir.path().join("out"));
    let sample = ["sample", "bfs", "--out"];
    let error = |arguments: &[&str], path: &Path| rejection(&clrs(arguments).arg(path).output().expect("the program starts"));
    stdout(&clrs(&sample).arg(&file).output().expect("the program starts"));
    assert!(error(&sample, &file).contains("x.npz: already exists; --force replaces it"));
    let directory = error(&["sample", "bfs", "--force", "--out"], &data);
    assert!(directory.contains("data: is a directory") && !directory.contains("; --force"), "{directory}");

    let export = ["export", path(&data), "--format", "npz", "--out"];
    stdout(&clrs(&export).arg(&out).output().expect("the program starts"));
    assert!(error(&export, &out).contains("already exists; --force replaces it"));
    let tfds = ["export", path(&data), "--format", "tfds", "--out"];
    assert!(error(&[&tfds[..4], &["--split", "a/b", "--out"]].concat(), &out).contains("name it with --split"));
    stdout(&clrs(&[&tfds[..4], &["--split", "train", "--out"]].concat()).arg(&out).output().expect("the program starts"));

    // Reading a damaged set: no flag of `export` or `stats` helps.
    add_bad_set(&data);
    for damaged in [error(&export, &out), error(&["stats"], &data)] {
        assert!(damaged.contains("bad.arrow: not a set of trajectories") && !damaged.contains("--"), "{damaged}");
    }
}

#[test]
fn a_path_of_the_wrong_kind_is_named_with_what_it_is() {
    let dir = data();
    let (data, file) = (dir.path().join("data"), dir.path().join("file"));
    std::fs::write(&file, "").expect("writable");
    let error = |arguments: &[&str], path: &Path| rejection(&clrs(arguments).arg(path).output().expect("the program starts"));
    let in_the_way = format!("clrs: {}: exists and is not a directory\n", file.display());
    for out in [file.clone(), file.join("below")] {
        assert_eq!(error(&["generate", "--algorithms", "bfs", "--out"], &out), in_the_way);
        assert_eq!(error(&["export", path(&data), "--format", "npz", "--out"], &out), in_the_way);
        assert_eq!(error(&["import", path(&tfds(dir.path())), "--out"], &out), in_the_way);
    }
    assert_eq!(error(&["trace", "bfs", "--problem"], &data), format!("clrs: {}: is a directory\n", data.display()));
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).expect("created");
    for verb in ["verify", "stats"] {
        assert_eq!(error(&[verb], &empty), format!("clrs: {}: contains no sets (*.arrow)\n", empty.display()));
    }
    let import = error(&["import", "--out", "nowhere"], &data);
    assert_eq!(import, format!("clrs: {}: not a TFDS directory: no features.json here or below\n", data.display()));
    let absent = dir.path().join("absent");
    for verb in ["verify", "stats"] {
        assert!(error(&[verb], &absent).starts_with(&format!("clrs: {}: No such file", absent.display())));
    }
}

/// No file can be created in /proc, not even by root.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_not_writable_is_an_error_about_the_requested_file() {
    let error = rejection(&run(&["sample", "bfs", "--out", "/proc/x.npz"]));
    assert_eq!(error, "clrs: /proc/x.npz: No such file or directory (os error 2)\n");
}

/// A TFDS directory with one set, exported from `data`.
fn tfds(dir: &Path) -> std::path::PathBuf {
    let out = dir.join("tfds");
    let data = dir.join("data");
    stdout(&run(&["export", path(&data), "--format", "tfds", "--split", "train", "--force", "--out", path(&out)]));
    out
}

#[test]
fn import_advises_only_its_own_flags() {
    let dir = data();
    let (data, tfds) = (dir.path().join("data"), dir.path().join("tfds"));
    stdout(&run(&["export", path(&data), "--format", "tfds", "--split", "train", "--out", path(&tfds)]));
    let imported = dir.path().join("imported");
    let import = ["import", path(&tfds), "--out", path(&imported)];
    assert!(stdout(&run(&import)).contains("Imported 1 set with 5 samples"));
    assert!(rejection(&run(&import)).contains("bfs_train.arrow: already exists; --force replaces it"));
    stdout(&clrs(&import).arg("--force").output().expect("the program starts"));
    let set = std::fs::read_dir(&tfds).expect("a directory").next().expect("a dataset").expect("readable").path();
    std::fs::rename(set.join("bfs_train"), set.join("bfs")).expect("renamed");
    let error = rejection(&run(&import));
    assert!(error.contains("`bfs` is not ALGORITHM_SPLIT") && !error.contains("--"), "{error}");
}

#[test]
fn large_exports_are_announced() {
    let dir = tempfile::tempdir().expect("a directory");
    let (data, file) = (dir.path().join("data"), dir.path().join("file"));
    let generate = ["generate", "--algorithms", "floyd_warshall", "-n", "64", "--count", "300", "--out", path(&data)];
    stdout(&run(&generate));
    std::fs::write(&file, "").expect("writable");
    // The warning comes before the work, which cannot begin here.
    let output = run(&["export", path(&data), "--format", "npz", "--out", path(&file)]);
    let lines = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{lines}");
    assert!(lines.starts_with("clrs: warning: the export takes about ") && lines.contains(" GB before compression\n"), "{lines}");
    let small = dir.path().join("small");
    stdout(&run(&["generate", "--algorithms", "bfs", "--count", "10", "--out", path(&small)]));
    let output = run(&["export", path(&small), "--format", "npz", "--quiet", "--out", path(&dir.path().join("out"))]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_export_and_leaves_nothing_incomplete() {
    let dir = tempfile::tempdir().expect("a directory");
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    stdout(&run(&["generate", "--algorithms", "bfs", "-n", "64", "--count", "20000", "--name", "train", "--out", path(&data)]));
    let mut command = clrs(&["export", path(&data), "--format", "tfds", "--quiet", "--out", path(&out)]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    assert!(wait_until(&mut child, || partial_files(&out) > 0));
    let output = common::interrupt(child);
    let lines = text(&output.stderr);
    assert!(output.status.code() == Some(130) && lines.contains("stopped; 0 of 1 set complete. Repeat"), "{lines}");
    assert_eq!(partial_files(&out), 0);
}

/// As `nohup` starts it.
#[cfg(unix)]
#[test]
fn an_ignored_hangup_does_not_stop_the_work() {
    let dir = tempfile::tempdir().expect("a directory");
    let generate = ["generate", "--algorithms", "bfs", "-n", "64", "--count", "20000", "--name", "train", "--quiet", "--out"];
    let mut command = Command::new("nohup");
    let command = command.arg(env!("CARGO_BIN_EXE_clrs")).args(generate).arg(dir.path());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("nohup exists");
    assert!(wait_until(&mut child, || partial_files(dir.path()) > 0));
    let output = common::signal(child, Signal::SIGHUP);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(partial_files(dir.path()), 0);
}

#[test]
fn shards_are_described_and_exported_as_one_set() {
    let dir = tempfile::tempdir().expect("a directory");
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let generate = ["generate", "--algorithms", "bfs", "-n", "4", "--count", "5", "--seeding", "parallel", "--out", path(&data)];
    for shard in ["0/2", "1/2"] {
        stdout(&clrs(&generate).args(["--shard", shard]).output().expect("the program starts"));
    }
    let stats: serde_json::Value = serde_json::from_str(&stdout(&run(&["stats", path(&data), "--json"]))).expect("JSON");
    assert_eq!((&stats["sets"][0]["stats"]["samples"], stats["sets"].as_array().map(Vec::len)), (&5.into(), Some(1)));
    stdout(&run(&["export", path(&data), "--format", "npz", "--out", path(&out)]));
    assert!(out.join("bfs_n4_s1.npz").exists());
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_rejected_as_files() {
    let dir = data();
    let (data, fifo) = (dir.path().join("data"), dir.path().join("fifo"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo exists").success());
    let error = |arguments: &[&str], path: &Path| rejection(&clrs(arguments).arg(path).output().expect("the program starts"));
    for special in [fifo.as_path(), Path::new("/dev/zero")] {
        let problem = error(&["trace", "bfs", "--problem"], special);
        assert!(problem.contains("not a regular file; `--problem -` reads from standard input"), "{problem}");
        for verb in [&["verify"][..], &["stats"], &["export", "--format", "npz", "--out", "nowhere"]] {
            let error = error(verb, special);
            assert!(error.contains(": not a regular file"), "{verb:?}: {error}");
        }
        let import = error(&["import", "--out", "nowhere"], special);
        assert!(import.contains("Not a directory"), "{import}");
    }
    assert!(Command::new("mkfifo").arg(data.join("bfs_test.arrow")).status().expect("mkfifo exists").success());
    for verb in [&["stats"][..], &["export", "--format", "npz", "--out", "nowhere"]] {
        let error = error(verb, &data);
        assert!(error.contains("bfs_test.arrow: not a regular file"), "{verb:?}: {error}");
    }
    let verified = run(&["verify", path(&data)]);
    rejection(&verified);
    assert!(text(&verified.stdout).contains("bfs_test.arrow: not a regular file"), "{}", text(&verified.stdout));
    assert!(!Path::new("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn endless_input_is_rejected() {
    let zeros = File::open("/dev/zero").expect("a device");
    let output = clrs(&["trace", "bfs", "--problem", "-"]).stdin(Stdio::from(zeros)).output().expect("the program starts");
    assert!(rejection(&output).contains("standard input is larger than 268435456 bytes"), "{}", text(&output.stderr));
}

#[test]
fn an_option_that_is_set_twice_is_rejected_by_every_verb() {
    let verbs: &[&[&str]] = &[
        &["trace", "bfs"],
        &["sample", "bfs", "--digest"],
        &["generate", "--algorithms", "bfs", "--out", "nowhere"],
        #[cfg(feature = "networks")]
        &["train", "--algorithms", "bfs", "--out", "nowhere"],
    ];
    for verb in verbs {
        let option = if verb[0] == "train" { "hidden=8" } else { "p=0.5" };
        let error = rejection(&clrs(verb).args(["--set", option, "--set", option]).output().expect("the program starts"));
        assert!(error.contains("is set twice"), "{verb:?}: {error}");
    }
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn completions_know_the_algorithms() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&run(&["completions", shell]));
        for algorithm in clrs::Registry::builtin().iter() {
            assert!(script.contains(algorithm.name()), "{shell}: {}", algorithm.name());
        }
    }
}

#[cfg(feature = "networks")]
mod networks {
    use super::*;
    use common::{run_in, train};

    fn trained() -> TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        train(dir.path(), "run", &["algorithms=bfs"]);
        dir
    }

    #[test]
    fn weights_are_not_written_over_the_files_of_their_run() {
        let dir = trained();
        let best = dir.path().join("run/best.safetensors");
        let before = std::fs::read(&best).expect("a checkpoint");
        for arguments in [
            &["weights", "run", "--out", "run/best.safetensors"][..],
            &["weights", "run", "--out", "run/best.safetensors", "--force"],
            &["weights", "run", "--out", "run/metrics.jsonl", "--force"],
        ] {
            let error = rejection(&run_in(dir.path(), arguments));
            assert!(error.contains("belongs to the run in run") && !error.contains("--force"), "{error}");
        }
        assert!(std::fs::read(&best).expect("a checkpoint") == before);
        std::fs::copy(&best, dir.path().join("copy.safetensors")).expect("copied");
        let own = ["weights", "run", "--checkpoint", "copy.safetensors", "--out", "copy.safetensors", "--force"];
        assert!(rejection(&run_in(dir.path(), &own)).contains("copy.safetensors: is the checkpoint to read"));
        stdout(&run_in(dir.path(), &["weights", "run", "--out", "new.safetensors"]));
        let again = rejection(&run_in(dir.path(), &["weights", "run", "--out", "new.safetensors"]));
        assert!(again.contains("already exists; --force replaces it"), "{again}");
        let directory = rejection(&run_in(dir.path(), &["weights", "run", "--out", "."]));
        assert!(!directory.contains("--force"), "{directory}");
    }

    #[test]
    fn show_rejects_what_would_not_run() {
        let rejected = |overrides: &[&str], words: &str| {
            let mut arguments = vec!["train", "--show"];
            arguments.extend(overrides);
            let error = rejection(&run(&arguments));
            assert!(error.contains(words), "{arguments:?}: {error}");
        };
        rejected(&["--set", "hidden=0"], "`hidden` must be at least 1");
        rejected(&["--set", "processor=mpn"], "did you mean `mpnn`?");
        rejected(&["--algorithms", "bsf"], "did you mean `bfs`?");
        rejected(&["--algorithms", "bfs", "--set", "data=nowhere"], "nowhere: not a directory");
        rejected(&["--algorithms", "bfs", "--set", "lengths=0"], "`lengths`");
        rejected(&["--algorithms", "bfs", "--set", "data=clrs30", "--set", "batch_size=1001"], "has 1000 samples");
        let shown = stdout(&run(&["train", "--show", "--algorithms", "bfs", "--set", "hidden=64"]));
        assert!(shown.contains("\nhidden = 64\n") && shown.contains("algorithms = [\"bfs\"]\n"), "{shown}");
        let defaults = run(&["train", "--show"]);
        assert!(stdout(&defaults).contains("\nhidden = 128\n"));
        assert_eq!(text(&defaults.stderr), "clrs: note: training also needs --algorithms\n");
    }

    #[test]
    fn an_unknown_instruction_set_is_rejected() {
        let dir = trained();
        for arguments in [&["eval", "run"][..], &["train", "--algorithms", "bfs", "--out", "new"]] {
            let mut command = clrs(arguments);
            let command = command.current_dir(dir.path()).env("CLRS_ISA", "bogus");
            let error = rejection(&command.output().expect("the program starts"));
            assert!(error.starts_with("clrs: CLRS_ISA: unknown or unsupported instruction set `bogus`"), "{error}");
        }
        assert!(!dir.path().join("new").exists());
    }

    #[test]
    fn an_option_that_is_set_twice_is_rejected_by_eval() {
        let dir = trained();
        let error = rejection(&run_in(dir.path(), &["eval", "run", "--sizes", "4", "--set", "p=0.5", "--set", "p=0.5"]));
        assert!(error.contains("`p` is set twice"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_rejected_as_recipes_weights_and_checkpoints() {
        let dir = trained();
        assert!(Command::new("mkfifo").arg(dir.path().join("fifo")).status().expect("mkfifo exists").success());
        let train = ["train", "--algorithms", "bfs", "--out", "new"];
        for arguments in [
            [&train[..], &["--weights", "fifo"]].concat(),
            [&train[..], &["--processor-weights", "fifo"]].concat(),
            [&train[..], &["fifo"]].concat(),
            vec!["eval", "run", "--checkpoint", "fifo"],
            vec!["weights", "run", "--checkpoint", "fifo"],
        ] {
            let error = rejection(&run_in(dir.path(), &arguments));
            assert!(error.contains("fifo: not a regular file"), "{arguments:?}: {error}");
        }
        assert!(!dir.path().join("new").exists());
    }

    #[cfg(unix)]
    #[test]
    fn paths_of_runs_and_weights_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;
        let dir = trained();
        let name = |bytes: &'static [u8]| std::ffi::OsStr::from_bytes(bytes);
        std::fs::rename(dir.path().join("run"), dir.path().join(name(b"r\xff"))).expect("renamed");
        let eval =
            ["eval", "--quiet", "--sizes", "4", "--count", "2", "--json", "--examples", "e.jsonl", "--trajectories", "t.jsonl"];
        let mut command = clrs(&eval);
        let output = command.arg(name(b"r\xff")).current_dir(dir.path()).output().expect("the program starts");
        assert!(stdout(&output).contains("\"run\": \"r\u{fffd}\""));
        for file in ["e.jsonl", "t.jsonl"] {
            let lines = std::fs::read_to_string(dir.path().join(file)).expect("written");
            assert!(lines.lines().all(|line| line.starts_with("{\"run\":\"r\u{fffd}\"")), "{lines}");
        }
        let weights = dir.path().join(name(b"r\xff")).join("best.safetensors");
        let small = ["hidden=8", "steps=1", "lengths=4", "val_samples=4", "batch_size=4"].map(|text| ["--set", text]).concat();
        let mut command = clrs(&["train", "--quiet", "--algorithms", "bfs", "--out", "new", "--weights"]);
        let output = command.arg(weights).args(small).current_dir(dir.path()).output().expect("the program starts");
        stdout(&output);
        let provenance = std::fs::read_to_string(dir.path().join("new/provenance.json")).expect("written");
        assert!(provenance.contains("r\u{fffd}/best.safetensors"), "{provenance}");
    }
}
