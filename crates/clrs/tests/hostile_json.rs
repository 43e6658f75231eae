//! Problems from anywhere: whatever the text, it is run or refused, and never panics.
//!
//! `any_text` is what a fuzzer would call; here it sees a kept corpus, and many small changes of problems that were drawn.

use clrs::{AnyAlgorithm, RandomState, Registry, SamplerOptions};

/// Texts that once looked dangerous: deep nesting, numbers at the edge, fields twice, not UTF-8's business.
const CORPUS: [&str; 24] = [
    "",
    "null",
    "[]",
    "{}",
    "{\"key\": []}",
    "{\"key\": [1e308, -1e308, 1e308]}",
    "{\"key\": [1e400]}",
    "{\"key\": [NaN]}",
    "{\"key\": [5e-324, -0.0, 0.0]}",
    "{\"key\": [1], \"key\": [2]}",
    "{\"key\": {\"0\": 1}}",
    "{\"key\": [1, 2], \"target\": 1e308}",
    "{\"weights\": [], \"source\": 0}",
    "{\"weights\": [[0]], \"source\": 18446744073709551615}",
    "{\"weights\": [[0]], \"source\": -1}",
    "{\"weights\": [[1e308, 1e308], [1e308, 1e308]], \"source\": 1}",
    "{\"weights\": [[0, 5e-324], [5e-324, 0]], \"source\": 0}",
    "{\"weights\": [[-1e-300, 1], [1, -1e-300]]}",
    "{\"weights\": [[0, 1], [1]]}",
    "{\"text\": \"\u{1F600}\", \"pattern\": \"a\"}",
    "{\"text\": \"\", \"pattern\": \"\"}",
    "{\"first\": \"abcd\", \"second\": \"e\"}",
    "{\"x\": [0, 0, 0, 0], \"y\": [0, 0, 0, 0]}",
    "{\"left\": 4294967295, \"right\": 4294967295, \"edges\": []}",
];

/// What must hold of any text: it is an answer that `check` accepts, or a reason.
fn any_text(algorithm: &dyn AnyAlgorithm, text: &str) {
    let mut recorder = algorithm.recorder();
    match algorithm.record_json(text, &mut recorder) {
        Ok(()) => {
            let run = recorder.last().expect("recorded");
            let verdict = algorithm.check(run.nodes(), &run.stage(clrs::Stage::Input), &run.stage(clrs::Stage::Output));
            assert!(verdict.is_ok(), "{}: {verdict:?} on {text}", algorithm.name());
            assert!(run.steps() <= algorithm.max_steps(run.nodes()), "{}: {} steps on {text}", algorithm.name(), run.steps());
        }
        Err(reason) => assert!(!reason.to_string().is_empty()),
    }
}

#[test]
fn the_corpus_is_run_or_refused() {
    for algorithm in Registry::builtin().iter() {
        for text in CORPUS {
            any_text(algorithm, text);
        }
        any_text(algorithm, &"[".repeat(100_000));
        any_text(algorithm, &format!("{{\"key\": {}", "[".repeat(1000)));
    }
}

#[test]
fn a_short_problem_cannot_ask_for_endless_memory() {
    let key = vec!["1"; 20_000].join(",");
    let chain = format!("{{\"dimensions\": [{key}]}}");
    let algorithm = Registry::builtin().find("matrix_chain_order").expect("listed");
    let refused = algorithm.record_json(&chain, &mut algorithm.recorder());
    assert!(refused.is_err_and(|reason| reason.to_string().contains("choose a smaller size")));
}

/// Bytes dropped, doubled, exchanged; numbers replaced by others that are rare.
#[test]
fn changed_problems_are_run_or_refused() {
    const NUMBERS: [&str; 12] = ["0", "-1", "1", "2", "0.5", "1e9", "1e-9", "1e300", "-1e300", "5e-324", "65536", "4294967296"];
    let mut random = RandomState::new(11);
    for algorithm in Registry::builtin().iter() {
        for size in [4, 5, 7] {
            let mut draws =
                algorithm.problem_buffer(size, &SamplerOptions::default()).expect("every algorithm takes these sizes");
            draws.draw(&mut random).expect("drawn");
            let problem = draws.json(0);
            for _ in 0..300 {
                let mut text = problem.clone().into_bytes();
                for _ in 0..=random.choice(3) {
                    let at = random.choice(text.len());
                    match random.choice(4) {
                        0 => drop(text.remove(at)),
                        1 => text.insert(at, text[at]),
                        2 => text.swap(at, 0),
                        _ => replace_number(&mut text, at, NUMBERS[random.choice(NUMBERS.len())]),
                    }
                }
                if let Ok(text) = String::from_utf8(text) {
                    any_text(algorithm, &text);
                }
            }
        }
    }
}

/// Puts a number in the place of the one at or after a byte.
fn replace_number(text: &mut Vec<u8>, at: usize, number: &str) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.e".contains(byte);
    let Some(start) = text[at..].iter().position(u8::is_ascii_digit).map(|from| at + from) else { return };
    let end = text[start..].iter().position(|byte| !is_part(byte)).map_or(text.len(), |length| start + length);
    text.splice(start..end, number.bytes());
}
