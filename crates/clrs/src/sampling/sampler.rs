use crate::algorithm::AnyAlgorithm;
use crate::cancel::{self, Inherited};
use crate::problems::InvalidProblem;
use crate::random::RandomState;
use crate::recorder::Recorder;

use super::{ProblemBuffer, SampleError, SamplerOptions};

/// How the random numbers of a sample are derived from the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seeding {
    /// One stream for all samples, as in dm-clrs: a sample depends on all samples before it.
    #[default]
    #[serde(rename = "reference")]
    DmClrs,
    /// A separate stream per sample, derived from the seed and the sample's index: any range of a set can be generated alone.
    Parallel,
}

/// Samples problems of one algorithm and size, and runs the algorithm on them.
///
/// ```
/// use clrs::sampling::Sampler;
/// use clrs::{Registry, SamplerOptions};
///
/// let bfs = Registry::builtin().find("bfs")?;
/// let options = SamplerOptions::parse(["p=0.3"])?;
/// let mut sampler = Sampler::new(bfs, 16, 1, &options)?;
/// let mut recorder = bfs.recorder();
/// sampler.record(10, &mut recorder)?;
/// assert_eq!(recorder.trajectories().len(), 10);
/// assert!(recorder.trajectories().iter().all(|sample| sample.nodes() == 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sampler {
    algorithm: &'static dyn AnyAlgorithm,
    problems: Box<dyn ProblemBuffer>,
    seeding: Seeding,
    seed: u32,
    /// Index of the next sample.
    next: u64,
    random: RandomState,
}

impl Sampler {
    /// Creates a sampler with [`Seeding::DmClrs`].
    ///
    /// # Errors
    /// If an option is unknown or invalid, or the size is out of range.
    pub fn new(
        algorithm: &'static dyn AnyAlgorithm,
        size: usize,
        seed: u32,
        options: &SamplerOptions,
    ) -> Result<Sampler, SampleError> {
        Sampler::with_seeding(algorithm, size, seed, options, Seeding::DmClrs, 0)
    }

    /// Creates a sampler whose first sample has index `first`. With [`Seeding::DmClrs`] the index has no effect: the
    /// stream starts at its beginning.
    ///
    /// # Errors
    /// As [`Sampler::new`].
    pub fn with_seeding(
        algorithm: &'static dyn AnyAlgorithm,
        size: usize,
        seed: u32,
        options: &SamplerOptions,
        seeding: Seeding,
        first: u64,
    ) -> Result<Sampler, SampleError> {
        let problems = algorithm.problem_buffer(size, options)?;
        Ok(Sampler { algorithm, problems, seeding, seed, next: first, random: RandomState::new(seed) })
    }

    /// The sampled algorithm.
    pub fn algorithm(&self) -> &'static dyn AnyAlgorithm {
        self.algorithm
    }

    /// The random stream in its current state.
    pub fn random(&mut self) -> &mut RandomState {
        &mut self.random
    }

    /// The problems of the last [`draw`](Sampler::draw). They can be run on any thread.
    pub fn problems(&self) -> &dyn ProblemBuffer {
        &*self.problems
    }

    /// Samples `count` problems and runs them in order on this thread.
    pub fn record(&mut self, count: usize, recorder: &mut Recorder) -> Result<(), InvalidProblem> {
        self.draw(count)?;
        (0..count).try_for_each(|index| self.problems.record(index, recorder))
    }

    /// Samples `count` problems in order, and meanwhile runs them on all threads. The recorders, one after another, have the
    /// samples in sampling order, and all but the last have the same number of them.
    pub fn record_parallel(&mut self, count: usize) -> Result<Vec<Recorder>, InvalidProblem> {
        let algorithm = self.algorithm;
        let record = |problems: &dyn ProblemBuffer| -> Result<Recorder, InvalidProblem> {
            let mut recorder = algorithm.recorder();
            for index in 0..problems.count() {
                problems.record(index, &mut recorder)?;
                if index == 0 {
                    recorder.reserve_like(problems.count() - 1);
                }
            }
            Ok(recorder)
        };
        let chunk = count.div_ceil(rayon::current_num_threads() * 4).max(1);
        let mut recorded = Vec::new();
        recorded.resize_with(count.div_ceil(chunk), || None);
        let inherited = Inherited::current();
        rayon::in_place_scope(|scope| -> Result<(), InvalidProblem> {
            for (start, recorded) in (0..count).step_by(chunk).zip(&mut recorded) {
                self.draw(chunk.min(count - start))?;
                let (problems, inherited) = (self.problems.take(), &inherited);
                scope.spawn(move |_| *recorded = Some(inherited.run(|| record(&*problems))));
            }
            Ok(())
        })?;
        recorded.into_iter().map(|recorded| recorded.expect("the scope waits for all of them")).collect()
    }

    /// Samples `count` problems, which replace those of the previous call.
    pub fn draw(&mut self, count: usize) -> Result<(), InvalidProblem> {
        self.problems.clear();
        for _ in 0..count {
            cancel::check();
            if self.seeding == Seeding::Parallel {
                self.random = RandomState::of_sample(self.seed, self.next);
            }
            self.problems.draw(&mut self.random)?;
            self.next += 1;
        }
        Ok(())
    }
}
