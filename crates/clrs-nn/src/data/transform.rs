//! Transforms that a recipe applies to every batch of an algorithm.

use clrs::clrs30::Split;
use clrs::random::RandomState;
use clrs::transform::{
    TransformError, cyclic_permutations, cyclic_permutations_spec, plain_permutations, plain_permutations_spec,
    predecessors_as_input, predecessors_as_input_spec, random_positions,
};
use clrs::{AnyAlgorithm, Batch, Spec};

use crate::config::recipe::{Permutations, Recipe};

/// The transforms of a recipe for one algorithm and split.
#[derive(Clone, Debug)]
pub struct BatchTransform {
    /// Seed and stream of random positions, if there are any.
    positions: Option<(u32, u64)>,
    pred_as_input: bool,
    permutations: Permutations,
}

impl BatchTransform {
    /// Creates the transforms. Training and validation have different random positions; test samples have their original ones.
    /// `index` is that of the algorithm in the recipe.
    pub fn new(recipe: &Recipe, algorithm: &dyn AnyAlgorithm, index: usize, split: Split) -> BatchTransform {
        let stream = ((split as u64 + 1) << 56) | ((index as u64) << 40);
        BatchTransform {
            positions: (recipe.random_pos && split != Split::Test).then_some((recipe.data_seed, stream)),
            pred_as_input: recipe.pred_as_input && algorithm.fixed_order(),
            permutations: recipe.permutations,
        }
    }

    /// The same transforms without random positions.
    #[must_use]
    pub fn without_random_positions(&self) -> BatchTransform {
        BatchTransform { positions: None, ..self.clone() }
    }

    /// The spec of transformed batches.
    pub fn spec(&self, spec: &Spec) -> Result<Spec, TransformError> {
        let spec = if self.pred_as_input { predecessors_as_input_spec(spec)? } else { spec.clone() };
        match self.permutations {
            Permutations::Sinkhorn => cyclic_permutations_spec(&spec),
            Permutations::Pointers => Ok(plain_permutations_spec(&spec)),
        }
    }

    /// Transforms the batch with a given number. Random positions depend on the number alone.
    pub fn apply(&self, mut batch: Batch, number: u64) -> Result<Batch, TransformError> {
        if let Some((seed, stream)) = self.positions {
            batch = random_positions(batch, &mut RandomState::of_sample(seed, stream + number))?;
        }
        if self.pred_as_input {
            batch = predecessors_as_input(batch)?;
        }
        match self.permutations {
            Permutations::Sinkhorn => cyclic_permutations(batch),
            Permutations::Pointers => Ok(plain_permutations(batch)),
        }
    }
}
