use rayon::prelude::*;

use crate::algorithm::AnyAlgorithm;
use crate::problems::Invalid;
use crate::random::RandomState;
use crate::recorder::Recorder;

use super::{Draws, SampleError, Settings};

/// How samples get their random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seeding {
    /// One stream for all samples, as the reference has it: a sample depends on all before it.
    #[default]
    Reference,
    /// A stream of its own for each sample, of the seed and the sample's number: any part of a set can be made alone.
    Parallel,
}

/// Draws problems of one algorithm and size, and runs them.
pub struct Sampler {
    algorithm: &'static dyn AnyAlgorithm,
    draws: Box<dyn Draws>,
    seeding: Seeding,
    seed: u32,
    /// The number of the next sample.
    next: u64,
    random: RandomState,
}

impl Sampler {
    /// Samples one after another on one stream.
    pub fn new(
        algorithm: &'static dyn AnyAlgorithm,
        size: usize,
        seed: u32,
        settings: &Settings,
    ) -> Result<Sampler, SampleError> {
        Sampler::with_seeding(algorithm, size, seed, settings, Seeding::Reference, 0)
    }

    /// Samples from number `first` on. With [`Seeding::Reference`] that is only a name: the stream begins at its beginning.
    pub fn with_seeding(
        algorithm: &'static dyn AnyAlgorithm,
        size: usize,
        seed: u32,
        settings: &Settings,
        seeding: Seeding,
        first: u64,
    ) -> Result<Sampler, SampleError> {
        let draws = algorithm.draws(size, settings)?;
        Ok(Sampler { algorithm, draws, seeding, seed, next: first, random: RandomState::new(seed) })
    }

    /// Whose problems are drawn.
    pub fn algorithm(&self) -> &'static dyn AnyAlgorithm {
        self.algorithm
    }

    /// The stream, where the next draw finds it.
    pub fn random(&mut self) -> &mut RandomState {
        &mut self.random
    }

    /// The problems drawn last, to be run on any thread.
    pub fn drawn(&self) -> &dyn Draws {
        &*self.draws
    }

    /// Draws and runs so many more, in order, on this thread.
    pub fn record(&mut self, count: usize, recorder: &mut Recorder) -> Result<(), Invalid> {
        self.draw(count)?;
        (0..count).try_for_each(|place| self.draws.record(place, recorder))
    }

    /// Draws so many more in order, and runs them on all threads. Each recorder holds the runs that follow those before.
    pub fn record_parallel(&mut self, count: usize) -> Result<Vec<Recorder>, Invalid> {
        self.draw(count)?;
        let share = count.div_ceil(rayon::current_num_threads() * 4).max(1);
        let places: Vec<usize> = (0..count).collect();
        let record = |places: &[usize]| {
            let mut recorder = self.algorithm.recorder();
            places.iter().try_for_each(|&place| self.draws.record(place, &mut recorder))?;
            Ok(recorder)
        };
        places.par_chunks(share).map(record).collect()
    }

    /// Draws so many more in order, and forgets those drawn before.
    pub fn draw(&mut self, count: usize) -> Result<(), Invalid> {
        self.draws.clear();
        for _ in 0..count {
            if self.seeding == Seeding::Parallel {
                self.random = RandomState::of_sample(self.seed, self.next);
            }
            self.draws.draw(&mut self.random)?;
            self.next += 1;
        }
        Ok(())
    }
}
