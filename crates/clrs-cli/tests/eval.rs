//! Judging runs as a user does: trained a little, then judged in every way; and what is said where that cannot be.
#![cfg(feature = "networks")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::{clrs, text};
use serde_json::Value;
use tempfile::TempDir;

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    clrs(arguments).current_dir(folder).output().expect("the program starts")
}

/// A folder with runs of three steps each: their names, and what is set.
fn trained(runs: &[(&str, &[&str])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, settings) in runs {
        let mut arguments = vec!["train", "--quiet", "--out", name];
        let common = ["processor=mpnn", "hidden=8", "steps=3", "lengths=4", "val_samples=4", "batch_size=4"];
        for setting in common.iter().chain(*settings) {
            arguments.extend(["--set", setting]);
        }
        let output = run_in(folder.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run_in(folder, &[&["eval", "--quiet", "--json"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The one line that is said where it fails.
fn error(folder: &Path, arguments: &[&str]) -> String {
    let output = run_in(folder, &[&["eval", "--quiet"], arguments].concat());
    let line = text(&output.stderr);
    assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{arguments:?}: {line}");
    line
}

#[test]
fn a_run_is_judged_on_the_benchmark_and_at_any_size() {
    let folder = trained(&[("a", &["algorithms=bfs"])]);
    let judged = json(folder.path(), &["a", "--hints", "--data", "clrs30", "--sizes", "4,9", "--count", "6", "--set", "p=0.3"]);
    let results = judged["results"].as_array().expect("a list");
    let sets: Vec<&str> = results.iter().map(|result| result["set"]["name"].as_str().expect("a name")).collect();
    assert_eq!(sets, ["clrs30@2.0.3 test", "n=4", "n=9"]);
    let samples: Vec<u64> = results.iter().map(|result| result["samples"].as_u64().expect("a count")).collect();
    assert_eq!(samples, [32, 6, 6]);
    for result in results {
        for share in ["score", "validity", "exactness"] {
            assert!((0.0..=1.0).contains(&result[share].as_f64().expect("a share")), "{share} of {result}");
        }
        assert_eq!(result["outputs"]["pi"], result["score"]);
        assert_eq!(result["hints"][1]["name"], "pi_h");
        assert!(!result["hints"][1]["along_time"].as_array().expect("a list").is_empty());
        assert_eq!((&result["step"], &result["steps"], &result["family"]), (&3.into(), &"oracle".into(), &"graphs".into()));
    }
    assert!((results[0]["paper"]["mean"].as_f64().expect("a number") - 0.9989).abs() < 1e-9);
    assert!(results[1]["paper"].is_null());

    let table = text(&run_in(folder.path(), &["eval", "a", "--checkpoint", "last", "--split", "val", "--quiet"]).stdout);
    assert!(table.contains("clrs30@2.0.3 val") && table.lines().count() == 2, "{table}");
    for steps in ["max", "fixpoint"] {
        let judged = json(folder.path(), &["a", "--sizes", "6", "--steps", steps]);
        let mean = judged["results"][0]["mean_steps"].as_f64().expect("a number");
        assert!(if steps == "max" { mean == 5.0 } else { (1.0..=5.0).contains(&mean) }, "{steps}: {mean}");
    }
}

#[test]
fn runs_that_differ_in_their_seed_have_a_mean_and_a_deviation() {
    let folder = trained(&[
        ("a", &["algorithms=bfs", "seed=1"]),
        ("b", &["algorithms=bfs", "seed=2"]),
        ("c", &["algorithms=minimum", "seed=1"]),
    ]);
    let judged = json(folder.path(), &["a", "b", "c", "--sizes", "5", "--count", "8"]);
    let scores: Vec<f64> = (0..2).map(|run| judged["results"][run]["score"].as_f64().expect("a score")).collect();
    let summary = &judged["summaries"][0];
    assert_eq!((&summary["model"], judged["summaries"].as_array().map(Vec::len)), (&"mpnn".into(), Some(1)));
    let bfs = &summary["algorithms"][0];
    assert_eq!(bfs["runs"], 2);
    let (mean, deviation) = (bfs["score"]["mean"].as_f64().expect("a mean"), bfs["score"]["deviation"].as_f64());
    assert!((mean - f64::midpoint(scores[0], scores[1])).abs() < 1e-12);
    assert!((deviation.expect("a deviation") - (scores[0] - scores[1]).abs() / 2f64.sqrt()).abs() < 1e-12);
    assert!(summary["algorithms"][1]["score"]["deviation"].is_null());
    assert_eq!(summary["families"].as_array().map(Vec::len), Some(2));
    let other = summary["algorithms"][1]["score"]["mean"].as_f64().expect("a mean");
    assert!((summary["over_families"]["score"].as_f64().expect("a mean") - f64::midpoint(mean, other)).abs() < 1e-12);

    let table = text(&run_in(folder.path(), &["eval", "a", "b", "c", "--sizes", "5", "--count", "8", "--quiet"]).stdout);
    assert!(table.contains(" ± ") && table.contains("all families"), "{table}");
}

#[test]
fn a_network_is_judged_on_another_version_if_that_has_what_it_reads() {
    let folder = trained(&[
        ("old", &["algorithms=quickselect", "data=clrs30@1.0.0", "permutations=pointers"]),
        ("new", &["algorithms=quickselect"]),
        ("sort", &["algorithms=insertion_sort", "data=clrs30@1.0.0"]),
    ]);
    let at = folder.path();
    assert_eq!(json(at, &["old", "--sizes", "5", "--count", "4"])["results"][0]["samples"], 4);
    assert_eq!(json(at, &["sort", "--data", "clrs30", "--split", "val"])["results"][0]["samples"], 32);
    let missing = error(at, &["new", "--data", "clrs30@1.0.0", "--split", "val"]);
    assert!(missing.contains("no hint `pivot`"), "{missing}");
}

#[test]
fn examples_and_dumps_are_written_and_replaced_only_by_force() {
    let folder = trained(&[("a", &["algorithms=bfs,minimum"])]);
    let at = folder.path();
    let judged = json(at, &["a", "--sizes", "5", "--count", "3", "--examples", "e.jsonl"]);
    let lines = std::fs::read_to_string(at.join("e.jsonl")).expect("written");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 6);
    for line in &lines {
        assert_eq!(line["valid"], line["wrong"].is_null());
        assert_eq!(line["exact"], line["predicted"] == line["truth"]);
    }
    let exact = lines[..3].iter().filter(|line| line["exact"] == true).count() as f64 / 3.0;
    assert_eq!(judged["results"][0]["exactness"].as_f64(), Some(exact));
    assert_eq!(lines[0]["truth"]["pi"].as_array().map(Vec::len), Some(5));

    let again = ["a", "--sizes", "5", "--examples", "e.jsonl"];
    assert!(error(at, &again).contains("--force"));
    json(at, &[&again[..], &["--force"]].concat());
    assert!(error(at, &["a", "--sizes", "5", "--dump", "d.safetensors"]).contains("--dump is for one run, one algorithm"));
    json(at, &["a", "--sizes", "5", "--dump", "d.safetensors", "--algorithms", "minimum"]);
    assert!(at.join("d.safetensors").exists());
}

#[test]
fn what_cannot_be_judged_is_said_in_one_line() {
    let folder = trained(&[("a", &["algorithms=bfs"]), ("wide", &["algorithms=bfs", "hidden=16"]), ("dfs", &["algorithms=dfs"])]);
    let at = folder.path();
    assert!(error(at, &["nowhere"]).contains("nowhere: not the folder of a run"));
    assert!(error(at, &["a", "a"]).contains("a is named twice"));
    let wide = error(at, &["a", "--checkpoint", "wide/best.safetensors"]);
    assert!(wide.contains("wide/best.safetensors: `processor/") && wide.contains("has the shape"), "{wide}");
    let other = error(at, &["a", "--checkpoint", "dfs/best.safetensors"]);
    assert!(other.contains("it has `dfs/decoder/") && other.contains("which the network does not"), "{other}");
    assert!(error(at, &["a", "--checkpoint", "nothing.safetensors"]).contains("nothing.safetensors: "));
    assert!(error(at, &["a", "--sizes", "0"]).contains("bfs: size 0"));
    assert!(error(at, &["a", "--sizes", "8", "--set", "bits=3"]).contains("bfs has no option `bits`"));
    assert!(error(at, &["a", "--sizes", "8", "--count", "0"]).contains("--count 0"));
    assert!(error(at, &["a", "--batch-size", "0"]).contains("--batch-size 0"));
    assert!(error(at, &["a", "--algorithms", "dfs"]).contains("no run has learnt `dfs`"));
    assert!(error(at, &["a", "--data", "clrs31"]).contains("`clrs31`"));
    assert!(error(at, &["a", "--data", "a"]).contains("bfs_test.arrow"), "a folder without sets");

    let best: PathBuf = at.join("a/best.safetensors");
    let bytes = std::fs::read(&best).expect("a checkpoint");
    std::fs::write(&best, &bytes[..bytes.len() / 2]).expect("written");
    let truncated = error(at, &["a"]);
    assert_eq!(truncated.matches("best.safetensors").count(), 1, "{truncated}");
    assert!(truncated.contains("no whole safetensors file"), "{truncated}");
    std::fs::remove_file(&best).expect("removed");
    assert!(error(at, &["a"]).contains("there is no best checkpoint yet"));

    let config = at.join("a/config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    std::fs::write(&config, recipe.replace("\"bfs\"", "\"bsf\"")).expect("written");
    assert!(error(at, &["a"]).contains("a/config.toml: unknown algorithm `bsf`; did you mean `bfs`?"));
}
