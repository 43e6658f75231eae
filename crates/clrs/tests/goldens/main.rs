//! Agreement with dm-clrs, as recorded in `golden/` by `cargo xtask goldens`.

mod random;
mod recorded;
mod scores;
mod trajectories;
mod transforms;
