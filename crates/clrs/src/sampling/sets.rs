use crate::batch::{Batch, BatchError};
use crate::random::RandomState;
use crate::recorder::Recorder;
use crate::trajectory::{Trajectories, Trajectory};

use super::{SampleError, Sampler};

/// A fixed number of samples, drawn once: dm-clrs's `build_sampler(.., num_samples)`.
pub struct FixedSet {
    sampler: Sampler,
    trajectories: Trajectories,
}

impl FixedSet {
    /// Samples and runs `count` problems on all threads.
    pub fn new(mut sampler: Sampler, count: usize) -> Result<FixedSet, SampleError> {
        let recorders = sampler.record_parallel(count)?;
        let mut shards = recorders.into_iter().map(Recorder::into_trajectories);
        let mut trajectories = shards.next().ok_or(BatchError::Empty)?;
        shards.for_each(|shard| trajectories.append(&shard));
        Ok(FixedSet { sampler, trajectories })
    }

    /// The samples, in sampling order.
    pub fn trajectories(&self) -> &Trajectories {
        &self.trajectories
    }

    /// Returns the samples and drops the sampler.
    pub fn into_trajectories(self) -> Trajectories {
        self.trajectories
    }

    /// The random stream that batches are drawn from.
    pub fn random(&mut self) -> &mut RandomState {
        self.sampler.random()
    }

    /// All samples as one batch: dm-clrs's `next()`.
    pub fn all(&self) -> Result<Batch, BatchError> {
        Batch::new(&self.trajectories.iter().collect::<Vec<_>>(), 0)
    }

    /// `count` samples drawn with replacement, padded to the longest sample of the set: dm-clrs's `next(count)`.
    ///
    /// # Errors
    /// If `count` exceeds the size of the set.
    pub fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        if count > self.trajectories.len() {
            return Err(SampleError::BatchSize { requested: count, samples: self.trajectories.len() });
        }
        let chosen = self.sampler.random().choices(self.trajectories.len(), count);
        let samples: Vec<Trajectory<'_>> = chosen.into_iter().map(|sample| self.trajectories.get(sample)).collect();
        Ok(Batch::new(&samples, self.trajectories.max_steps())?)
    }
}

/// An endless stream of samples: dm-clrs's `build_sampler(.., num_samples=-1)`.
pub struct Stream {
    sampler: Sampler,
    /// Largest number of steps so far, if batches are padded to it.
    max_steps: Option<usize>,
    recorder: Recorder,
}

/// Number of samples that dm-clrs draws and discards to estimate the number of steps.
const WARM_UP: usize = 1000;

impl Stream {
    /// Creates a stream whose batches are padded to their own longest sample.
    pub fn new(sampler: Sampler) -> Stream {
        Stream::with_max_steps(sampler, None)
    }

    /// Creates a stream whose batches are padded to the longest sample so far, and to at least `max_steps` steps: continues
    /// the stream that [`max_steps`](Stream::max_steps) is of. With `None`, batches are padded to their own longest sample.
    pub fn with_max_steps(sampler: Sampler, max_steps: Option<usize>) -> Stream {
        let recorder = sampler.algorithm().recorder();
        Stream { sampler, max_steps, recorder }
    }

    /// Creates a stream whose batches are padded to the longest sample so far, including 1000 that are drawn first and
    /// discarded.
    pub fn track_max_steps(sampler: Sampler) -> Result<Stream, SampleError> {
        let mut stream = Stream::new(sampler);
        let recorders = stream.sampler.record_parallel(WARM_UP)?;
        stream.max_steps = recorders.iter().map(|recorder| recorder.trajectories().max_steps()).max();
        Ok(stream)
    }

    /// Largest number of steps so far, if batches are padded to it.
    pub fn max_steps(&self) -> Option<usize> {
        self.max_steps
    }

    /// Sets the number of steps that batches are padded to at least; `None` pads them to their own longest sample.
    pub fn set_max_steps(&mut self, steps: Option<usize>) {
        self.max_steps = steps;
    }

    /// The random stream that problems are drawn from.
    pub fn random(&mut self) -> &mut RandomState {
        self.sampler.random()
    }

    /// The next `count` samples.
    pub fn next_trajectories(&mut self, count: usize) -> Result<&Trajectories, SampleError> {
        self.recorder.clear();
        self.sampler.record(count, &mut self.recorder)?;
        Ok(self.recorder.trajectories())
    }

    /// The next `count` samples as a batch: dm-clrs's `next(count)`.
    pub fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        let min_steps = self.max_steps.unwrap_or(0);
        let trajectories = self.next_trajectories(count)?;
        let steps = trajectories.max_steps();
        let batch = Batch::new(&trajectories.iter().collect::<Vec<_>>(), min_steps)?;
        self.max_steps = self.max_steps.map(|max| max.max(steps));
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::sampling::SamplerOptions;

    #[test]
    fn a_stream_continues_from_its_random_state_and_number_of_steps() {
        let quickselect = Registry::builtin().find("quickselect").expect("a built-in algorithm");
        let sampler = |seed| Sampler::new(quickselect, 8, seed, &SamplerOptions::default()).expect("a sampler");
        let mut stream = Stream::track_max_steps(sampler(1)).expect("samples");
        stream.next(3).expect("a batch");
        let (key, position) = stream.random().state();
        let random = RandomState::from_state(key, position).expect("a state");
        let mut continued = Stream::with_max_steps(sampler(2), stream.max_steps());
        *continued.random() = random;
        assert_eq!(continued.next(5).expect("a batch"), stream.next(5).expect("a batch"));
    }
}
