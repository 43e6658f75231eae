//! Greedy choices.
