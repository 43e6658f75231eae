//! docs/json.md against the output of the program: every documented key exists, and every key is documented.
#![cfg(feature = "networks")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{run_in, stdout, text, train};
use serde_json::Value;

/// The examples of the page by heading.
fn examples() -> BTreeMap<String, Value> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page exists");
    let mut examples = BTreeMap::new();
    for section in page.split("\n## ").skip(1) {
        let (heading, body) = section.split_once('\n').expect("a heading and a text");
        if let Some((_, rest)) = body.split_once("```json\n") {
            let (example, _) = rest.split_once("```").expect("a closed block");
            let example = serde_json::from_str(example).unwrap_or_else(|error| panic!("{heading}: {error}"));
            examples.insert(heading.to_owned(), example);
        }
    }
    examples
}

/// The structure of JSON values: their types, keys and items.
#[derive(Default)]
struct Schema {
    types: BTreeSet<&'static str>,
    keys: BTreeMap<String, Schema>,
    items: Option<Box<Schema>>,
}

impl Schema {
    fn of(values: &[Value]) -> Schema {
        let mut schema = Schema::default();
        for value in values {
            schema.add(value);
        }
        schema
    }

    fn add(&mut self, value: &Value) {
        let kind = match value {
            Value::Null => return, // any value may be null
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(items) => {
                let schema = self.items.get_or_insert_default();
                for item in items {
                    schema.add(item);
                }
                "array"
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.keys.entry(key.clone()).or_default().add(value);
                }
                "object"
            }
        };
        self.types.insert(kind);
    }

    /// Differences between the output and its documentation.
    fn differences(&self, documented: &Schema, at: &str, found: &mut Vec<String>) {
        if self.types != documented.types {
            found.push(format!("{at}: {:?} is documented as {:?}", self.types, documented.types));
        }
        if let (Some(items), Some(documented)) = (&self.items, &documented.items) {
            items.differences(documented, &format!("{at}[]"), found);
        }
        if documented.keys.is_empty() {
            return; // `{}` stands for any object
        }
        let is_any = |key: &str| key.chars().all(|c| c.is_ascii_uppercase() || c == '/');
        let any = documented.keys.iter().find(|(key, _)| is_any(key)).map(|(_, schema)| schema);
        for (key, schema) in &self.keys {
            match documented.keys.get(key).or(any) {
                Some(documented) => schema.differences(documented, &format!("{at}.{key}"), found),
                None => found.push(format!("{at}.{key} is not documented")),
            }
        }
        for key in documented.keys.keys().filter(|key| !is_any(key) && !self.keys.contains_key(*key)) {
            found.push(format!("{at}.{key} does not exist"));
        }
    }
}

/// Outputs of the program by heading of the page, with all optional keys.
fn outputs(dir: &Path) -> BTreeMap<&'static str, Vec<Value>> {
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&stdout(&run_in(dir, arguments))).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    };
    let lines = |file: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(dir.join(file)).expect("written");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let generate = ["generate", "--algorithms", "bfs,dfs", "-n", "4", "--count", "5", "--out", "data", "--json"];
    let generated = json(&generate);
    let stats = json(&["stats", "data", "--json"]);
    std::fs::write(dir.join("data/bad.arrow"), "not a set").expect("writable");
    let verified = run_in(dir, &["verify", "data", "--json"]);
    assert_eq!(verified.status.code(), Some(2), "{}", text(&verified.stderr));

    train(dir, "a", &["algorithms=bfs,minimum", "seed=1"]);
    train(dir, "b", &["algorithms=bfs,minimum", "seed=2"]);
    let eval = ["eval", "a", "b", "--quiet", "--split", "val", "--sizes", "5", "--count", "3", "--set", "truncate_decimals=3"];
    let extra = ["--hints", "--json", "--examples", "e.jsonl", "--trajectories", "t.jsonl"];
    let evaluated = json(&[&eval[..], &extra].concat());
    let sweep = "[set]\nhidden = 8\nsteps = 4\nlengths = [4]\nval_samples = 2\nbatch_size = 2\neval_every = 1\n\
                 [grid]\nalgorithms = ['bfs']\nlearning_rate = [1e30, 1e-3]\n[eval]\ncheckpoints = []";
    std::fs::write(dir.join("sweep.toml"), sweep).expect("writable");
    let planned = json(&["sweep", "plan", "sweep.toml", "--out", "sweep", "--json"]);
    assert_eq!(run_in(dir, &["sweep", "run", "sweep", "--quiet"]).status.code(), Some(2), "one of the runs fails");
    json(&["eval", "a", "b", "--quiet", "--algorithms", "bfs", "--json"]);
    // A run again: a problem. Another model: a difference.
    train(dir, "c", &["algorithms=bfs,minimum", "seed=1"]);
    for (seed, name) in [("seed=1", "d"), ("seed=2", "e")] {
        train(dir, name, &["algorithms=bfs,minimum", seed, "processor=pgn"]);
        json(&["eval", name, "--quiet", "--algorithms", "bfs", "--json"]);
    }
    let question = "bfs:\ns: 0, A: [[0 1 1], [1 0 0], [1 0 0]], initial_trace: [0 1 2]\ntrace | pi:\n";
    let prediction =
        serde_json::json!({ "question": question, "answer": "[0 0 0] | [0 0 0]", "prediction": "[0 1 0] | [0 0 1]", "size": 3 });
    std::fs::write(dir.join("predictions.jsonl"), prediction.to_string()).expect("writable");
    let scored = json(&["text", "score", "predictions.jsonl", "--examples", "s.jsonl", "--json"]);
    BTreeMap::from([
        ("`clrs list --json`", vec![json(&["list", "--json"])]),
        ("`clrs show ALGORITHM --json`", vec![json(&["show", "dfs", "--json"])]),
        ("`clrs trace ALGORITHM --json`", vec![json(&["trace", "dfs", "-n", "4", "--json"])]),
        ("`clrs generate --json`", vec![generated, json(&generate)]),
        ("`clrs verify --json`", vec![serde_json::from_slice(&verified.stdout).expect("JSON")]),
        ("`clrs stats --json`", vec![stats]),
        ("`clrs sample ALGORITHM --digest`", vec![json(&["sample", "bfs", "--digest"])]),
        ("`clrs text sample ALGORITHM`", vec![json(&["text", "sample", "bfs", "-n", "4"])]),
        ("`clrs text generate --json`", vec![json(&["text", "generate", "--algorithms", "bfs", "--out", "text", "--json"])]),
        ("`clrs text score --json`", vec![scored]),
        ("`clrs text score --examples FILE.jsonl`", lines("s.jsonl")),
        ("`clrs weights RUN --json`", vec![json(&["weights", "a", "--json"])]),
        ("`clrs eval RUN.. --json`", vec![evaluated]),
        ("`clrs sweep plan --json`", vec![planned]),
        ("`clrs sweep status --json`", vec![json(&["sweep", "status", "sweep", "--json"])]),
        ("`clrs report RUN.. --json`", vec![json(&["report", "a", "b", "c", "d", "e", "--json"])]),
        ("`clrs eval --examples FILE.jsonl`", lines("e.jsonl")),
        ("`clrs eval --trajectories FILE.jsonl`", lines("t.jsonl")),
    ])
}

#[test]
fn the_page_documents_every_key_of_the_output_and_no_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let (examples, outputs) = (examples(), outputs(dir.path()));
    assert!(examples.keys().eq(outputs.keys()), "sections: {:?}, outputs: {:?}", examples.keys(), outputs.keys());
    let mut found = Vec::new();
    for (heading, values) in &outputs {
        Schema::of(values).differences(&Schema::of(&[examples[*heading].clone()]), heading, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn differences_are_found_in_both_directions() {
    let differences = |output: &str, documented: &str| {
        let schema = |text: &str| Schema::of(&[serde_json::from_str(text).expect("JSON")]);
        let mut found = Vec::new();
        schema(output).differences(&schema(documented), "", &mut found);
        found
    };
    assert_eq!(differences(r#"{"a": 1}"#, r#"{"a": 2}"#), [""; 0]);
    assert_eq!(differences(r#"{"a": 1, "b": 1}"#, r#"{"a": 2}"#), [".b is not documented"]);
    assert_eq!(differences(r#"[{"a": 1}]"#, r#"[{"a": 2, "b": 1}]"#), ["[].b does not exist"]);
    assert_eq!(differences(r#"{"a": "1"}"#, r#"{"a": 2}"#), [r#".a: {"string"} is documented as {"number"}"#]);
    assert_eq!(differences(r#"{"x": 1, "y": 2}"#, r#"{"NAME": 2}"#), [""; 0]);
}
