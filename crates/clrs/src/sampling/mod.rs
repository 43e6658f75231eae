//! Drawing problems and running them: fixed sets and endless streams, with the reference's draws in the reference's order.
//!
//! Draws follow one another on one stream and are cheap; runs do not touch the stream and can go on in parallel. So problems
//! are drawn in order into [`Draws`], and then run.

mod draws;
mod options;

pub use draws::{Draws, DrawsOf};
pub use options::{BadValue, OptionError, OptionInfo, OptionValue, Options, Settings};

use crate::problems::Invalid;

/// Why nothing can be sampled.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SampleError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Invalid(#[from] Invalid),
}
