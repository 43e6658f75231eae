//! Problems as JSON, for every algorithm.

#![no_main]

#[allow(dead_code, reason = "one of several parsers")]
#[path = "../../crates/clrs/tests/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| parsers::json_problem(data));
