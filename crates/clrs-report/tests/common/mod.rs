//! Fabricated runs.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::fmt::Write;
use std::path::Path;

use clrs::clrs30::{Split, Version};
use clrs::score::HintScore;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;
use clrs_nn::run::metrics::{ValidationCurve, read_curves};
use clrs_nn::{ModelConfig, Recipe};
use clrs_report::ReportRun;
use clrs_report::runs::{Evaluation, RunState};
use serde_json::json;

/// The recipe of a run on the paper's data.
pub(crate) fn recipe(algorithm: &str, processor: &str, seed: u32) -> Recipe {
    Recipe {
        algorithms: vec![algorithm.into()],
        model: ModelConfig { processor: processor.into(), ..ModelConfig::default() },
        data: DataSource::Benchmark(Version::V1_0_0),
        steps: 1000,
        seed,
        ..Recipe::default()
    }
}

/// A run that has not started.
pub(crate) fn planned(algorithm: &str, processor: &str, seed: u32) -> ReportRun {
    let folder = format!("runs/{algorithm}-{processor}-{seed}");
    ReportRun::planned(folder.as_ref(), recipe(algorithm, processor, seed))
}

/// An evaluation of the best checkpoint on the test set.
pub(crate) fn test_evaluation(algorithm: &str, steps: Steps, score: f64) -> Evaluation {
    Evaluation {
        algorithm: algorithm.into(),
        checkpoint: "best".into(),
        set: EvalSet::fixed(DataSource::Benchmark(Version::V1_0_0), Split::Test),
        steps,
        score,
        validity: score / 2.0,
        exact_match: score / 4.0,
        hints: Vec::new(),
    }
}

/// A finished run with a score.
pub(crate) fn done(algorithm: &str, processor: &str, seed: u32, score: f64) -> ReportRun {
    let mut run = planned(algorithm, processor, seed);
    run.state = RunState::Done;
    run.evaluations = vec![test_evaluation(algorithm, Steps::Oracle, score)];
    run
}

/// Adds a validation curve that ends at a score, its best.
pub(crate) fn with_curve(mut run: ReportRun, last: f64) -> ReportRun {
    let steps = [100, 200, 400, 600, 800, 1000];
    run.curves =
        vec![curve(&run.recipe.algorithms[0], &steps.map(|step| (step, last * f64::from(step).sqrt() / 1000f64.sqrt())))];
    run.best_step = Some(1000);
    run
}

/// A curve, as runs log it.
pub(crate) fn curve(algorithm: &str, points: &[(i32, f64)]) -> ValidationCurve {
    let mut lines = String::new();
    for (step, score) in points {
        let _ = writeln!(lines, "{{\"step\":{step},\"algorithm\":\"{algorithm}\",\"val\":{score}}}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("metrics.jsonl"), lines).expect("writable");
    read_curves(dir.path()).expect("curves").remove(0)
}

/// A small sweep: two algorithms, three models of which one is incomplete, two seeds; sizes and hints.
pub(crate) fn sweep() -> Vec<ReportRun> {
    let mut runs = Vec::new();
    let scores = [("mpnn", [0.9, 0.6]), ("gat", [0.8, 0.3]), ("gatv2", [0.7, 0.5]), ("triplet_gmpnn", [0.95, 0.8])];
    for (processor, scores) in scores {
        for (algorithm, score) in ["bfs", "dfs"].into_iter().zip(scores) {
            for seed in 1..=2 {
                let spread = 0.02 * f64::from(seed);
                if (algorithm, processor, seed) == ("dfs", "triplet_gmpnn", 2) {
                    runs.push(planned(algorithm, processor, seed));
                    continue;
                }
                let mut run = with_curve(done(algorithm, processor, seed, score + spread), score + spread);
                run.evaluations.push(test_evaluation(algorithm, Steps::Fixpoint, score - spread));
                for (index, size) in [16, 32, 64].into_iter().enumerate() {
                    let set = EvalSet::sampled(size);
                    let score = score + spread - 0.1 * index as f64;
                    run.evaluations.push(Evaluation { set, score, ..run.evaluations[0].clone() });
                }
                let hint = |name: &str, at: f64| -> HintScore {
                    let value = json!({"name": name, "score": at, "per_step": [at, at - 0.1, at - 0.2]});
                    serde_json::from_value(value).expect("a hint score")
                };
                run.evaluations[0].hints = vec![hint("pi_h", score), hint("d", 17.0)];
                runs.push(run);
            }
        }
    }
    runs
}

/// Compares a text with a file of snapshots; `SNAPSHOTS=overwrite` writes it.
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(&path, text).expect("writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{} differs; SNAPSHOTS=overwrite writes it. Got:\n{text}", path.display());
}
