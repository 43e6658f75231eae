//! Parsers of untrusted text, called by tests with edge cases and by fuzzers with any bytes.

use clrs::{AnyAlgorithm, Registry, Stage};

/// Any text leads to an output that `check` accepts, or to an error.
pub(crate) fn any_text(algorithm: &dyn AnyAlgorithm, text: &str) {
    let mut recorder = algorithm.recorder();
    match algorithm.record_json(text, &mut recorder) {
        Ok(()) => {
            let sample = recorder.last().expect("a recorded sample");
            let result = algorithm.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
            assert!(result.is_ok(), "{}: {result:?} on {text}", algorithm.name());
            assert!(
                sample.steps() <= algorithm.max_steps(sample.nodes()),
                "{}: {} steps on {text}",
                algorithm.name(),
                sample.steps()
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Largest number of nodes that [`json_problem`] accepts where a problem states it instead of listing them.
const MAX_STATED_NODES: u64 = 24;

/// Reads bytes as a problem of every algorithm. Large problems are valid but slow: callers limit the bytes, and numbers of nodes
/// are limited here.
pub(crate) fn json_problem(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(problem) = serde_json::from_str::<serde_json::Value>(text) {
        let states_many = |field| problem.get(field).and_then(serde_json::Value::as_u64).is_some_and(|n| n > MAX_STATED_NODES);
        if ["left", "right"].into_iter().any(states_many) {
            return;
        }
    }
    for algorithm in Registry::builtin().iter() {
        any_text(algorithm, text);
    }
}
