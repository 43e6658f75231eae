//! String matching.

pub mod kmp_matcher;
pub mod naive_string_matcher;
