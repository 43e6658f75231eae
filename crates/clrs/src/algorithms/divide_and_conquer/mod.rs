//! Divide and conquer.
