//! The data engine of the CLRS Algorithmic Reasoning Benchmark: textbook algorithms that record every step.
//!
//! Data flow: a [`Problem`] is sampled from a [`Distribution`], parsed from JSON, or recovered from stored inputs. An
//! [`Algorithm`] runs on it and records its inputs, outputs and hints with a [`Recorder`]. The result is stored in
//! [`Trajectories`], typed columns of which a [`Trajectory`] is a view of one sample. A [`Batch`] has samples of one size as
//! dense arrays in the layout of dm-clrs.
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
//!
//! | module | contents |
//! |---|---|
//! | [`registry`], [`algorithm`], [`algorithms`] | lookup by name, the traits, and the [built-in algorithms](algorithms) |
//! | [`problems`], [`sampling`], [`random`] | problem types and distributions, samplers, `NumPy`'s `RandomState` |
//! | [`spec`], [`probes`](mod@probes), [`cell`] | probes and specs, the macro that declares them, the Rust types of cells |
//! | [`recorder`], [`trajectory`], [`column`](mod@column), [`trace`] | recording and storage of samples, traces as JSON documents |
//! | [`batch`], [`transform`], [`training`] | dense batches and their transforms, options for training |
//! | [`score`] | the scores of dm-clrs, validity and exact match |
//! | [`clrs30`], [`hash`], [`digest`] | the benchmark's sets, their content hashes, digests of dense arrays |
//! | [`cancel`] | cancellation of long work from other threads |

pub mod algorithm;
pub mod algorithms;
pub mod batch;
pub mod cancel;
pub mod cell;
pub mod clrs30;
pub mod column;
pub mod digest;
pub mod hash;
pub mod mt19937;
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
pub mod trace;
pub mod training;
pub mod trajectory;
pub mod transform;
mod trigonometry;

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
pub use trace::Trace;
pub use trajectory::{Trajectories, Trajectory};
