//! Dynamic programming.

pub mod lcs_length;
pub mod matrix_chain_order;
pub mod optimal_bst;
