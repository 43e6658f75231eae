//! `clrs report` on runs that are trained here, damaged files among them.
#![cfg(feature = "networks")]

mod common;

use std::path::Path;

use common::{rejection, run_in, stdout, text, train};

/// Two seeds of a network, evaluated on the test set.
fn trained(dir: &Path) {
    for seed in ["1", "2"] {
        train(dir, seed, &["algorithms=bfs", &format!("seed={seed}")]);
    }
    stdout(&run_in(dir, &["eval", "1", "2", "--quiet"]));
}

#[test]
fn a_report_has_all_runs_and_is_not_replaced_unless_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    trained(dir.path());
    let report = ["report", "1", "2", "--out", "report"];
    let printed = stdout(&run_in(dir.path(), &report));
    assert!(printed.starts_with("2 runs finished and evaluated: 1 algorithm, 1 model, 2 seeds\n"), "{printed}");
    let page = std::fs::read(dir.path().join("report/index.html")).expect("a page");
    assert!(text(&page).contains("clrs train --algorithms") || text(&page).contains("clrs train --set"), "the command");

    let existing = rejection(&run_in(dir.path(), &report));
    assert_eq!(existing, "clrs: report: exists and is not empty; --force replaces the files of a report in it\n");
    stdout(&run_in(dir.path(), &[&report[..], &["--force"]].concat()));
    assert!(std::fs::read(dir.path().join("report/index.html")).expect("a page") == page, "the same bytes");
}

#[test]
fn the_archive_of_a_report_makes_the_same_report_and_takes_more_runs() {
    let dir = tempfile::tempdir().expect("a directory");
    trained(dir.path());
    stdout(&run_in(dir.path(), &["report", "1", "--out", "first"]));
    std::fs::remove_dir_all(dir.path().join("1")).expect("removable");
    stdout(&run_in(dir.path(), &["report", "first/runs.jsonl", "--out", "again"]));
    for file in ["index.html", "runs.jsonl"] {
        let read = |report: &str| std::fs::read(dir.path().join(report).join(file)).expect(file);
        assert!(read("first") == read("again"), "{file}");
    }
    let printed = stdout(&run_in(dir.path(), &["report", "first/runs.jsonl", "2", "--out", "both"]));
    assert!(printed.starts_with("2 runs finished and evaluated: 1 algorithm, 1 model, 2 seeds\n"), "{printed}");

    std::fs::write(dir.path().join("notes.jsonl"), "{\"format\":9}\n").expect("writable");
    let other = rejection(&run_in(dir.path(), &["report", "notes.jsonl", "--out", "none"]));
    assert!(other.starts_with("clrs: notes.jsonl: "), "{other}");
    assert_eq!(other.lines().count(), 1, "{other}");
}

#[test]
fn a_damaged_evaluation_is_one_line_and_the_others_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    trained(dir.path());
    let evals = dir.path().join("1/evals");
    let file = evals.read_dir().expect("evaluations").next().expect("one").expect("an entry").path();
    std::fs::write(&file, "{\"format\":1,").expect("writable");
    let output = run_in(dir.path(), &["report", "1", "2", "--out", "report"]);
    let printed = stdout(&output);
    assert!(printed.starts_with("2 of 2 runs finished, 1 evaluated: "), "{printed}");
    let warning = text(&output.stderr);
    assert_eq!(warning.lines().count(), 1, "{warning}");
    assert!(warning.contains("damaged") && warning.contains("evaluating again replaces it"), "{warning}");
    assert!(text(&std::fs::read(dir.path().join("report/index.html")).expect("a page")).contains("1 of 2 runs"));
}

#[test]
fn directories_without_runs_are_one_line_each() {
    let dir = tempfile::tempdir().expect("a directory");
    train(dir.path(), "runs/1", &["algorithms=bfs"]);
    let missing = rejection(&run_in(dir.path(), &["report", "nothing"]));
    assert_eq!(missing, "clrs: nothing: not a run directory (no config.toml)\n");
    let above = rejection(&run_in(dir.path(), &["report", "runs"]));
    assert_eq!(above, "clrs: runs: not a run directory (no config.toml); it contains some: `clrs report runs/*`\n");
    let some = run_in(dir.path(), &["report", "runs/1", "nothing"]);
    assert_eq!(some.status.code(), Some(2));
    assert!(text(&some.stdout).starts_with("1 of 1 run finished, 0 evaluated: "), "{}", text(&some.stdout));
    let lines = text(&some.stderr);
    let expected = ["clrs: nothing: not a run directory (no config.toml)", "clrs: 1 of 2 paths left out"];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
}
