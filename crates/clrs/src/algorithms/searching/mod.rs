//! Searching and selecting.

pub mod binary_search;
pub mod minimum;
pub mod quickselect;
