//! Questions and answers in text form, for every algorithm.

#![no_main]

#[path = "../../crates/clrs-text/tests/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| parsers::text_answer(data));
