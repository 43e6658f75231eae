//! Sets in the native format.

#![no_main]

#[allow(dead_code, reason = "one of several parsers")]
#[path = "../../crates/clrs-store/tests/parsers/mod.rs"]
mod parsers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(parsers::native_set(data)));
