//! The data engine of the CLRS Algorithmic Reasoning Benchmark: textbook algorithms that tell what they do, step by step.
//!
//! The way of the data: a [`Problem`] is drawn, read or recovered; an [`Algorithm`] runs on it and tells its steps to a
//! [`Recorder`]; what is left are [`Trajectories`], typed columns of which a [`Trajectory`] is one run.
//!
//! ```
//! use clrs::Registry;
//!
//! let sort = Registry::builtin().find("insertion_sort")?;
//! let mut recorder = sort.recorder();
//! sort.record_json(r#"{"key": [5, 2, 4, 3, 1]}"#, &mut recorder)?;
//! assert_eq!(recorder.trajectories().get(0).steps(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod algorithm;
pub mod algorithms;
pub mod batch;
pub mod cell;
pub mod clrs30;
pub mod column;
pub mod digest;
pub mod hash;
mod pairwise;
pub mod probes;
pub mod problems;
pub mod random;
pub mod recorder;
pub mod registry;
pub mod sampling;
pub mod score;
pub mod source;
pub mod spec;
pub mod suggest;
pub mod training;
pub mod trajectory;
pub mod transform;

pub use algorithm::{Algorithm, AnyAlgorithm, CheckError, CheckFailure, Family};
pub use batch::{Array, ArrayData, Batch};
pub use column::{Cells, Column};
pub use hash::{ContentHash, ContentHasher};
pub use problems::{Distribution, InvalidProblem, Problem};
pub use random::RandomState;
pub use recorder::{Hints, Recorder};
pub use registry::Registry;
pub use sampling::SamplerOptions;
pub use spec::{DType, Kind, Location, Probe, Spec, Stage};
pub use trajectory::{Trajectories, Trajectory};
