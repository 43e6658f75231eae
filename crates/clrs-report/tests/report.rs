//! Figures and files.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;
use clrs_report::runs::{Evaluation, RunState};
use clrs_report::{Report, ReportError, archive};
use clrs_store::OnExisting;

use common::{assert_snapshot, done, sweep, test_evaluation, with_curve};

/// Every file below a directory.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in root.read_dir().expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(self::files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            files.insert(name, std::fs::read(&path).expect("readable"));
        }
    }
    files
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let runs = sweep();
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str| {
        let out = dir.path().join(name);
        Report::new(&runs).write(&out, OnExisting::Fail).expect("written");
        files(&out)
    };
    let (first, second) = (write("a"), write("b"));
    assert!(
        first == second,
        "{:?} differ",
        first.keys().filter(|name| first.get(*name) != second.get(*name)).collect::<Vec<_>>()
    );
    for name in ["index.html", "report.json", "tables/families.tex", "figures/validation-curves.svg", "figures/score-by-size.csv"]
    {
        assert!(first.contains_key(name), "{name}: {:?}", first.keys());
    }
}

#[test]
fn the_page_needs_no_other_file() {
    let page = Report::new(&sweep()).to_html();
    for outside in ["<script", "<link", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
}

#[test]
fn figures_look_as_in_their_snapshots() {
    let runs = sweep();
    let report = Report::new(&runs);
    let names: Vec<&str> = report.figures.iter().map(|figure| figure.name).collect();
    // Nothing of the sweep is evaluated by size without the true number of steps.
    let expected = ["validation-curves", "score-by-size", "validity-by-size", "exact-match-by-size", "hint-accuracy"];
    assert_eq!(names, expected);
    assert_snapshot("validation-curves.svg", &report.figures[0].to_svg());
    assert_snapshot("score-by-size.csv", &report.figures[1].to_csv());
    // Scalar hints have an error instead of a score, and are not in the figure.
    assert_snapshot("hint-accuracy.csv", &report.figures[4].to_csv());
}

#[test]
fn figures_by_size_show_one_metric_and_one_number_of_steps_each() {
    let mut run = done("bfs", "mpnn", 1, 0.9);
    for (steps, score) in [(Steps::Oracle, 0.8), (Steps::Fixpoint, 0.7)] {
        let set = EvalSet::sampled(16);
        run.evaluations.push(Evaluation { set, score, ..test_evaluation("bfs", steps, score) });
    }
    let runs = [run];
    let report = Report::new(&runs);
    let mean = |name: &str| {
        let figure = report.figures.iter().find(|figure| figure.name == name).expect("a figure");
        assert_eq!(figure.records.len(), 1, "{name}");
        figure.records[0]["mean"].as_f64()
    };
    let names = ["score-by-size", "fixpoint-by-size", "validity-by-size", "exact-match-by-size"];
    assert_eq!(names.map(mean), [Some(0.8), Some(0.7), Some(0.4), Some(0.2)]);
}

#[test]
fn a_report_of_archived_runs_is_the_report_of_the_runs() {
    let mut runs = sweep();
    runs[0].state = RunState::Failed { step: 3, error: "the loss is not a number".into() };
    runs[1].state = RunState::Unfinished { step: 3, steps: 1000 };
    runs[2].problems.push("a file was left out".into());
    let dir = tempfile::tempdir().expect("a directory");
    let [first, again] = ["first", "again"].map(|name| dir.path().join(name));
    Report::new(&runs).write(&first, OnExisting::Fail).expect("written");
    let archived = archive::read(&first.join(archive::FILE)).expect("runs");
    Report::new(&archived).write(&again, OnExisting::Fail).expect("written");
    assert!(files(&first) == files(&again));
    // A run that has finished since then counts instead of the archived one, which is not mentioned.
    let finished = [archived, vec![with_curve(done("dfs", "triplet_gmpnn", 2, 0.8), 0.8)]].concat();
    let report = Report::new(&finished);
    assert_eq!((report.counts.runs, report.counts.not_started), (runs.len(), 0));
    assert_eq!(report.problems, ["a file was left out"]);
}

/// The recorded runs of the repository, which a packaged crate comes without.
#[test]
fn recorded_archives_keep_their_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let paths = folder.read_dir().into_iter().flatten().map(|entry| entry.expect("an entry").path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        let runs = archive::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(archive::to_text(&runs.iter().collect::<Vec<_>>()) == text, "{}", path.display());
    }
}

#[test]
fn damaged_archives_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("runs.jsonl");
    let runs = sweep();
    let text = archive::to_text(&runs.iter().collect::<Vec<_>>());
    let error = |text: &str| {
        std::fs::write(&path, text).expect("written");
        let error = archive::read(&path).expect_err("damaged").to_string();
        error.rsplit_once(": ").expect("a path").1.to_owned()
    };
    assert_eq!(error(""), "not a file of runs, which a report writes as runs.jsonl");
    assert_eq!(error("{\"a\": 1}\n"), "not a file of runs, which a report writes as runs.jsonl");
    assert_eq!(error(&text.replacen("\"format\":1", "\"format\":7", 1)), "has format 7; this program reads format 1");
    assert_eq!(error(&text.replacen("\"step\":[100,", "\"step\":[", 1)), "line 2 is not a run");
    assert_eq!(error(&text.replacen("\"bfs\"", "7", 1)), "line 2 is not a run");
    let (without_last, _) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(error(without_last), format!("has {} runs instead of {}", runs.len() - 1, runs.len()));
}

#[test]
fn existing_files_are_replaced_only_if_asked_for() {
    let dir = tempfile::tempdir().expect("a directory");
    let runs = sweep();
    let report = Report::new(&runs);
    std::fs::write(dir.path().join("mine.txt"), "mine").expect("writable");
    assert!(matches!(report.write(dir.path(), OnExisting::Fail), Err(ReportError::Exists(_))));
    report.write(dir.path(), OnExisting::Replace).expect("written");
    assert_eq!(files(dir.path())["mine.txt"], b"mine");
}

#[cfg(feature = "pdf")]
#[test]
fn pdf_files_have_their_font_and_the_same_bytes() {
    let svg = Report::new(&sweep()).figures[0].to_svg();
    let pdf = clrs_report::pdf::from_svg(&svg).expect("a figure");
    let contains = |text: &[u8]| pdf.windows(text.len()).any(|window| window == text);
    assert!(pdf.starts_with(b"%PDF-") && contains(b"DejaVuSans") && contains(b"/FontFile2"));
    for _ in 0..8 {
        assert!(clrs_report::pdf::from_svg(&svg).expect("a figure") == pdf);
    }
}
