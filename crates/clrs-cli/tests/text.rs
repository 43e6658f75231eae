//! `clrs text` as a user runs it: killed, interrupted, onto a full disk, into a pipe.

mod common;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{clrs, interruption, partial_files, path, rejection, run, run_in, stdout, text, wait_until};

/// Files of a directory, without hidden ones.
fn files(dir: &Path) -> Vec<PathBuf> {
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let entries = std::fs::read_dir(dir).into_iter().flatten().map(|file| file.expect("readable").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| !is_hidden(path)).collect();
    files.sort();
    files
}

const MANY: [&str; 10] = [
    "text",
    "generate",
    "--algorithms",
    "bfs,bridges,quicksort,floyd_warshall,minimum,dfs",
    "-n",
    "5,7",
    "--count",
    "3000",
    "--hints",
    "--out",
];

#[test]
fn killed_at_any_moment_only_complete_files_exist_and_a_rerun_completes_them() {
    let (killed, complete) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let out = killed.path();
    stdout(&clrs(&MANY).arg(complete.path()).output().expect("the program starts"));
    let expected = files(complete.path());
    assert_eq!(expected.len(), 6);
    let moments: [&dyn Fn() -> bool; 5] = [
        &|| true,
        &|| partial_files(out) > 0,
        &|| !files(out).is_empty(),
        &|| files(out).len() > 1 && partial_files(out) > 0,
        &|| files(out).len() > 3,
    ];
    let mut unfinished = 0;
    for moment in moments {
        let mut command = clrs(&MANY);
        let command = command.arg(out).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        wait_until(&mut child, moment);
        child.kill().expect("SIGKILL");
        child.wait().expect("the process ends");
        unfinished += usize::from(files(out).len() < expected.len());
        for file in files(out) {
            let other = complete.path().join(file.file_name().expect("a name"));
            assert!(std::fs::read(&file).expect("a file") == std::fs::read(other).expect("a file"), "{}", file.display());
        }
    }
    assert!(unfinished > 0, "killed before the end");
    let again = stdout(&clrs(&MANY).arg(out).output().expect("the program starts"));
    assert!(again.starts_with("6 files ("), "{again}");
    for (found, expected) in files(out).iter().zip(&expected) {
        assert!(std::fs::read(found).expect("a file") == std::fs::read(expected).expect("a file"), "{}", found.display());
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_incomplete_file_and_tells_how_to_continue() {
    let dir = tempfile::tempdir().expect("a directory");
    let arguments = ["text", "generate", "--algorithms", "quickselect", "-n", "64", "--count", "1000000", "--quiet", "--out"];
    let mut command = clrs(&arguments);
    let command = command.arg(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    assert!(wait_until(&mut child, || partial_files(dir.path()) > 0));
    let output = common::interrupt(child);
    assert!(interruption(&output).contains("0 of 1 file complete. Repeat the command"), "{}", text(&output.stderr));
    assert_eq!((partial_files(dir.path()), files(dir.path()).len()), (0, 0));
}

/// A limit on the size of files stands in for a full disk: the write fails halfway.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_names_the_file_and_leaves_nothing() {
    for format in ["parquet", "jsonl", "json"] {
        let dir = tempfile::tempdir().expect("a directory");
        let script = format!(
            "trap '' XFSZ; ulimit -f 40; exec {} text generate --algorithms bubble_sort -n 32 --file-format {format} --out {}",
            env!("CARGO_BIN_EXE_clrs"),
            path(dir.path()),
        );
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert!(rejection(&output).contains(&format!("bubble_sort.{format}: ")), "{}", text(&output.stderr));
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0, "no incomplete file is left");
    }
}

#[test]
fn samples_are_printed_until_the_reader_has_seen_enough() {
    let mut command = clrs(&["text", "sample", "bfs", "-n", "8", "--count", "1000000000000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for index in 0..1000 {
        let line = lines.next().expect("endless").expect("text");
        assert!(line.contains(&format!("\"index\":{index},")), "{line}");
    }
    drop(lines);
    let output = child.wait_with_output().expect("the process ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

/// Samples of both verbs are the same, in the same order.
#[test]
fn text_and_stored_trajectories_align() {
    let dir = tempfile::tempdir().expect("a directory");
    let set = ["generate", "--algorithms", "dijkstra", "-n", "6", "--count", "20", "--seed", "4", "--set", "truncate_decimals=3"];
    stdout(&run_in(dir.path(), &[&set[..], &["--out", "sets"]].concat()));
    let texts = ["text", "sample", "dijkstra", "-n", "6", "--count", "20", "--seed", "4", "--decimals", "3", "--hints"];
    let printed = stdout(&run_in(dir.path(), &texts));
    let stored = clrs_store::SetReader::open(&dir.path().join("sets/dijkstra_n6_s4.arrow"));
    let stored = stored.and_then(|mut reader| reader.read_all()).expect("a set");
    let algorithm = clrs::Registry::builtin().find("dijkstra").expect("a built-in algorithm");
    let formatter = clrs_text::Formatter::new(algorithm, clrs_text::Format::V2_0_3, true);
    for (line, sample) in printed.lines().zip(stored.iter()) {
        let example = formatter.format(sample).expect("a stored sample");
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((row["question"].as_str(), row["answer"].as_str()), (Some(&*example.question), Some(&*example.answer)));
    }
    assert_eq!((printed.lines().count(), stored.len()), (20, 20));
}

#[test]
fn mistakes_are_one_line_and_the_way_out() {
    let reject = |arguments: &[&str]| rejection(&run(&[&["text"], arguments].concat()));
    let dir = tempfile::tempdir().expect("a directory");
    let out = path(dir.path());
    let cases: [(&[&str], &str); 12] = [
        (&["sample", "bsf"], "unknown algorithm `bsf`; did you mean `bfs`?"),
        (&["sample", "bfs", "--count", "0"], "--count must be at least 1"),
        (&["sample", "bfs", "--format", "text@3"], "unknown text format `text@3`; expected text@2.0.3, text@2.0.1 or text@1"),
        (
            &["generate", "--out", out],
            "nothing to generate: use --benchmark clrs-text, or --algorithms with names from `clrs list`",
        ),
        (
            &["generate", "--benchmark", "clrs30", "--out", out],
            "unknown benchmark `clrs30`; expected clrs-text (= clrs-text@2.0.3) or clrs-text@2.0.1",
        ),
        (
            &["generate", "--benchmark", "clrs-text", "--split", "test", "--out", out],
            "unknown split `test`; expected train or val",
        ),
        (
            &["generate", "--benchmark", "clrs-text", "--algorithms", "bipartite_matching", "--out", out],
            "bipartite_matching is not part of clrs-text; omit --benchmark to generate texts of it",
        ),
        (&["generate", "--algorithms", "bfs,bfs", "--out", out], "bfs is listed twice; list all of its sizes at once"),
        (
            &["generate", "--lengths", "bfs=4", "--lengths", "bfs=5", "--stream", "--out", out],
            "bfs is listed twice; list all of its sizes at once",
        ),
        (&["generate", "--lengths", "bsf=4", "--out", out], "--lengths: unknown algorithm `bsf`; did you mean `bfs`?"),
        (&["generate", "--stream", "--algorithms", "bfs", "--seed", "1,2", "--out", out], "a stream has one seed"),
        (
            &["generate", "--stream", "--algorithms", "bfs,dfs", "--file-format", "json", "--out", out],
            "stream: the JSON of dm-clrs has the samples of one algorithm; use another file format",
        ),
    ];
    for (arguments, error) in cases {
        assert_eq!(reject(arguments), format!("clrs: {error}\n"), "{arguments:?}");
    }
    assert!(files(dir.path()).is_empty());
}

#[test]
fn predictions_come_from_a_pipe_and_are_not_replaced_by_verdicts() {
    use std::io::Write;
    let dir = tempfile::tempdir().expect("a directory");
    let sample = stdout(&run(&["text", "sample", "bfs", "-n", "4", "--count", "3"]));
    let predictions = sample.replace("\"answer\"", "\"prediction\"");
    let piped = |input: &str| {
        let mut command = clrs(&["text", "score", "-"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("written");
        child.wait_with_output().expect("the process ends")
    };
    std::fs::write(dir.path().join("predictions.jsonl"), &predictions).expect("written");
    let of_file = stdout(&run_in(dir.path(), &["text", "score", "predictions.jsonl"]));
    assert_eq!(stdout(&piped(&predictions)), of_file);
    assert_eq!(rejection(&piped("{}")), "clrs: standard input: line 1: not a prediction: missing field `question` at column 2\n");

    let arguments = ["text", "score", "predictions.jsonl", "--examples", "./predictions.jsonl", "--force"];
    let error = "clrs: ./predictions.jsonl: has the predictions; write the examples to another file\n";
    assert_eq!(rejection(&run_in(dir.path(), &arguments)), error);
}
