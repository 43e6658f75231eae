//! Untrusted problems: any text is run or rejected, without a panic.

mod parsers;

use clrs::{RandomState, Registry, SamplerOptions};
use parsers::any_text;

/// Texts at the edges: nesting, extreme numbers, duplicate fields, unusual characters.
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

#[test]
fn the_corpus_is_run_or_rejected() {
    for algorithm in Registry::builtin().iter() {
        for text in CORPUS {
            any_text(algorithm, text);
        }
        any_text(algorithm, &"[".repeat(100_000));
        any_text(algorithm, &format!("{{\"key\": {}", "[".repeat(1000)));
    }
}

/// Packages do not contain the corpus of the fuzzer.
#[test]
fn the_corpus_of_the_fuzzer_is_run_or_rejected() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/json_problem");
    for file in std::fs::read_dir(corpus).into_iter().flatten() {
        parsers::json_problem(&std::fs::read(file.expect("an entry").path()).expect("a file"));
    }
}

#[test]
fn problems_whose_recording_may_exceed_the_limit_are_rejected() {
    for (name, field, size) in
        [("matrix_chain_order", "dimensions", 20_000), ("bubble_sort", "key", 1_500), ("minimum", "key", 65_536)]
    {
        let algorithm = Registry::builtin().find(name).expect("a built-in algorithm");
        let problem = format!("{{\"{field}\": [{}]}}", vec!["1"; size].join(","));
        let error = algorithm.record_json(&problem, &mut algorithm.recorder()).expect_err("too large").to_string();
        let (reason, advice) = error.split_once("; use at most ").expect("a reason and advice");
        assert!(reason.ends_with("more than the limit of 4 GB"), "{error}");
        let largest: usize = advice.trim_end_matches(" nodes").parse().expect("a number of nodes");
        let fits = |size| algorithm.problem_buffer(size, &SamplerOptions::default()).is_ok();
        assert!(fits(largest) && !fits(largest + 1), "{error}");
    }
}

#[test]
fn the_limit_is_far_above_every_set_of_the_benchmark() {
    for version in clrs::clrs30::Version::ALL {
        for set in version.sets() {
            let bytes = set.algorithm.max_recording_bytes(set.size + 2);
            assert!(bytes * 32 < clrs::algorithm::MAX_RECORDING_BYTES, "{}: {bytes}", set.name());
        }
    }
}

/// Drops, duplicates and swaps bytes, and replaces numbers by extreme ones.
#[test]
fn changed_problems_are_run_or_rejected() {
    const NUMBERS: [&str; 12] = ["0", "-1", "1", "2", "0.5", "1e9", "1e-9", "1e300", "-1e300", "5e-324", "65536", "4294967296"];
    let mut random = RandomState::new(11);
    for algorithm in Registry::builtin().iter() {
        for size in [4, 5, 7] {
            let mut problems =
                algorithm.problem_buffer(size, &SamplerOptions::default()).expect("a size that every algorithm accepts");
            problems.draw(&mut random).expect("a sampled problem");
            let problem = problems.json(0);
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

/// Replaces the first number at or after a byte.
fn replace_number(text: &mut Vec<u8>, at: usize, number: &str) {
    let is_numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.e".contains(byte);
    let Some(start) = text[at..].iter().position(u8::is_ascii_digit).map(|from| at + from) else { return };
    let end = text[start..].iter().position(|byte| !is_numeric(byte)).map_or(text.len(), |length| start + length);
    text.splice(start..end, number.bytes());
}
