//! String matching.
