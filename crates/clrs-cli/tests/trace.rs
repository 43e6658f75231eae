//! What `clrs trace --json` prints can be fed back, for every algorithm, through a pipe.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::{clrs, text};

fn trace(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = clrs(&["trace"]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("piped").write_all(input).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output.stdout
}

#[test]
fn a_trace_fed_back_is_the_same_trace() {
    for algorithm in clrs::Registry::builtin().iter() {
        let drawn = trace(&[algorithm.name(), "-n", "6", "--seed", "5", "--json"], b"");
        let again = trace(&[algorithm.name(), "--problem", "-", "--json"], &drawn);
        assert!(drawn == again, "{}", algorithm.name());
        let problem: serde_json::Value = serde_json::from_slice(&drawn).expect("JSON");
        let alone = trace(&[algorithm.name(), "--problem", "-", "--json"], problem["problem"].to_string().as_bytes());
        assert!(drawn == alone, "{}", algorithm.name());
    }
}
