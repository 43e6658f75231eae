//! Evaluating runs as a user does: on every kind of set, with every kind of output, and with everything that is rejected.
#![cfg(feature = "networks")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{rejection, run_in, stdout, text, train};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with runs of three steps each, given by their names and overrides.
fn trained(runs: &[(&str, &[&str])]) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, overrides) in runs {
        train(dir.path(), name, overrides);
    }
    dir
}

fn json(dir: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(&run_in(dir, &[&["eval", "--quiet", "--json"], arguments].concat()))).expect("JSON")
}

fn error(dir: &Path, arguments: &[&str]) -> String {
    rejection(&run_in(dir, &[&["eval", "--quiet"], arguments].concat()))
}

#[test]
fn a_run_is_evaluated_on_the_benchmark_and_at_any_size() {
    let dir = trained(&[("a", &["algorithms=bfs"])]);
    let evaluated = json(dir.path(), &["a", "--hints", "--data", "clrs30", "--sizes", "4,9", "--count", "6", "--set", "p=0.3"]);
    let results = evaluated["results"].as_array().expect("a list");
    let sets: Vec<&str> = results.iter().map(|result| result["set"]["name"].as_str().expect("a name")).collect();
    assert_eq!(sets, ["clrs30@2.0.3 test", "n=4", "n=9"]);
    let samples: Vec<u64> = results.iter().map(|result| result["samples"].as_u64().expect("a count")).collect();
    assert_eq!(samples, [32, 6, 6]);
    for result in results {
        for metric in ["score", "validity", "exact_match"] {
            assert!((0.0..=1.0).contains(&result[metric].as_f64().expect("a fraction")), "{metric} of {result}");
        }
        assert_eq!(result["outputs"]["pi"], result["score"]);
        assert_eq!(result["hints"][1]["name"], "pi_h");
        assert!(!result["hints"][1]["per_step"].as_array().expect("a list").is_empty());
        assert_eq!((&result["step"], &result["steps"], &result["family"]), (&3.into(), &"oracle".into(), &"graphs".into()));
    }
    assert!((results[0]["paper"]["mean"].as_f64().expect("a number") - 0.9989).abs() < 1e-9);
    assert!(results[1]["paper"].is_null());

    let table = text(&run_in(dir.path(), &["eval", "a", "--checkpoint", "last", "--split", "val", "--quiet"]).stdout);
    assert!(table.contains("clrs30@2.0.3 val") && table.lines().count() == 2, "{table}");
    for steps in ["max", "fixpoint"] {
        let evaluated = json(dir.path(), &["a", "--sizes", "6", "--steps", steps]);
        let mean = evaluated["results"][0]["mean_steps"].as_f64().expect("a number");
        assert!(if steps == "max" { mean == 5.0 } else { (1.0..=5.0).contains(&mean) }, "{steps}: {mean}");
    }
}

#[test]
fn runs_that_differ_in_their_seed_have_a_mean_and_a_standard_deviation() {
    let dir = trained(&[
        ("a", &["algorithms=bfs", "seed=1"]),
        ("b", &["algorithms=bfs", "seed=2"]),
        ("c", &["algorithms=minimum", "seed=1"]),
    ]);
    let evaluated = json(dir.path(), &["a", "b", "c", "--sizes", "5", "--count", "8"]);
    let scores: Vec<f64> = (0..2).map(|run| evaluated["results"][run]["score"].as_f64().expect("a score")).collect();
    let summary = &evaluated["summaries"][0];
    assert_eq!((&summary["model"], evaluated["summaries"].as_array().map(Vec::len)), (&"mpnn".into(), Some(1)));
    let bfs = &summary["algorithms"][0];
    assert_eq!(bfs["runs"], 2);
    let (mean, stddev) = (bfs["score"]["mean"].as_f64().expect("a mean"), bfs["score"]["stddev"].as_f64());
    assert!((mean - f64::midpoint(scores[0], scores[1])).abs() < 1e-12);
    assert!((stddev.expect("a standard deviation") - (scores[0] - scores[1]).abs() / 2f64.sqrt()).abs() < 1e-12);
    assert!(summary["algorithms"][1]["score"]["stddev"].is_null());
    assert_eq!(summary["families"].as_array().map(Vec::len), Some(2));
    let other = summary["algorithms"][1]["score"]["mean"].as_f64().expect("a mean");
    assert!((summary["over_families"]["score"].as_f64().expect("a mean") - f64::midpoint(mean, other)).abs() < 1e-12);

    let table = text(&run_in(dir.path(), &["eval", "a", "b", "c", "--sizes", "5", "--count", "8", "--quiet"]).stdout);
    assert!(table.contains(" ± ") && table.contains("all families"), "{table}");
}

#[test]
fn a_network_is_evaluated_on_another_version_if_that_has_its_probes() {
    let dir = trained(&[
        ("old", &["algorithms=quickselect", "data=clrs30@1.0.0", "permutations=pointers"]),
        ("new", &["algorithms=quickselect"]),
        ("sort", &["algorithms=insertion_sort", "data=clrs30@1.0.0"]),
    ]);
    let at = dir.path();
    assert_eq!(json(at, &["old", "--sizes", "5", "--count", "4"])["results"][0]["samples"], 4);
    assert_eq!(json(at, &["sort", "--data", "clrs30", "--split", "val"])["results"][0]["samples"], 32);
    let missing = error(at, &["new", "--data", "clrs30@1.0.0", "--split", "val"]);
    assert!(missing.contains("lack the hint `pivot`"), "{missing}");
}

#[test]
fn files_are_written_and_replaced_only_by_force() {
    let dir = trained(&[("a", &["algorithms=bfs,minimum"])]);
    let at = dir.path();
    let evaluated = json(at, &["a", "--sizes", "5", "--count", "3", "--examples", "e.jsonl"]);
    let lines = std::fs::read_to_string(at.join("e.jsonl")).expect("written");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 6);
    for line in &lines {
        assert_eq!(line["valid"], line["failure"].is_null());
        assert_eq!(line["exact_match"], line["predicted"] == line["truth"]);
    }
    let exact = lines[..3].iter().filter(|line| line["exact_match"] == true).count() as f64 / 3.0;
    assert_eq!(evaluated["results"][0]["exact_match"].as_f64(), Some(exact));
    assert_eq!(lines[0]["truth"]["pi"].as_array().map(Vec::len), Some(5));

    let again = ["a", "--sizes", "5", "--examples", "e.jsonl"];
    assert!(error(at, &again).contains("--force"));
    json(at, &[&again[..], &["--force"]].concat());
    assert!(error(at, &["a", "--sizes", "5", "--dump", "d.safetensors"]).contains("--dump needs one run, one algorithm"));
    json(at, &["a", "--sizes", "5", "--dump", "d.safetensors", "--algorithms", "minimum"]);
    assert!(at.join("d.safetensors").exists());
}

#[test]
fn what_cannot_be_evaluated_is_rejected_in_one_line() {
    let dir = trained(&[("a", &["algorithms=bfs"]), ("wide", &["algorithms=bfs", "hidden=16"]), ("dfs", &["algorithms=dfs"])]);
    let at = dir.path();
    assert!(error(at, &["nowhere"]).contains("nowhere: not a run directory"));
    assert!(error(at, &["a", "./a"]).contains("clrs: ./a is given twice"));
    let wide = error(at, &["a", "--checkpoint", "wide/best.safetensors"]);
    assert!(wide.contains("wide/best.safetensors: `processor/") && wide.contains("has shape"), "{wide}");
    let other = error(at, &["a", "--checkpoint", "dfs/best.safetensors"]);
    assert!(other.contains("the checkpoint is of dfs, the recipe of bfs"), "{other}");
    let bset = error(at, &["a", "--checkpoint", "bset"]);
    assert!(bset.contains("--checkpoint bset: neither `best` nor `last` nor a file"), "{bset}");
    assert!(error(at, &["a", "--sizes", "0"]).contains("bfs: size 0 is too small"));
    assert!(error(at, &["a", "--sizes", "8", "--set", "bits=3"]).contains("bfs has no option `bits`"));
    assert!(error(at, &["a", "--sizes", "8", "--count", "0"]).contains("--count must be at least 1"));
    assert!(error(at, &["a", "--batch-size", "0"]).contains("--batch-size must be at least 1"));
    assert!(error(at, &["a", "--algorithms", "dfs"]).contains("no run is trained on `dfs`"));
    assert!(error(at, &["a", "--data", "clrs31"]).contains("clrs31: not a directory"));
    let missing = error(at, &["a", "--data", "a"]);
    assert!(
        missing.contains("no set `bfs_test`") && missing.contains("`clrs generate --algorithms bfs --name test --seed 3 --out "),
        "{missing}"
    );

    let best: PathBuf = at.join("a/best.safetensors");
    let bytes = std::fs::read(&best).expect("a checkpoint");
    std::fs::write(&best, &bytes[..bytes.len() / 2]).expect("written");
    let truncated = error(at, &["a"]);
    assert_eq!(truncated.matches("best.safetensors").count(), 1, "{truncated}");
    assert!(truncated.contains("not a complete safetensors file"), "{truncated}");
    std::fs::remove_file(&best).expect("removed");
    assert!(error(at, &["a"]).contains("no best checkpoint: the run is complete, but its file is missing"));

    let config = at.join("a/config.toml");
    let recipe = std::fs::read_to_string(&config).expect("a recipe");
    std::fs::write(&config, recipe.replace("\"bfs\"", "\"bsf\"")).expect("written");
    assert!(error(at, &["a"]).contains("a/config.toml: unknown algorithm `bsf`; did you mean `bfs`?"));
}

#[test]
fn a_run_that_cannot_be_opened_does_not_keep_others_from_being_evaluated() {
    let dir = trained(&[("a", &["algorithms=bfs"]), ("b", &["algorithms=bfs", "seed=2"])]);
    let at = dir.path();
    let wild = ["train", "--quiet", "--algorithms", "bfs", "--set", "learning_rate=1e30", "--set", "hidden=8"];
    rejection(&run_in(at, &[&wild[..], &["--set", "lengths=4", "--set", "val_samples=4", "--out", "failed"]].concat()));

    let eval = ["--sizes", "5", "--count", "3"];
    let single = error(at, &[&["failed"], &eval[..]].concat());
    assert!(single.contains("failed: no best checkpoint, the run failed after step "), "{single}");
    assert!(single.contains("; `--checkpoint last` selects its last checkpoint"), "{single}");

    let mixed = ["eval", "--quiet", "--json", "a", "failed", "nowhere", "b", "--examples", "e.jsonl"];
    let output = run_in(at, &[&mixed[..], &eval[..]].concat());
    let lines = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{lines}");
    let expected = [single.trim_end(), "clrs: nowhere: not a run directory (no config.toml)", "clrs: 2 of 4 runs not evaluated"];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let runs: Vec<&str> = report["results"].as_array().expect("a list").iter().filter_map(|row| row["run"].as_str()).collect();
    assert_eq!(runs, ["a", "b"]);
    assert_eq!(std::fs::read_to_string(at.join("e.jsonl")).expect("written").lines().count(), 6);

    let none = run_in(at, &["eval", "--quiet", "failed", "nowhere"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).ends_with("clrs: none of 2 runs can be evaluated\n"), "{}", text(&none.stderr));
    assert!(none.stdout.is_empty());
}

/// The first evaluation has begun to write its examples when the interrupt arrives; the second takes much longer.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_evaluation_with_exit_code_130() {
    let dir = trained(&[("a", &["algorithms=bfs"])]);
    let arguments = ["eval", "a", "--quiet", "--sizes", "4,64", "--count", "2000", "--batch-size", "4", "--examples", "e.jsonl"];
    let mut command = common::clrs(&arguments);
    let command = command.current_dir(dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let is_written = |path: &Path| {
        path.extension().is_some_and(|extension| extension == "partial") && path.metadata().is_ok_and(|file| file.len() > 0)
    };
    let files = || std::fs::read_dir(dir.path()).expect("a directory").flatten().map(|entry| entry.path());
    assert!(common::wait_until(&mut child, || files().any(|path| is_written(&path))));
    let output = common::interrupt(child);
    assert!(common::interruption(&output).contains("stopped after 1 of 2 evaluations"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("n=4") && !text(&output.stdout).contains("n=64"), "{}", text(&output.stdout));
    assert_eq!(files().count(), 1, "the run alone");
}

#[test]
fn predicted_trajectories_are_traces_that_can_be_read_back() {
    let dir = trained(&[("a", &["algorithms=bfs,heapsort"])]);
    let at = dir.path();
    let lines = |file: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(at.join(file)).expect("written");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let eval = ["a", "--sizes", "5", "--count", "6", "--trajectories"];
    json(at, &[&eval[..], &["first.jsonl"]].concat());
    let samples: Vec<(Value, Value)> =
        lines("first.jsonl").into_iter().map(|line| (line["algorithm"].clone(), line["sample"].clone())).collect();
    let expected = |algorithm: &str| (0..4).map(|sample| (algorithm.into(), sample.into())).collect::<Vec<(Value, Value)>>();
    assert_eq!(samples, [expected("bfs"), expected("heapsort")].concat());

    json(
        at,
        &[&eval[..], &["chosen.jsonl", "--trajectory-samples", "5,2", "--algorithms", "bfs", "--examples", "e.jsonl"]].concat(),
    );
    let examples = lines("e.jsonl");
    let chosen = lines("chosen.jsonl");
    assert_eq!(chosen.iter().map(|line| line["sample"].as_u64()).collect::<Vec<_>>(), [Some(2), Some(5)]);
    for line in &chosen {
        let pi = line["predictions"].as_array().expect("a list").iter().find(|probe| probe["name"] == "pi").expect("an output");
        let sample = usize::try_from(line["sample"].as_u64().expect("an index")).expect("a small index");
        assert_eq!(pi["values"], examples[sample]["predicted"]["pi"]);
        std::fs::write(at.join("line.json"), line.to_string()).expect("writable");
        let traced = stdout(&run_in(at, &["trace", "bfs", "--problem", "line.json", "--json"]));
        let traced: Value = serde_json::from_str(&traced).expect("JSON");
        assert_eq!((&traced["probes"], &traced["problem"]), (&line["probes"], &line["problem"]));
    }
    let missing = error(at, &["a", "--sizes", "5", "--count", "6", "--trajectories", "no.jsonl", "--trajectory-samples", "6"]);
    assert!(missing.contains("--trajectory-samples 6: bfs on n=5 has 6 samples"), "{missing}");
    assert!(!at.join("no.jsonl").exists());
}

#[test]
fn files_that_cannot_be_written_are_rejected_before_the_work() {
    let dir = trained(&[("a", &["algorithms=bfs"])]);
    let at = dir.path();
    std::fs::create_dir(at.join("folder")).expect("a directory");
    for flag in ["--examples", "--trajectories", "--dump"] {
        let rejected = error(at, &["a", flag, "nowhere/file"]);
        assert!(rejected.contains("nowhere/file: its directory does not exist"), "{rejected}");
        let rejected = error(at, &["a", flag, "folder", "--force"]);
        assert!(rejected.contains("folder: is a directory") && !rejected.contains("--force"), "{rejected}");
        let rejected = error(at, &["a", flag, "a/best.safetensors", "--force"]);
        assert!(rejected.contains("a/best.safetensors: belongs to the run in a"), "{rejected}");
    }
    assert!(error(at, &["a", "--examples", "x", "--dump", "x"]).contains("x: two flags name the same file"));
    assert!(error(at, &["a", "--sizes", "16", "--count", "1000000000000"]).contains("GB, more than the memory limit"));
    json(at, &["a", "--sizes", "4"]);
}

/// A limit on the size of files stands in for a full disk.
#[cfg(unix)]
#[test]
fn the_table_is_printed_even_if_a_file_cannot_be_written() {
    let dir = trained(&[("a", &["algorithms=bfs"])]);
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec {} eval a --quiet --sizes 8 --count 40 --examples e.jsonl",
        env!("CARGO_BIN_EXE_clrs")
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().expect("a shell");
    let lines = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{lines}");
    assert!(lines.starts_with("clrs: note: the result is not kept: a/evals/"), "{lines}");
    assert!(lines.ends_with("e.jsonl: File too large (os error 27)\n"), "{lines}");
    assert!(text(&output.stdout).contains("n=8"), "{}", text(&output.stdout));
    assert!(!dir.path().join("e.jsonl").exists());
}

/// Results are told apart from evaluations by a score that no evaluation gives.
#[test]
fn results_are_kept_until_the_checkpoint_changes() {
    let dir = trained(&[("a", &["algorithms=bfs"])]);
    let at = dir.path();
    let eval = ["a", "--sizes", "5", "--count", "4"];
    let evaluated = json(at, &eval);
    let file = at.join("a/evals/bfs.n5-seed4-count4.oracle.best.json");
    let kept = std::fs::read_to_string(&file).expect("kept");
    let mut stored: Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(stored["report"]["score"], evaluated["results"][0]["score"]);
    stored["report"]["score"] = 7.into();
    let mark = || std::fs::write(&file, stored.to_string()).expect("writable");
    let score = |arguments: &[&str]| json(at, &[&eval[..], arguments].concat())["results"][0]["score"].clone();

    mark();
    assert_eq!(score(&[]), 7.0);
    assert_ne!(score(&["--checkpoint", "last"]), 7.0, "another checkpoint");
    assert_ne!(score(&["--steps", "max"]), 7.0, "other steps");
    assert_ne!(score(&["--seed", "5"]), 7.0, "another set");
    assert_eq!(score(&[]), 7.0);
    assert_ne!(score(&["--hints"]), 7.0, "hints were not scored");
    assert_eq!(json(at, &eval)["results"][0].get("hints"), None, "hints are kept, but not asked for");
    mark();
    assert_ne!(score(&["--again"]), 7.0);
    std::fs::write(&file, &kept[..kept.len() / 2]).expect("writable");
    assert_eq!(score(&[]), evaluated["results"][0]["score"], "a damaged file is replaced");
    assert_eq!(std::fs::read_to_string(&file).expect("kept"), kept);

    mark();
    std::fs::copy(at.join("a/last.safetensors"), at.join("a/best.safetensors")).expect("copied");
    assert_ne!(score(&[]), 7.0, "another checkpoint under the same name");
}
