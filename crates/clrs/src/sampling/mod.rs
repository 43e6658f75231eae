//! Drawing problems and running them: fixed sets and endless streams, with the reference's draws in the reference's order.
//!
//! Draws follow one another on one stream and are cheap; runs do not touch the stream and can go on in parallel. So problems
//! are drawn in order into [`Draws`], and then run.

mod draws;
mod options;
mod sampler;
mod sets;

pub use draws::{Draws, DrawsOf};
pub use options::{BadValue, OptionError, OptionInfo, OptionValue, Options, Settings};
pub use sampler::{Sampler, Seeding};
pub use sets::{FixedSet, Stream};

use crate::batch::BatchError;
use crate::problems::Invalid;

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SampleError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error("a batch of {asked} from a set of {samples} samples: ask for {samples} at most")]
    BatchSize { asked: usize, samples: usize },
}
