//! Transforms of batches for training, in the order in which they are applied.
//!
//! - [`random_positions`]: replaces `pos` by sorted random numbers.
//! - [`predecessors_as_input`]: turns a `pred_h` hint that never changes into the input `pred`.
//! - [`cyclic_permutations`] or [`plain_permutations`]: chooses how permutation outputs are predicted.
//! - [`Chunks`]: concatenates trajectories and cuts them into chunks of one length.
//!
//! [`random_positions`] and [`Chunks`] leave the spec unchanged. The other transforms have a `_spec` function that maps the
//! spec without a batch, so that the spec of a network is known before a sample is drawn.
//!
//! ```
//! use clrs::transform::{cyclic_permutations, cyclic_permutations_spec};
//! use clrs::{Batch, Registry, Spec};
//!
//! let sort = Registry::builtin().find("insertion_sort")?;
//! let spec = cyclic_permutations_spec(&Spec::from(sort.spec()))?;
//! assert!(spec.get("pred_mask").is_some());
//!
//! let mut recorder = sort.recorder();
//! sort.record_json(r#"{"key": [5, 2, 4]}"#, &mut recorder)?;
//! let batch = cyclic_permutations(Batch::new(&[recorder.trajectories().get(0)], 0)?)?;
//! assert_eq!(batch.spec, spec);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunks;
mod permutations;
mod positions;
mod predecessors;

pub use chunks::{Chunk, Chunks};
pub use permutations::{
    cyclic_permutation, cyclic_permutations, cyclic_permutations_spec, plain_permutations, plain_permutations_spec,
};
pub use positions::random_positions;
pub use predecessors::{predecessors_as_input, predecessors_as_input_spec};

use crate::spec::DuplicateProbe;

/// A transform that does not apply to a batch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum TransformError {
    #[error("`pos` of sample {sample} does not start at 0; its positions are already random")]
    Positions { sample: usize },
    #[error("`pred_h` of sample {sample} changes at step {step}; it cannot become an input")]
    Moves { sample: usize, step: usize },
    #[error("the output `pred` exists; `pred_h` cannot become an input of that name")]
    Taken,
    #[error("`{0}` is missing, or its array has the wrong type or shape")]
    Array(String),
    #[error(transparent)]
    DuplicateProbe(#[from] DuplicateProbe),
    #[error("the length of a chunk is 0; it must be at least 1")]
    NoSteps,
    #[error("batches with different sizes or probes cannot be chunked together")]
    Shapes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Batch;
    use crate::registry::Registry;
    use crate::sampling::{FixedSet, Sampler, SamplerOptions};
    use crate::spec::Spec;

    #[test]
    fn specs_are_those_of_transformed_batches() {
        type SpecTransform = fn(&Spec) -> Result<Spec, TransformError>;
        type BatchTransform = fn(Batch) -> Result<Batch, TransformError>;
        let transforms: [(&str, SpecTransform, BatchTransform); 3] = [
            ("predecessors_as_input", predecessors_as_input_spec, predecessors_as_input),
            ("cyclic_permutations", cyclic_permutations_spec, cyclic_permutations),
            ("plain_permutations", |spec| Ok(plain_permutations_spec(spec)), |batch| Ok(plain_permutations(batch))),
        ];
        for algorithm in Registry::builtin().iter() {
            let sampler = Sampler::new(algorithm, 5, 1, &SamplerOptions::default()).expect("a valid size");
            let batch = FixedSet::new(sampler, 2).expect("samples").all().expect("a batch");
            for (name, spec, transform) in &transforms {
                if *name == "predecessors_as_input" && !algorithm.fixed_order() {
                    continue;
                }
                let transformed = transform(batch.clone()).expect("the transform applies").spec;
                assert_eq!(spec(&Spec::from(algorithm.spec())), Ok(transformed), "{name} of {}", algorithm.name());
            }
        }
    }

    #[test]
    fn predecessors_can_become_an_input_exactly_if_the_order_is_fixed() {
        for algorithm in Registry::builtin().iter() {
            let has_hint = algorithm.spec().iter().any(|probe| probe.name == "pred_h");
            let sampler = Sampler::new(algorithm, 8, 1, &SamplerOptions::default()).expect("a valid size");
            let batch = FixedSet::new(sampler, 8).expect("samples").all().expect("a batch");
            let moved = predecessors_as_input(batch).is_ok() && has_hint;
            assert_eq!(moved, algorithm.fixed_order(), "{}", algorithm.name());
        }
    }
}
