//! An estimate of the memory of a run, so that a recipe that cannot fit is refused before any work.

use clrs::AnyAlgorithm;

use crate::config::data_source::DataSource;
use crate::config::recipe::Recipe;

/// Bytes that a run needs, by their use. Derived from upper bounds on the number of steps: most runs need less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryEstimate {
    pub(super) parameters: u64,
    pub(super) activations: u64,
    pub(super) validation: u64,
}

/// Bytes per scalar parameter: values, two moments, folded and packed copies, gradients of the micro-batches in flight, checkpoints.
const BYTES_PER_PARAMETER: u64 = 48;

/// Hidden-sized vectors that a step stores per node for backward.
const VECTORS_PER_NODE: u64 = 24;

/// Values that a step stores per pair of nodes for backward with fused kernels, and hidden-sized vectors without.
const VALUES_PER_PAIR: u64 = 16;
const VECTORS_PER_PAIR: u64 = 6;

impl MemoryEstimate {
    /// From the number of scalar parameters, and the algorithms with their largest number of nodes.
    pub(super) fn new(recipe: &Recipe, parameters: usize, algorithms: &[(&dyn AnyAlgorithm, usize)]) -> MemoryEstimate {
        let (batch, h) = (recipe.batch_size as u64, recipe.model.hidden as u64);
        let mut estimate =
            MemoryEstimate { parameters: BYTES_PER_PARAMETER.saturating_mul(parameters as u64), ..MemoryEstimate::default() };
        for &(algorithm, nodes) in algorithms {
            let max_steps = algorithm.max_steps(nodes);
            let steps = if recipe.chunk_length > 0 { recipe.chunk_length.min(max_steps) } else { max_steps } as u64;
            let n = nodes as u64;
            let per_pair = if recipe.fused { VALUES_PER_PAIR } else { VECTORS_PER_PAIR * h };
            let per_step = (n * h * VECTORS_PER_NODE).saturating_add(n.saturating_mul(n).saturating_mul(per_pair));
            let activations = [batch, steps, per_step, size_of::<f32>() as u64].into_iter().fold(1, u64::saturating_mul);
            // Algorithms are updated one after another; all validation sets stay in memory.
            estimate.activations = estimate.activations.max(activations);
            if recipe.data == DataSource::OnTheFly {
                let samples = (recipe.val_samples * algorithm.eval_multiplier()) as u64;
                let bytes = samples.saturating_mul(algorithm.max_recording_bytes(nodes) as u64);
                estimate.validation = estimate.validation.saturating_add(bytes);
            }
        }
        estimate
    }

    pub(super) fn total(&self) -> u64 {
        self.parameters.saturating_add(self.activations).saturating_add(self.validation)
    }

    /// The field that most of the memory is due to.
    pub(super) fn advice(&self) -> &'static str {
        if self.validation >= self.parameters.max(self.activations) {
            "reduce `val_samples` or `lengths`"
        } else if self.parameters >= self.activations {
            "reduce `hidden`"
        } else {
            "reduce `batch_size`, `hidden` or `lengths`, or set `chunk_length`"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::ModelConfig;

    #[test]
    fn estimates_grow_with_what_the_advice_names() {
        let bfs = clrs::Registry::builtin().find("bfs").expect("bfs");
        let estimate = |recipe: &Recipe, parameters| MemoryEstimate::new(recipe, parameters, &[(bfs, 16)]);
        let default = Recipe::default();
        let usual = estimate(&default, 400_000);
        assert!(usual.total() < 200 << 20, "{usual:?}");

        let wide = Recipe { model: ModelConfig { hidden: 8192, ..ModelConfig::default() }, ..default.clone() };
        let wide = estimate(&wide, 1_200_000_000);
        assert!(wide.total() > 50 << 30, "{wide:?}");
        assert_eq!(wide.advice(), "reduce `hidden`");

        let many = Recipe { val_samples: 1 << 16, batch_size: 1, ..default.clone() };
        assert_eq!(estimate(&many, 1000).advice(), "reduce `val_samples` or `lengths`");
        let large = Recipe { batch_size: 100_000, ..default };
        assert!(estimate(&large, 1000).advice().contains("`batch_size`"));
    }
}
