//! Greedy choices.

pub mod activity_selector;
pub mod task_scheduling;
