//! Compiles and runs the Rust listings of README.md and docs/ as documentation tests: `cargo test --release -p clrs-doctest`.
//!
//! Shell listings are tested in `crates/clrs-cli/tests/docs.rs`, generated tables in `crates/clrs-nn/tests/docs.rs`.

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub mod readme {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub mod library {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/report.md")]
pub mod report {}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/text.md")]
pub mod text {}
