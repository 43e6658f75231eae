//! The explorer with trained networks, as a user starts it: `clrs serve --run DIR`.
#![cfg(all(unix, feature = "networks"))]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use common::{clrs, path, rejection, run, run_in, stdout, train};
use serde_json::Value;

/// A running `clrs serve`, stopped when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(dir: &Path, runs: &[&str]) -> Server {
        let mut command = clrs(&["serve", "--port", "0"]);
        for run in runs {
            command.args(["--run", run]);
        }
        let mut child = command.current_dir(dir).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
        Server { child, address }
    }

    /// Status and body.
    fn get(&self, path: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {path}: {text}")))
    }

    fn ok(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn error(&self, path: &str) -> (u16, String) {
        let (status, body) = self.get(path);
        assert_ne!(status, 200, "{path}");
        (status, body["error"].as_str().expect("a message").to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn predictions_are_those_of_eval_beside_the_truth() {
    let dir = tempfile::tempdir().expect("a directory");
    train(dir.path(), "a", &["algorithms=bfs,insertion_sort"]);
    let server = Server::start(dir.path(), &["a"]);
    let info = server.ok("/api/info");
    assert_eq!(info["runs"], serde_json::json!([{ "name": "a", "algorithms": ["bfs", "insertion_sort"] }]));

    for steps in ["oracle", "max", "fixpoint"] {
        let query = format!("algorithm=bfs&size=6&seed=3&count=4&steps={steps}");
        let overview = server.ok(&format!("/api/network?{query}"));
        let common = ["eval", "a", "--quiet", "--json", "--hints", "--algorithms", "bfs", "--sizes", "6", "--count", "4"];
        let file = format!("{steps}.jsonl");
        let own = ["--seed", "3", "--steps", steps, "--trajectories", &file, "--trajectory-samples", "0,1,2,3"];
        let evaluated: Value = serde_json::from_str(&stdout(&run_in(dir.path(), &[&common[..], &own].concat()))).expect("JSON");
        let result = &evaluated["results"][0];
        for metric in ["score", "validity", "exact_match"] {
            assert_eq!(overview["metrics"][metric], result[metric], "{steps} {metric}");
        }
        assert_eq!(overview["mean_steps"], result["mean_steps"]);
        assert_eq!(overview["hints"], result["hints"]);
        assert_eq!((&overview["run"], &overview["step"]), (&"a".into(), &3.into()));
        assert_eq!(overview["samples"].as_array().map(Vec::len), Some(4));

        let text = std::fs::read_to_string(dir.path().join(&file)).expect("trajectories");
        for (sample, line) in text.lines().enumerate() {
            let decisions = server.ok(&format!("/api/network/sample?{query}&sample={sample}"));
            let expected: Value = serde_json::from_str(line).expect("JSON");
            for part in ["problem", "probes", "predictions"] {
                assert_eq!(decisions["trace"][part], expected[part], "{steps}, sample {sample}, {part}");
            }
            assert_eq!(decisions["overview"], overview["samples"][sample], "{steps}, sample {sample}");
        }
    }
    let invalid = server.ok("/api/network?algorithm=bfs&size=12&count=16");
    let wrong = invalid["samples"].as_array().expect("a list").iter().find(|sample| sample["valid"] == false).expect("an error");
    assert!(wrong["failure"].as_str().is_some_and(|reason| reason.contains("node")), "{wrong}");
    assert!(wrong["first_error"].as_u64() <= wrong["steps"].as_u64());
}

#[test]
fn questions_that_make_no_sense_have_a_message() {
    let dir = tempfile::tempdir().expect("a directory");
    train(dir.path(), "runs/a", &["algorithms=bfs"]);
    let server = Server::start(dir.path(), &["runs"]);
    for (path, status, part) in [
        ("/api/network?algorithm=bfs&run=1", 404, "no run number 1"),
        ("/api/network?algorithm=bfs&run=../a", 400, "must be a number"),
        ("/api/network?algorithm=quicksort", 400, "quicksort"),
        ("/api/network?algorithm=nothing", 400, "nothing"),
        ("/api/network?algorithm=bfs&steps=never", 400, "never"),
        ("/api/network?algorithm=bfs&size=65", 413, "64"),
        ("/api/network?algorithm=bfs&count=0", 413, "samples"),
        ("/api/network?algorithm=bfs&count=100000", 413, "128"),
        ("/api/network?algorithm=bfs&size=0", 400, "size"),
        ("/api/network?algorithm=bfs&set=nothing%3D1", 400, "nothing"),
        ("/api/network/sample?algorithm=bfs&count=4&sample=4", 400, "sample"),
        ("/api/network?algorithm=bfs&color=red", 400, "color"),
    ] {
        let (found, message) = server.error(path);
        assert_eq!(found, status, "{path}: {message}");
        assert!(message.contains(part) && !message.contains('\n') && !message.contains(path_of(&dir)), "{path}: {message}");
    }
    assert_eq!(server.ok("/api/training").as_array().map(Vec::len), Some(1));
}

fn path_of(dir: &tempfile::TempDir) -> &str {
    path(dir.path())
}

#[test]
fn training_is_followed_while_runs_are_added_and_damaged() {
    let dir = tempfile::tempdir().expect("a directory");
    train(dir.path(), "runs/a", &["algorithms=bfs", "eval_every=1"]);
    let server = Server::start(dir.path(), &["runs"]);
    let first = server.ok("/api/training");
    assert_eq!(
        (&first[0]["name"], &first[0]["status"]["status"], &first[0]["error"]),
        (&"a".into(), &"done".into(), &Value::Null)
    );
    assert_eq!(first[0]["losses"][0]["points"].as_array().map(Vec::len), Some(3));
    assert_eq!(first[0]["validations"][0]["points"][2]["step"], 3);

    train(dir.path(), "runs/0-earlier", &["algorithms=minimum"]);
    let second = server.ok("/api/training");
    assert_eq!([&second[0]["name"], &second[1]["name"]], ["a", "0-earlier"], "an index stays that of its run");

    std::fs::write(dir.path().join("runs/a/metrics.jsonl"), "no metrics\n").expect("written");
    std::fs::write(dir.path().join("runs/0-earlier/best.safetensors"), "no network").expect("written");
    let third = server.ok("/api/training");
    assert!(third[0]["error"].as_str().is_some_and(|error| error.contains("metrics.jsonl")), "{}", third[0]["error"]);
    assert_eq!(third[1]["error"], Value::Null);
    let (status, message) = server.error("/api/network?algorithm=minimum&run=1&size=4");
    assert_eq!(status, 400, "{message}");
    assert!(message.contains("best.safetensors"), "{message}");
    assert_eq!(server.ok("/api/network?algorithm=bfs&size=4&count=2")["run"], "a", "the other run is not affected");
}

#[test]
fn what_is_no_run_is_rejected_at_the_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let nothing = rejection(&run(&["serve", "--port", "0", "--run", path(dir.path())]));
    assert!(nothing.contains("neither a run directory nor a directory of runs"), "{nothing}");
    let taken = Server::start(dir.path(), &[]);
    let port = taken.address.rsplit(':').next().expect("a port");
    let error = rejection(&run(&["serve", "--port", port]));
    assert!(error.contains(port) && error.contains("--port 0"), "{error}");
}
