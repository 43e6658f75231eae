//! Comparison with dm-clrs.

pub mod fixture;
pub mod flops;
