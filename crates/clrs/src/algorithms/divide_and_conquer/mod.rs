//! Divide and conquer.

pub mod find_maximum_subarray;
pub mod find_maximum_subarray_kadane;
