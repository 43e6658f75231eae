//! Shell listings of README.md, CONTRIBUTING.md and docs/.
//!
//! - In `console` listings, the lines after `$ ` are executed in order, in an empty directory per file, and their standard output must be
//!   the lines that follow. A line `...` stands for any number of lines. After `console numbers-vary`, digits are not compared: times
//!   vary, and the last bits of trained networks depend on the instruction set. `UPDATE_DOCS=1` writes the actual output into the
//!   files, where it differs in any way.
//! - In `sh` listings, every call of `clrs` must parse. Nothing is executed.
#![cfg(all(unix, feature = "networks"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn console_listings_show_the_actual_output() {
    let mut failures = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a Markdown file");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let update = std::env::var_os("UPDATE_DOCS").is_some();
        let actual = with_actual_output(&text, directory.path(), update);
        if update && text != actual {
            std::fs::write(&path, &actual).expect("a writable file");
        } else if let Some((expected, found)) = text.lines().zip(actual.lines()).find(|(expected, found)| expected != found) {
            failures.push(format!("{}: expected `{expected}`, found `{found}`", path.display()));
        } else if text.lines().count() != actual.lines().count() {
            failures.push(format!("{}: the output of the last command differs", path.display()));
        }
    }
    assert!(failures.is_empty(), "UPDATE_DOCS=1 updates the listings\n{}", failures.join("\n"));
}

#[test]
fn command_lines_parse() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut count = 0;
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a Markdown file");
        for (_, lines) in listings(&text).into_iter().filter(|(info, _)| *info == "sh") {
            let joined = lines.join("\n").replace("\\\n", " ").replace("cargo run --release -- ", "clrs ");
            let without_comments = joined.lines().map(|line| line.split(" #").next().unwrap_or(line));
            let calls = without_comments.flat_map(|line| line.split(['|', ';'])).map(str::trim);
            for call in calls.filter(|call| call.starts_with("clrs ")) {
                // clap reports errors of earlier arguments before it prints the help.
                let output = shell(&format!("{call} --help"), directory.path());
                assert!(output.status.success(), "{}: {call}\n{}", path.display(), String::from_utf8_lossy(&output.stderr));
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} calls of `clrs` in the documentation");
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let markdown = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    };
    // A packaged crate comes without the repository's docs.
    let mut files: Vec<PathBuf> =
        if root.join("docs").exists() { markdown(root.clone()).chain(markdown(root.join("docs"))).collect() } else { Vec::new() };
    files.sort();
    files
}

/// Info strings and lines of fenced code blocks.
fn listings(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut listings = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            listings.push((info, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    listings
}

/// The text with the actual output of every command whose output is not as shown, digits included if `exact`.
fn with_actual_output(text: &str, directory: &Path, exact: bool) -> String {
    let mut result = String::new();
    let mut lines = text.lines().peekable();
    let mut push = |line: &str| result.extend([line, "\n"]);
    while let Some(line) = lines.next() {
        push(line);
        let Some(info) = line.strip_prefix("```").filter(|info| info.starts_with("console")) else { continue };
        while let Some(command) = lines.next_if(|line| *line != "```") {
            push(command);
            let command = command.strip_prefix("$ ").unwrap_or_else(|| panic!("not a command: {command}"));
            let expected: Vec<&str> =
                std::iter::from_fn(|| lines.next_if(|line| *line != "```" && !line.starts_with("$ "))).collect();
            let output = shell(command, directory);
            assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
            let stdout = String::from_utf8(output.stdout).expect("UTF-8");
            let actual: Vec<&str> = stdout.lines().map(str::trim_end).collect();
            let is_exact = exact || !info.contains("numbers-vary");
            let is_equal = |a: &str, b: &str| if is_exact { a == b } else { shape(a) == shape(b) };
            for line in if matches(&expected, &actual, &is_equal) { expected } else { actual } {
                push(line);
            }
        }
    }
    result
}

fn matches(expected: &[&str], actual: &[&str], is_equal: &dyn Fn(&str, &str) -> bool) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"...", rest)) => (0..=actual.len()).any(|skipped| matches(rest, &actual[skipped..], is_equal)),
        Some((first, rest)) => {
            actual.split_first().is_some_and(|(line, others)| is_equal(first, line) && matches(rest, others, is_equal))
        }
    }
}

/// A line without its numbers and spaces.
fn shape(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let is_digit = |index: usize| chars.get(index).is_some_and(char::is_ascii_digit);
    let is_exponent = |index: usize| {
        let follows = is_digit(index + 1) || (chars.get(index + 1) == Some(&'-') && is_digit(index + 2));
        chars[index] == 'e' && index > 0 && is_digit(index - 1) && follows
    };
    let is_kept = |index: &usize| !is_digit(*index) && !is_exponent(*index) && ![' ', '-', '.'].contains(&chars[*index]);
    (0..chars.len()).filter(is_kept).map(|index| chars[index]).collect()
}

#[test]
fn numbers_of_any_size_have_the_same_shape() {
    assert_eq!(shape("loss 1.5e-05, 3 steps"), shape("loss 0.25, 12 steps"));
    assert_eq!(shape("-1e7"), "");
    assert_ne!(shape("3e"), shape("3"));
}

fn shell(command: &str, directory: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_clrs")).parent().expect("a directory");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(binary.to_path_buf()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).expect("a PATH");
    Command::new("sh").args(["-c", command]).current_dir(directory).env("PATH", path).output().expect("sh runs")
}
