//! Scores of files of predictions.

use clrs_text::score::{ScoreError, score_file};

const QUESTION: &str = "bfs:\ns: 0, A: [[0 1 1 0], [1 0 0 1], [1 0 0 1], [0 1 1 0]]\npi:\n";

fn file(lines: &[String]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), lines.join("\n")).expect("written");
    file
}

fn prediction(question: &str, prediction: &str) -> String {
    serde_json::json!({ "question": question, "prediction": prediction, "model": "a model" }).to_string()
}

#[test]
fn answers_count_by_what_is_right_about_them() {
    let answers = [
        "[0 0 0 1]\n\n",         // that of the algorithm
        "[0 0 0 2]",             // another right one
        "[0 0 0 0]",             // no path
        "[0 0 0 9]",             // no node
        "[0 0 0]",               // too short
        "[0 0 0 x]",             // not a number
        "I think it is [0 0 0]", // not an answer
        "",
    ];
    let mut lines: Vec<String> = answers.iter().map(|answer| prediction(QUESTION, answer)).collect();
    lines.push(String::new());
    lines.push(prediction("minimum:\nkey: [0.7 0.2 0.2]\nmin:\n", "2"));
    let mut failures = Vec::new();
    let report = score_file(file(&lines).path(), |_, verdict| {
        failures.push(verdict.failure.clone().unwrap_or_default());
        Ok::<_, ScoreError>(())
    });
    let report = report.expect("predictions");
    let groups: Vec<_> = report.groups.iter().map(|group| (&*group.algorithm, group.size, group.scores.samples)).collect();
    assert_eq!(groups, [("bfs", 4, 8), ("minimum", 3, 1)]);
    let bfs = &report.groups[0].scores;
    let means = [bfs.exact_match, bfs.valid, bfs.shape, bfs.parsed, bfs.element_accuracy].map(|estimate| estimate.mean);
    // Shape: all but the last four, but the word `x` is in the right place. Elements: 4, 3, 3, 3 and 3 of 4.
    assert_eq!(means, [1.0 / 8.0, 2.0 / 8.0, 5.0 / 8.0, 5.0 / 8.0, 16.0 / 32.0]);
    assert!(bfs.valid.low < bfs.valid.mean && bfs.valid.mean < bfs.valid.high);
    assert_eq!((report.groups[1].scores.exact_match.mean, report.groups[1].scores.valid.mean), (0.0, 1.0));
    assert_eq!((report.total.samples, report.total.valid.mean), (9, 3.0 / 9.0));
    let expected = [
        "",
        "",
        "node 3 points to 0, which is not on a shortest path from 0",
        "`pi` has 9, expected a node from 0 to 3",
        "`pi` is a list of 3, expected a list of 4",
        "`pi` has `x`, which is not an integer",
        "expected the end, found `think` (at byte 2)",
        "expected a value, found the end (at byte 0)",
        "",
    ];
    assert_eq!(failures, expected);
}

#[test]
fn traces_are_compared_step_by_step() {
    let question = "binary_search:\nkey: [0.1 0.2 0.3 0.4], target: 0.35, initial_trace: (0, 3)\ntrace | (low, high):\n";
    let verdict = |answer: &str| clrs_text::verify(question, answer).expect("a question");
    let trace = |answer: &str| verdict(answer).trace.expect("a trace");
    assert!(verdict("(2, 3) | (3, 3)").exact_match);
    let other = trace("(1, 3) | (3, 3)");
    assert_eq!((other.first_divergence, other.failure.as_deref()), (Some(1), Some("step 1 has `1`, expected `2`")));
    let missing = trace("| (3, 3)");
    assert_eq!((missing.found, missing.steps), (0, 1));
    assert_eq!((missing.first_divergence, missing.failure.as_deref()), (Some(1), Some("step 1 is missing")));
    let longer = trace("(2, 3), (3, 3) | (3, 3)");
    assert_eq!((longer.first_divergence, longer.failure.as_deref()), (Some(2), Some("step 2 is one too many")));
    assert!(["(1, 3) | (3, 3)", "| (3, 3)"].into_iter().all(|answer| verdict(answer).valid), "the trace does not matter");
    let open = verdict("(2, 3) | (2, 3)");
    assert_eq!(open.failure.as_deref(), Some("the last values are 2 and 3, and must be equal"));
}

#[test]
fn a_given_answer_and_size_are_used() {
    let line = serde_json::json!({
        "question": "minimum:\nkey: [0.7 0.2 0.2]\nmin:\n", "answer": "2\n\n", "prediction": "2", "length": 30
    });
    let mut both = line.clone();
    both["size"] = 40.into();
    let report = score_file(file(&[line, both].map(|line| line.to_string())).path(), |_, _| Ok::<_, ScoreError>(()));
    let groups = report.expect("predictions").groups;
    let groups: Vec<_> = groups.iter().map(|group| (group.size, group.scores.exact_match.mean)).collect();
    assert_eq!(groups, [(30, 1.0), (40, 1.0)]);
}

#[test]
fn half_an_emoji_is_a_wrong_answer_and_not_an_error() {
    let score = |answer: &str| {
        let line = format!("{{\"question\": {}, \"prediction\": \"{answer}\"}}", serde_json::json!(QUESTION));
        let mut found = Vec::new();
        let report = score_file(file(&[line]).path(), |prediction, verdict| {
            found.push((prediction.prediction.clone(), verdict.valid));
            Ok::<_, ScoreError>(())
        });
        report.map(|_| found.remove(0)).map_err(|error| error.to_string())
    };
    assert_eq!(score("[0 0 0 1]\\ud83d"), Ok(("[0 0 0 1]\u{fffd}".into(), false)));
    assert_eq!(score("\\uDE00\\uD83D\\uDE00 \\\\ud83d"), Ok(("\u{fffd}\u{1f600} \\ud83d".into(), false)));
    assert_eq!(score("\\ud83d\\n\\u0041\\\""), Ok(("\u{fffd}\nA\"".into(), false)));
    for malformed in ["\\ud83d\\é", "\\ud83d\\u00", "\\ud83d\\ud8", "\\ud83d\\"] {
        let error = score(malformed).expect_err(malformed);
        assert!(error.contains("line 1: not a prediction: "), "{error}");
    }
}

#[test]
fn lines_that_are_not_predictions_are_reported() {
    let error = |line: &str| {
        let good = prediction(QUESTION, "[0 0 0 1]");
        let file = file(&[good, line.into()]);
        let error = score_file(file.path(), |_, _| Ok::<_, ScoreError>(())).expect_err("an invalid line").to_string();
        error.split_once(": ").map(|(_, reason)| reason.to_owned()).expect("a path and a reason")
    };
    assert_eq!(error("{"), "line 2: not a prediction: EOF while parsing an object at column 1");
    assert_eq!(error("{\"loss\": NaN}"), "line 2: not a prediction: expected value at column 10");
    assert_eq!(error("{\"question\": \"\"}"), "line 2: not a prediction: missing field `prediction` at column 16");
    let wrong_type = "not a prediction: invalid type: integer `1`, expected a string at column 14";
    assert_eq!(error("{\"question\": 1}"), format!("line 2: {wrong_type}"));
    let list = serde_json::json!([QUESTION, "[0 0 0 1]", null, null]).to_string();
    assert_eq!(error(&list), "line 2: not a prediction: expected a JSON object");
    assert_eq!(error(&prediction("bsf:\n", "0")), "line 2: unknown algorithm `bsf`; did you mean `bfs`?");
    let control = prediction("bfs \u{1b}c", "0");
    assert_eq!(error(&control), "line 2: not a question: expected `:`, found `\\u{1b}c` (at byte 4)");
    assert_eq!(error(&prediction("bfs:\nA: [[0]]\npi:\n", "0")), "line 2: the inputs are `A`, expected `s`, `A`");
    let backwards = prediction("activity_selector:\ns: [0.2 0.5], f: [0.3 0.4]\nselected:\n", "[0 1]");
    assert_eq!(
        error(&backwards),
        "line 2: the question describes no problem of the algorithm: activity 1 finishes before it starts"
    );
    let references = [
        ("[0", "expected a value or `]`, found the end (at byte 2)"),
        ("[0 0 0]", "`pi` is a list of 3, expected a list of 4"),
        ("[0 0 0 one]", "`pi` has `one`, which is not an integer"),
    ];
    for (answer, reason) in references {
        let line = serde_json::json!({ "question": QUESTION, "prediction": "[0 0 0 1]", "answer": answer });
        let expected = format!("line 2: the reference answer is not an answer to the question: {reason}");
        assert_eq!(error(&line.to_string()), expected);
    }
    // Of many, the first.
    let wrong: Vec<String> = (0..1000).map(|index| prediction(&format!("algorithm_{index}:\n"), "0")).collect();
    let first = score_file(file(&wrong).path(), |_, _| Ok::<_, ScoreError>(())).expect_err("unknown algorithms");
    assert!(first.to_string().contains(": line 1: unknown algorithm `algorithm_0`"), "{first}");
    let empty = score_file(file(&[]).path(), |_, _| Ok::<_, ScoreError>(())).expect_err("nothing");
    assert!(empty.to_string().ends_with(": no predictions"));
}
