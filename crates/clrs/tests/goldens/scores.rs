use clrs::Array;
use clrs::score::{ScoreError, evaluate, evaluate_hints};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::recorded::{self, RecordedArray, RecordedPoint};

#[derive(Deserialize)]
struct Recording {
    outputs: Vec<Case<Vec<RecordedPoint>>>,
    hints: Vec<Case<Vec<Vec<RecordedPoint>>>>,
}

#[derive(Deserialize)]
struct Case<P> {
    name: String,
    lengths: Option<RecordedArray>,
    truth: Vec<RecordedPoint>,
    predictions: P,
    /// Scores by name; `None` if dm-clrs raises an error.
    result: Option<Map<String, Value>>,
}

#[test]
fn output_scores_equal_those_of_dm_clrs() {
    for case in recorded::read::<Recording>("scores.json").outputs {
        let samples = case.truth[0].array().shape[0];
        let truth = recorded::batch(&case.truth, vec![1.0; samples]);
        let predictions = arrays(&case.predictions);
        let scores = evaluate(&truth, &named(&predictions));
        let Some(result) = case.result else {
            assert!(matches!(scores, Err(ScoreError::Permutation(_))), "{}", case.name);
            continue;
        };
        let scores = scores.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let mut ours: Vec<(&str, f64)> = scores.outputs.iter().map(|(name, score)| (&**name, *score)).collect();
        ours.push(("score", scores.score));
        assert_eq!(ours.len(), result.len(), "{}", case.name);
        for (name, score) in ours {
            assert_same_score(score, &result[name], &format!("{}: {name}", case.name));
        }
    }
}

#[test]
fn hint_scores_equal_those_of_dm_clrs() {
    for case in recorded::read::<Recording>("scores.json").hints {
        let truth = recorded::batch(&case.truth, case.lengths.expect("lengths").values());
        let predictions: Vec<_> = case.predictions.iter().map(|step| arrays(step)).collect();
        let predictions: Vec<_> = predictions.iter().map(|step| named(step)).collect();
        let scores = evaluate_hints(&truth, &predictions).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let result = case.result.expect("scores of hints");
        assert_eq!(scores.len() * 2, result.len(), "{}", case.name);
        for score in scores {
            let what = format!("{}: {}", case.name, score.name);
            assert_same_score(score.score, &result[&score.name], &what);
            let per_step = result[&format!("{}_along_time", score.name)].as_array().expect("a list");
            assert_eq!(score.per_step.len(), per_step.len(), "{what} per step");
            for (step, (ours, recorded)) in score.per_step.iter().zip(per_step).enumerate() {
                assert_same_score(*ours, recorded, &format!("{what} at step {}", step + 1));
            }
        }
    }
}

fn arrays(points: &[RecordedPoint]) -> Vec<(&str, Array)> {
    points.iter().map(|point| (&*point.name, point.array())).collect()
}

fn named<'a>(arrays: &'a [(&'a str, Array)]) -> Vec<(&'a str, &'a Array)> {
    arrays.iter().map(|(name, array)| (*name, array)).collect()
}

/// Asserts equality to the last bit; null is NaN.
fn assert_same_score(ours: f64, recorded: &Value, what: &str) {
    match recorded {
        Value::Null => assert!(ours.is_nan(), "{what}: {ours} is not NaN"),
        recorded => assert_eq!(Some(ours), recorded.as_f64(), "{what}"),
    }
}
