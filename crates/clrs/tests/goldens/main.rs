//! What the reference did, written down in `golden/` by `cargo xtask goldens`: ours does the same.

mod recorded;
mod scores;
mod trajectories;
mod transforms;
