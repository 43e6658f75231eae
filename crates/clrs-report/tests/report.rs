//! Figures and files.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use clrs_report::{Report, ReportError};
use clrs_store::OnExisting;

use common::{assert_snapshot, sweep};

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
    assert_eq!(names, ["validation-curves", "score-by-size", "hint-accuracy"]);
    assert_snapshot("validation-curves.svg", &report.figures[0].to_svg());
    assert_snapshot("score-by-size.csv", &report.figures[1].to_csv());
    // Scalar hints have an error instead of a score, and are not in the figure.
    assert_snapshot("hint-accuracy.csv", &report.figures[2].to_csv());
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
