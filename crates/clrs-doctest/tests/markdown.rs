//! Markdown files refer to files that exist, and their listings of files are equal to the files.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Markdown files of the root and of docs/, with their texts.
fn files() -> Vec<(PathBuf, String)> {
    let folders = [root(), root().join("docs"), root().join("golden")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()));
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect()
}

/// After `<!-- listing: FILE -->`, a code block has the text of the file. `UPDATE_DOCS=1` updates it.
#[test]
fn listings_equal_their_files() {
    let mut count = 0;
    for (path, text) in files() {
        let mut updated = String::new();
        let mut rest = &*text;
        while let Some((before, after)) = rest.split_once("<!-- listing: ") {
            let (file, after) = after.split_once(" -->\n```rust\n").expect("a Rust listing after the marker");
            let (_, after) = after.split_once("```\n").expect("the end of the listing");
            let content = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            updated += &[before, "<!-- listing: ", file, " -->\n```rust\n", &content, "```\n"].concat();
            rest = after;
            count += 1;
        }
        updated += rest;
        if text != updated && std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, updated).expect("a writable file");
        } else {
            assert!(text == updated, "{}: UPDATE_DOCS=1 cargo test --release -p clrs-doctest updates listings", path.display());
        }
    }
    assert_eq!(count, 2, "listings of an algorithm and of a processor in CONTRIBUTING.md");
}

#[test]
fn links_point_to_files_and_headings_that_exist() {
    let mut broken = Vec::new();
    for (path, text) in files() {
        // Listings have their own links.
        let prose: String = text.split("```").step_by(2).collect();
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            let has_heading = || fs::read_to_string(&linked).is_ok_and(|text| headings(&text).contains(&heading.to_owned()));
            if !linked.exists() || !heading.is_empty() && !has_heading() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Anchors of headings, as GitHub forms them.
fn headings(text: &str) -> Vec<String> {
    let titles = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    titles.map(|title| title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn paths_in_the_text_exist() {
    const FOLDERS: [&str; 8] = ["crates/", "docs/", "examples/", "fuzz/", "golden/", "recipes/", "results/", "xtask/"];
    let mut missing = Vec::new();
    for (path, text) in files() {
        // A changelog and instructions name files that do not exist any more or not yet.
        let is_changelog = path.ends_with("CHANGELOG.md");
        for word in text.split('`').skip(1).step_by(2).filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder))) {
            let is_pattern = word.contains(['<', '*', ' ']) || word.contains("VERB");
            let is_example = word.ends_with("selection_sort.rs") || word.ends_with("processors/mean.rs");
            if !is_changelog && !is_pattern && !is_example && !root().join(word).exists() {
                missing.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Modules are files and folders of a crate's source folder; in clrs-nn, those of its folders.
#[test]
fn the_architecture_lists_every_module() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let nn = ["config", "data", "eval", "exec", "model", "parity", "run", "train"].map(|folder| format!("clrs-nn/src/{folder}"));
    let folders =
        ["clrs/src", "clrs-store/src", "clrs-text/src", "clrs-kernels/src", "clrs-nn/src", "clrs-py/src", "clrs-web/src"]
            .map(str::to_owned);
    let mut missing = Vec::new();
    for folder in folders.iter().chain(&nn) {
        for entry in fs::read_dir(root().join("crates").join(folder)).expect("a source folder").flatten() {
            let name = entry.path().file_stem().expect("a name").to_string_lossy().into_owned();
            let is_listed =
                [format!("`{name}`"), format!("`{name}/"), format!("/{name}/`")].iter().any(|text| architecture.contains(text));
            if !["lib", "mod", "bin", "error"].contains(&&*name) && !is_listed {
                missing.push(format!("{folder}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
