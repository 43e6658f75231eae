//! Sampling of problems and trajectories: fixed sets and endless streams that reproduce the random draws of dm-clrs.
//!
//! Sampling a problem is cheap and advances one random stream; running an algorithm is expensive and uses no random numbers.
//! So problems are sampled in order into a [`ProblemBuffer`] and then run in parallel.

mod options;
mod problem_buffer;
mod profile;
mod sampler;
mod sets;

pub use options::{InvalidValue, OptionError, OptionInfo, OptionValue, Options, SamplerOptions};
pub use problem_buffer::{ProblemBuffer, TypedProblemBuffer};
pub use profile::SizeProfile;
pub use sampler::{Sampler, Seeding};
pub use sets::{FixedSet, Stream};

use crate::batch::BatchError;
use crate::problems::InvalidProblem;

/// An error while sampling.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum SampleError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    InvalidProblem(#[from] InvalidProblem),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error("cannot take a batch of {requested} from a set of {samples} samples")]
    BatchSize { requested: usize, samples: usize },
}
