//! Texts equal those of dm-clrs; `cargo xtask goldens text` records them.

use clrs::Registry;
use clrs_text::{Block, Format, Generator, TextOptions};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    algorithm: String,
    size: usize,
    seed: u32,
    decimals: Option<u32>,
    format: Format,
    plain: Vec<(String, String)>,
    hints: Vec<(String, String)>,
}

#[test]
fn texts_are_those_of_dm_clrs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/text.json");
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(path).expect("recorded texts")).expect("JSON");
    for case in &cases {
        let algorithm = Registry::builtin().find(&case.algorithm).expect("an algorithm of the benchmark");
        for (hints, expected) in [(false, &case.plain), (true, &case.hints)] {
            let block = Block { algorithm, size: case.size, seed: case.seed, count: expected.len() as u64 };
            let options = TextOptions::new(case.format, hints, case.decimals);
            let rows = Generator::blocks(&[block], &options).and_then(|mut all| all.next_rows(expected.len())).expect("samples");
            let found: Vec<_> = rows.iter().map(|row| (row.question.to_owned(), row.answer.to_owned())).collect();
            assert_eq!(&found, expected, "{} {} {}", case.algorithm, case.size, case.format);
        }
    }
    let has = |text: &str| cases.iter().flat_map(|case| &case.plain).any(|(question, _)| question.contains(text));
    assert!(cases.len() >= 88 && has(" -0.0 "), "{} cases", cases.len());
}
