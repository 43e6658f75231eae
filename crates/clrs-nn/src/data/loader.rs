//! Training batches and validation samples.
//!
//! A batch depends on the recipe and its number alone, so a resumed run continues with the same batches: [`BatchLoader::skip`] skips
//! those it has seen.

use std::sync::Arc;

use clrs::clrs30::Split;
use clrs::random::RandomState;
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, Batch, Recorder, Trajectories, Trajectory, training};

use super::error::DataError;
use super::sets::{self, SetCache};
use super::transform::BatchTransform;
use crate::config::data_source::DataSource;
use crate::config::recipe::{Order, Recipe};

/// Training batches of one algorithm, with the transforms of a recipe.
///
/// ```
/// use clrs_nn::Recipe;
/// use clrs_nn::data::loader::BatchLoader;
/// use clrs_nn::data::sets::SetCache;
///
/// let bfs = clrs::Registry::builtin().find("bfs")?;
/// let recipe = Recipe::parse("lengths = [4, 8]", &["batch_size=3"])?;
/// let mut loader = BatchLoader::new(&recipe, bfs, 0, &SetCache::default())?;
/// assert_eq!(loader.next()?.lengths.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchLoader {
    algorithm: &'static dyn AnyAlgorithm,
    transform: BatchTransform,
    samples: Samples,
    batch_size: usize,
    /// Number of the next batch.
    number: u64,
}

enum Samples {
    Fixed {
        set: Arc<Trajectories>,
        order: Order,
        /// Seed and stream of the random order.
        seed: (u32, u64),
    },
    /// One sampler per size, in turn.
    OnTheFly { samplers: Vec<Sampler>, recorder: Recorder },
}

impl BatchLoader {
    /// Loads batches of all sizes in turn. `index` is that of the algorithm in the recipe.
    pub fn new(
        recipe: &Recipe,
        algorithm: &'static dyn AnyAlgorithm,
        index: usize,
        sets: &SetCache,
    ) -> Result<BatchLoader, DataError> {
        BatchLoader::of_sizes(recipe, algorithm, index, sets, |_| true)
    }

    /// One loader per size.
    pub fn per_size(
        recipe: &Recipe,
        algorithm: &'static dyn AnyAlgorithm,
        index: usize,
        sets: &SetCache,
    ) -> Result<Vec<BatchLoader>, DataError> {
        let on_the_fly = recipe.data == DataSource::OnTheFly;
        let count = if on_the_fly { training::sizes(algorithm, &recipe.lengths).len() } else { 1 };
        (0..count).map(|size| BatchLoader::of_sizes(recipe, algorithm, index, sets, |number| number == size)).collect()
    }

    fn of_sizes(
        recipe: &Recipe,
        algorithm: &'static dyn AnyAlgorithm,
        index: usize,
        sets: &SetCache,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<BatchLoader, DataError> {
        let samples = if recipe.data == DataSource::OnTheFly {
            let sizes = training::sizes(algorithm, &recipe.lengths);
            let sizes = sizes.into_iter().enumerate().filter(|(number, _)| is_wanted(*number));
            let sampler = |(number, size)| sampler(recipe, algorithm, size, seed(recipe.data_seed, index, number));
            Samples::OnTheFly { samplers: sizes.map(sampler).collect::<Result<_, _>>()?, recorder: algorithm.recorder() }
        } else {
            let set = sets.load(&recipe.data, algorithm, Split::Train)?;
            if recipe.batch_size > set.len() {
                let (algorithm, batch_size) = (algorithm.name().into(), recipe.batch_size);
                return Err(DataError::BatchSize { algorithm, batch_size, samples: set.len() });
            }
            if set.iter().any(|sample| sample.steps() == 0) {
                return Err(DataError::NoSteps { algorithm: algorithm.name().into() });
            }
            Samples::Fixed { set, order: recipe.order, seed: (recipe.data_seed, (index as u64) << 40) }
        };
        let transform = BatchTransform::new(recipe, algorithm, index, Split::Train);
        Ok(BatchLoader { algorithm, transform, samples, batch_size: recipe.batch_size, number: 0 })
    }

    /// Returns the next batch.
    ///
    /// # Errors
    /// If a problem cannot be drawn or a transform does not apply.
    #[expect(clippy::should_implement_trait, reason = "it can fail and never ends")]
    pub fn next(&mut self) -> Result<Batch, DataError> {
        let (number, count) = (self.number, self.batch_size);
        self.number += 1;
        let algorithm = || self.algorithm.name().to_string();
        let batch = match &mut self.samples {
            Samples::Fixed { set, order, seed: (seed, stream) } => {
                let indices: Vec<usize> = match order {
                    Order::Sequential => {
                        let first = (u128::from(number) * count as u128 % set.len() as u128) as usize;
                        (first..first + count).map(|index| index % set.len()).collect()
                    }
                    Order::Random => RandomState::of_sample(*seed, *stream + number).choices(set.len(), count),
                };
                let samples: Vec<Trajectory<'_>> = indices.into_iter().map(|index| set.get(index)).collect();
                Batch::new(&samples, 0)
            }
            Samples::OnTheFly { samplers, recorder } => {
                recorder.clear();
                let turn = turn(number, samplers.len());
                let recorded = samplers[turn].record(count, recorder);
                recorded.map_err(|error| DataError::Sample { algorithm: algorithm(), source: error.into() })?;
                Batch::new(&recorder.trajectories().iter().collect::<Vec<_>>(), 0)
            }
        };
        let batch = batch.map_err(|source| DataError::Batch { algorithm: algorithm(), source })?;
        self.transform.apply(batch, number).map_err(|source| DataError::Transform { algorithm: algorithm(), source })
    }

    /// The samples, if they are a fixed set.
    pub(crate) fn fixed_set(&self) -> Option<&Trajectories> {
        if let Samples::Fixed { set, .. } = &self.samples { Some(set) } else { None }
    }

    /// Skips a number of batches. Problems drawn on the fly are drawn, since each depends on those before it, but not solved.
    ///
    /// # Errors
    /// If a problem cannot be drawn.
    pub fn skip(&mut self, batches: u64) -> Result<(), DataError> {
        for number in self.number..self.number + batches {
            if let Samples::OnTheFly { samplers, .. } = &mut self.samples {
                let turn = turn(number, samplers.len());
                let drawn = samplers[turn].draw(self.batch_size);
                drawn.map_err(|error| DataError::Sample { algorithm: self.algorithm.name().into(), source: error.into() })?;
            }
        }
        self.number += batches;
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "less than the count")]
fn turn(number: u64, count: usize) -> usize {
    (number % count as u64) as usize
}

/// Validation samples of an algorithm: the fixed set, or samples drawn at the largest size.
pub fn validation_samples(
    recipe: &Recipe,
    algorithm: &'static dyn AnyAlgorithm,
    index: usize,
    sets: &SetCache,
) -> Result<Arc<Trajectories>, DataError> {
    if recipe.data != DataSource::OnTheFly {
        let set = sets.load(&recipe.data, algorithm, Split::Val)?;
        // In a directory, the two sets may come from different versions.
        return sets::with_spec(set, &sets::recorded_spec(&recipe.data, algorithm)?, algorithm);
    }
    let size = training::sizes(algorithm, &recipe.lengths).into_iter().max().expect("a valid recipe has lengths");
    let count = recipe.val_samples * algorithm.eval_multiplier();
    let sampler = sampler(recipe, algorithm, size, seed(recipe.data_seed, index, VALIDATION))?;
    let set = FixedSet::new(sampler, count).map_err(|source| DataError::Sample { algorithm: algorithm.name().into(), source })?;
    Ok(Arc::new(set.into_trajectories()))
}

/// Used instead of the number of a size in the seed of validation samples.
const VALIDATION: usize = (1 << 20) - 1;

/// The sampler of an algorithm at a size.
pub(crate) fn sampler(
    recipe: &Recipe,
    algorithm: &'static dyn AnyAlgorithm,
    size: usize,
    seed: u32,
) -> Result<Sampler, DataError> {
    let options = training::sampler_options(algorithm, &recipe.edge_probabilities);
    Sampler::new(algorithm, size, seed, &options)
        .map_err(|source| DataError::Sample { algorithm: algorithm.name().into(), source })
}

/// A separate seed for every algorithm and size.
fn seed(seed: u32, algorithm: usize, size: usize) -> u32 {
    RandomState::of_sample(seed, ((algorithm as u64) << 20) | size as u64).word()
}
