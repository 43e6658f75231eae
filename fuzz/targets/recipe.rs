//! Recipes and overrides of their fields.

#![no_main]

#[allow(dead_code, reason = "one of several parsers")]
#[path = "../../crates/clrs-nn/tests/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(parsers::recipe(data)));
