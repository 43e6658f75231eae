//! Checkpoints and other files of tensors.

#![no_main]

#[allow(dead_code, reason = "one of several parsers")]
#[path = "../../crates/clrs-nn/tests/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(parsers::checkpoint(data)));
