//! Changes to batches that training asks for. Each takes a batch with its spec and gives a batch with its spec; they are
//! applied in the order of this list.
//!
//! - [`random_positions`]: `pos` becomes sorted random numbers.
//! - [`predecessors_as_input`]: a `pred_h` hint that never changes becomes the input `pred`.
//! - [`cyclic_permutations`] or [`plain_permutations`]: what is done with outputs that are orders of the nodes.
//! - [`Chunks`]: trajectories laid end to end and cut into pieces of one length.

mod chunks;
mod permutations;
mod positions;
mod predecessors;

pub use chunks::{Chunk, Chunks};
pub use permutations::{cyclic_permutations, plain_permutations};
pub use positions::random_positions;
pub use predecessors::predecessors_as_input;

/// Why a batch cannot be changed so.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TransformError {
    #[error("`pos` of sample {sample} does not begin at 0: its positions are random already")]
    Positions { sample: usize },
    #[error("`pred_h` of sample {sample} changes at step {step}: it cannot become an input")]
    Moves { sample: usize, step: usize },
    #[error("there is an output `pred`: `pred_h` cannot become an input of that name")]
    Taken,
    #[error("`{0}` is not there, or not an array of numbers of the kind this needs")]
    Array(String),
    #[error("a chunk of no steps")]
    NoSteps,
    #[error("batches of different sizes or probes cannot be chunked together")]
    Shapes,
}
