//! Dynamic programming.
