//! Samples for training and evaluation.
//!
//! What a batch holds depends on the recipe and on the batch's number alone, so a run that was stopped goes on with the same
//! batches: [`Source::skip`] passes over those it has seen.

use std::path::{Path, PathBuf};

use clrs::clrs30::{BenchmarkSet, Split, Version};
use clrs::random::RandomState;
use clrs::sampling::{FixedSet, SampleError, Sampler};
use clrs::transform::{TransformError, cyclic_permutations, plain_permutations, predecessors_as_input, random_positions};
use clrs::{AnyAlgorithm, Kind, Probe, Recorder, Spec, Trajectories, Trajectory, training};
use clrs_store::{SetReader, StoreError};

use crate::recipe::{ON_THE_FLY, Order, Permutations, Recipe};

/// Why there is no data.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DataError {
    #[error("{algorithm}: {error}")]
    Sample { algorithm: String, error: SampleError },
    #[error("{algorithm}: {error}")]
    Transform { algorithm: String, error: TransformError },
    #[error("{algorithm}: {error}")]
    Padding { algorithm: String, error: clrs::batch::BatchError },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: runs of {found}, not of {expected}", .path.display())]
    Other { path: PathBuf, found: String, expected: String },
    #[error(
        "no data is called `{0}`: there is no such folder here, and versions of the benchmark are clrs30@2.0.3 and clrs30@1.0.0 (in a recipe also `{ON_THE_FLY}`)"
    )]
    Unknown(String),
    #[error("{algorithm} is no part of {version}: its samples can be made on the fly, or read from a folder of sets")]
    NotInBenchmark { algorithm: String, version: &'static str },
    #[error("`batch_size` is {asked}, but the set of {algorithm} has {samples} samples")]
    BatchSize { algorithm: String, asked: usize, samples: usize },
    #[error("{algorithm}: a sample of the training set has no steps")]
    NoSteps { algorithm: String },
    #[error("`lengths` names no size")]
    NoLengths,
    #[error("{algorithm}: the samples have no {stage} `{probe}` of the kind that the network was trained with", stage = .stage.name())]
    Probe { algorithm: String, stage: clrs::Stage, probe: String },
}

/// What a recipe does to every batch of an algorithm.
#[derive(Clone, Debug)]
pub struct Changes {
    /// A seed for positions, where these are random.
    positions: Option<(u32, u64)>,
    pred_as_input: bool,
    permutations: Permutations,
}

impl Changes {
    /// For training, or for validation: random positions of both have nothing in common.
    pub fn new(recipe: &Recipe, algorithm: &dyn AnyAlgorithm, index: usize, split: Split) -> Changes {
        let stream = ((split as u64 + 1) << 56) | ((index as u64) << 40);
        Changes {
            positions: (recipe.random_pos && split != Split::Test).then_some((recipe.data_seed, stream)),
            pred_as_input: recipe.pred_as_input && algorithm.fixed_order(),
            permutations: recipe.permutations,
        }
    }

    /// The same, but positions stay as they are.
    #[must_use]
    pub fn fixed(&self) -> Changes {
        Changes { positions: None, ..self.clone() }
    }

    /// A batch of that number, changed.
    pub fn apply(&self, mut batch: clrs::Batch, number: u64) -> Result<clrs::Batch, TransformError> {
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

/// Batches of one algorithm, changed as a recipe says.
pub struct Source {
    algorithm: &'static dyn AnyAlgorithm,
    changes: Changes,
    samples: Samples,
    batch_size: usize,
    /// The number of the next batch.
    number: u64,
}

enum Samples {
    Fixed {
        runs: Trajectories,
        order: Order,
        seed: (u32, u64),
    },
    /// A sampler per size, in turn.
    Endless {
        samplers: Vec<Sampler>,
        recorder: Recorder,
    },
}

impl Source {
    /// The batches that a recipe trains an algorithm on, of all sizes in turn.
    pub fn train(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm, index: usize) -> Result<Source, DataError> {
        Source::of_sizes(recipe, algorithm, index, |_| true)
    }

    /// The same, a source for every size.
    pub fn train_by_size(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm, index: usize) -> Result<Vec<Source>, DataError> {
        let count = if recipe.data == ON_THE_FLY { training::sizes(algorithm, &recipe.lengths).len() } else { 1 };
        (0..count).map(|size| Source::of_sizes(recipe, algorithm, index, |place| place == size)).collect()
    }

    /// Of the sizes at some places of the recipe's list.
    fn of_sizes(
        recipe: &Recipe,
        algorithm: &'static dyn AnyAlgorithm,
        index: usize,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Source, DataError> {
        let samples = if recipe.data == ON_THE_FLY {
            let sizes = training::sizes(algorithm, &recipe.lengths);
            if sizes.is_empty() {
                return Err(DataError::NoLengths);
            }
            let sampler =
                |(place, &size): (usize, &usize)| sampler(recipe, algorithm, size, seed(recipe.data_seed, index, place));
            let sizes = sizes.iter().enumerate().filter(|(place, _)| wanted(*place));
            let samplers = sizes.map(sampler).collect::<Result<_, _>>()?;
            Samples::Endless { samplers, recorder: algorithm.recorder() }
        } else {
            let runs = fixed(&recipe.data, algorithm, Split::Train)?;
            if recipe.batch_size > runs.len() {
                let algorithm = algorithm.name().into();
                return Err(DataError::BatchSize { algorithm, asked: recipe.batch_size, samples: runs.len() });
            }
            if runs.iter().any(|sample| sample.steps() == 0) {
                return Err(DataError::NoSteps { algorithm: algorithm.name().into() });
            }
            Samples::Fixed { runs, order: recipe.order, seed: (recipe.data_seed, (index as u64) << 40) }
        };
        let changes = Changes::new(recipe, algorithm, index, Split::Train);
        Ok(Source { algorithm, changes, samples, batch_size: recipe.batch_size, number: 0 })
    }

    /// The next batch.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and never ends")]
    pub fn next(&mut self) -> Result<clrs::Batch, DataError> {
        let (number, count) = (self.number, self.batch_size);
        self.number += 1;
        let algorithm = || self.algorithm.name().to_string();
        let batch = match &mut self.samples {
            Samples::Fixed { runs, order, seed: (seed, stream) } => {
                let places: Vec<usize> = match order {
                    Order::InOrder => {
                        let first = (u128::from(number) * count as u128 % runs.len() as u128) as usize;
                        (first..first + count).map(|place| place % runs.len()).collect()
                    }
                    Order::Drawn => RandomState::of_sample(*seed, *stream + number).choices(runs.len(), count),
                };
                let samples: Vec<Trajectory<'_>> = places.into_iter().map(|place| runs.get(place)).collect();
                clrs::Batch::new(&samples, 0)
            }
            Samples::Endless { samplers, recorder } => {
                recorder.clear();
                let turn = turn(number, samplers.len());
                let recorded = samplers[turn].record(count, recorder);
                recorded.map_err(|error| DataError::Sample { algorithm: algorithm(), error: error.into() })?;
                clrs::Batch::new(&recorder.trajectories().iter().collect::<Vec<_>>(), 0)
            }
        };
        let batch = batch.map_err(|error| DataError::Padding { algorithm: algorithm(), error })?;
        self.changes.apply(batch, number).map_err(|error| DataError::Transform { algorithm: algorithm(), error })
    }

    /// Samples of a fixed set.
    pub(crate) fn fixed(&self) -> Option<&Trajectories> {
        if let Samples::Fixed { runs, .. } = &self.samples { Some(runs) } else { None }
    }

    /// Passes over so many batches. Problems made on the fly are drawn, since one depends on those before, but not run.
    pub fn skip(&mut self, batches: u64) -> Result<(), DataError> {
        for number in self.number..self.number + batches {
            if let Samples::Endless { samplers, .. } = &mut self.samples {
                let turn = turn(number, samplers.len());
                let drawn = samplers[turn].draw(self.batch_size);
                drawn.map_err(|error| DataError::Sample { algorithm: self.algorithm.name().into(), error: error.into() })?;
            }
        }
        self.number += batches;
        Ok(())
    }
}

/// The probes that samples of an algorithm have by a recipe, before anything is changed.
pub fn recorded_spec(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm) -> Result<Spec, DataError> {
    if let Ok(version) = recipe.data.parse::<Version>() {
        return Ok(version.spec(algorithm));
    }
    let path = set_path(Path::new(&recipe.data), algorithm, Split::Train);
    // A network can be judged where the folder that it was trained on is gone.
    if recipe.data == ON_THE_FLY || !path.exists() {
        return Ok(Spec::from(algorithm.spec()));
    }
    Ok(open_set(&path, algorithm)?.header().spec.clone())
}

/// The probes that a network for an algorithm has by a recipe.
pub fn network_spec(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm) -> Result<Spec, DataError> {
    let failed = |error| DataError::Sample { algorithm: algorithm.name().into(), error };
    let sampler = Sampler::new(algorithm, SMALL, 0, &clrs::SamplerOptions::default()).map_err(failed)?;
    let runs = FixedSet::new(sampler, 1).map_err(failed)?.into_trajectories();
    let runs = with_probes(runs, &recorded_spec(recipe, algorithm)?, algorithm)?;
    let padding = |error| DataError::Padding { algorithm: algorithm.name().into(), error };
    let batch = clrs::Batch::new(&[runs.get(0)], 0).map_err(padding)?;
    let changed = Changes::new(recipe, algorithm, 0, Split::Test).apply(batch, 0);
    Ok(changed.map_err(|error| DataError::Transform { algorithm: algorithm.name().into(), error })?.spec)
}

/// Every algorithm has samples of so many nodes.
const SMALL: usize = 4;

/// The same samples with the probes of another spec: those that it does not name are left out.
pub fn with_probes(runs: Trajectories, spec: &Spec, algorithm: &dyn AnyAlgorithm) -> Result<Trajectories, DataError> {
    // Versions of the benchmark differ in whether an order of the nodes is called one, or plain pointers.
    let plain = |kind: Kind| if kind == Kind::Permutation { Kind::Pointer } else { kind };
    let same = |a: &Probe, b: &Probe| (a.stage, a.location, plain(a.kind)) == (b.stage, b.location, plain(b.kind));
    let there = |probe: &Probe| runs.spec().get(&probe.name).is_some_and(|other| same(other, probe));
    if let Some(missing) = spec.iter().find(|probe| !there(probe)) {
        let (algorithm, probe) = (algorithm.name().into(), missing.name.to_string());
        return Err(DataError::Probe { algorithm, stage: missing.stage, probe });
    }
    Ok(runs.with_spec(spec))
}

/// Whose turn it is.
#[expect(clippy::cast_possible_truncation, reason = "less than the count")]
fn turn(number: u64, count: usize) -> usize {
    (number % count as u64) as usize
}

/// The samples that a recipe validates an algorithm on: the set of the benchmark or the folder, or as many as it says, made
/// on the fly at the largest size.
pub fn validation(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm, index: usize) -> Result<Trajectories, DataError> {
    if recipe.data != ON_THE_FLY {
        let runs = fixed(&recipe.data, algorithm, Split::Val)?;
        // In a folder, the two sets may have come from different versions.
        return with_probes(runs, &recorded_spec(recipe, algorithm)?, algorithm);
    }
    let size = training::sizes(algorithm, &recipe.lengths).into_iter().max().ok_or(DataError::NoLengths)?;
    let count = recipe.val_samples * algorithm.eval_multiplier();
    let sampler = sampler(recipe, algorithm, size, seed(recipe.data_seed, index, VALIDATION))?;
    let set = FixedSet::new(sampler, count).map_err(|error| DataError::Sample { algorithm: algorithm.name().into(), error })?;
    Ok(set.into_trajectories())
}

/// The place of validation among the sizes of an algorithm.
const VALIDATION: usize = (1 << 20) - 1;

fn sampler(recipe: &Recipe, algorithm: &'static dyn AnyAlgorithm, size: usize, seed: u32) -> Result<Sampler, DataError> {
    let options = training::sampler_options(algorithm, &recipe.edge_chances);
    Sampler::new(algorithm, size, seed, &options).map_err(|error| DataError::Sample { algorithm: algorithm.name().into(), error })
}

/// A seed of its own for every algorithm and size.
fn seed(seed: u32, algorithm: usize, place: usize) -> u32 {
    RandomState::of_sample(seed, ((algorithm as u64) << 20) | place as u64).word()
}

/// A fixed set, whole: of the benchmark, or of a folder.
pub fn fixed(data: &str, algorithm: &'static dyn AnyAlgorithm, split: Split) -> Result<Trajectories, DataError> {
    if let Ok(version) = data.parse::<Version>() {
        let set = benchmark_set(version, algorithm, split)?;
        let failed = |error| DataError::Sample { algorithm: algorithm.name().into(), error };
        let sampler = Sampler::new(algorithm, set.size, set.seed, &clrs::SamplerOptions::default()).map_err(failed)?;
        let runs = FixedSet::new(sampler, set.samples).map_err(failed)?.into_trajectories();
        return Ok(runs.with_spec(&set.spec));
    }
    let folder = Path::new(data);
    if !folder.is_dir() {
        return Err(DataError::Unknown(data.into()));
    }
    Ok(open_set(&set_path(folder, algorithm, split), algorithm)?.read_all()?)
}

/// One of the benchmark's sets.
pub(crate) fn benchmark_set(version: Version, algorithm: &dyn AnyAlgorithm, split: Split) -> Result<BenchmarkSet, DataError> {
    let is_it = |set: &BenchmarkSet| set.algorithm.name() == algorithm.name() && set.split == split;
    let missing = || DataError::NotInBenchmark { algorithm: algorithm.name().into(), version: version.name() };
    version.sets().into_iter().find(is_it).ok_or_else(missing)
}

/// Where a folder has a set.
pub(crate) fn set_path(folder: &Path, algorithm: &dyn AnyAlgorithm, split: Split) -> PathBuf {
    folder.join(format!("{}_{}.arrow", algorithm.name(), split.name()))
}

/// A file that should hold runs of an algorithm.
pub(crate) fn open_set(path: &Path, algorithm: &dyn AnyAlgorithm) -> Result<SetReader, DataError> {
    let reader = SetReader::open(path)?;
    if reader.header().algorithm != algorithm.name() {
        let (found, expected) = (reader.header().algorithm.clone(), algorithm.name().into());
        return Err(DataError::Other { path: path.into(), found, expected });
    }
    Ok(reader)
}
