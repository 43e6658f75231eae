//! Sweeps: plans of many training runs, executed on one machine or on a cluster.
//!
//! A sweep is a directory of files; there is no daemon.
//!
//! | module | responsibility |
//! |---|---|
//! | [`file`](mod@file) | sweep files: a recipe, a grid over its fields, overrides and exclusions |
//! | [`eval_plan`] | what a finished run is evaluated on |
//! | [`plan`] | the resolved runs, in `plan.jsonl` |
//! | [`cost`] | floating-point operations of a run, and the rate of this machine |
//! | [`worker`] | one run: train or resume it, then evaluate it |
//! | [`local`] | many single-threaded runs at once |
//! | [`status`] | how far every run is, from its directory |
//! | [`slurm`] | job arrays |
//! | [`manifest`] | descriptions of the same tasks for other schedulers |

pub mod cost;
pub mod eval_plan;
pub mod file;
pub mod local;
pub mod manifest;
pub mod plan;
pub mod slurm;
pub mod status;
pub mod worker;

pub use plan::{Plan, PlannedRun};
