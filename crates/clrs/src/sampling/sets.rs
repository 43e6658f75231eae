use crate::batch::{Batch, BatchError};
use crate::recorder::Recorder;
use crate::trajectory::{Runs, Trajectory};

use super::{SampleError, Sampler};

/// So many samples drawn once: `build_sampler(.., num_samples)`.
pub struct FixedSet {
    sampler: Sampler,
    runs: Runs,
}

impl FixedSet {
    /// Draws and runs them all.
    pub fn new(mut sampler: Sampler, count: usize) -> Result<FixedSet, SampleError> {
        let parts = sampler.record_parallel(count)?;
        let mut parts = parts.into_iter().map(Recorder::into_runs);
        let mut runs = parts.next().ok_or(BatchError::Empty)?;
        parts.for_each(|part| runs.append(&part));
        Ok(FixedSet { sampler, runs })
    }

    /// The samples, in the order they were drawn.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// The samples alone.
    pub fn into_runs(self) -> Runs {
        self.runs
    }

    /// The whole set: `next()`.
    pub fn all(&self) -> Result<Batch, BatchError> {
        Batch::new(&self.runs.iter().collect::<Vec<_>>(), 0)
    }

    /// Samples drawn from the set with replacement, padded as the whole set is: `next(count)`.
    pub fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        if count > self.runs.len() {
            return Err(SampleError::BatchSize { asked: count, samples: self.runs.len() });
        }
        let chosen = self.sampler.random().choices(self.runs.len(), count);
        let samples: Vec<Trajectory<'_>> = chosen.into_iter().map(|run| self.runs.get(run)).collect();
        Ok(Batch::new(&samples, self.runs.longest())?)
    }
}

/// Endless samples, made as they are asked for: `build_sampler(.., num_samples=-1)`.
pub struct Stream {
    sampler: Sampler,
    /// The most steps seen, where batches are padded to it.
    max_steps: Option<usize>,
    recorder: Recorder,
}

/// What the reference draws and throws away to learn how long runs are.
const WARM_UP: usize = 1000;

impl Stream {
    /// Batches padded to their own longest sample.
    pub fn new(sampler: Sampler) -> Stream {
        let recorder = sampler.algorithm().recorder();
        Stream { sampler, max_steps: None, recorder }
    }

    /// Batches padded to the longest sample seen, of a thousand that are drawn first and thrown away.
    pub fn track_max_steps(sampler: Sampler) -> Result<Stream, SampleError> {
        let mut stream = Stream::new(sampler);
        let parts = stream.sampler.record_parallel(WARM_UP)?;
        stream.max_steps = parts.iter().map(|part| part.runs().longest()).max();
        Ok(stream)
    }

    /// The next samples, as they are.
    pub fn next_runs(&mut self, count: usize) -> Result<&Runs, SampleError> {
        self.recorder.clear();
        self.sampler.record(count, &mut self.recorder)?;
        Ok(self.recorder.runs())
    }

    /// The next samples, dense: `next(count)`.
    pub fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        let min_steps = self.max_steps.unwrap_or(0);
        let runs = self.next_runs(count)?;
        let longest = runs.longest();
        let batch = Batch::new(&runs.iter().collect::<Vec<_>>(), min_steps)?;
        self.max_steps = self.max_steps.map(|most| most.max(longest));
        Ok(batch)
    }
}
