use crate::batch::{Batch, BatchError};
use crate::random::RandomState;
use crate::recorder::Recorder;
use crate::trajectory::{Trajectories, Trajectory};

use super::{SampleError, Sampler};

/// A fixed number of samples, drawn once: dm-clrs's `build_sampler(.., num_samples)`.
///
/// The samples stay where the threads recorded them, in several collections: sets have up to gigabytes, and a copy would take
/// longer than the algorithms.
pub struct FixedSet {
    sampler: Sampler,
    /// At least one, none of them empty, in sampling order.
    shards: Vec<Trajectories>,
    max_steps: usize,
}

impl FixedSet {
    /// Samples and runs `count` problems on all threads.
    pub fn new(mut sampler: Sampler, count: usize) -> Result<FixedSet, SampleError> {
        let shards: Vec<_> = sampler.record_parallel(count)?.into_iter().map(Recorder::into_trajectories).collect();
        let max_steps = shards.iter().map(Trajectories::max_steps).max().ok_or(BatchError::Empty)?;
        Ok(FixedSet { sampler, shards, max_steps })
    }

    /// The samples, in sampling order.
    pub fn samples(&self) -> Vec<Trajectory<'_>> {
        self.shards.iter().flat_map(Trajectories::iter).collect()
    }

    /// Largest number of steps of any sample.
    pub fn max_steps(&self) -> usize {
        self.max_steps
    }

    /// Returns the samples in one collection and drops the sampler.
    pub fn into_trajectories(self) -> Trajectories {
        Trajectories::concatenate(self.shards).expect("a set has samples")
    }

    /// The random stream that batches are drawn from.
    pub fn random(&mut self) -> &mut RandomState {
        self.sampler.random()
    }

    /// All samples as one batch: dm-clrs's `next()`.
    pub fn all(&self) -> Result<Batch, BatchError> {
        Batch::new(&self.samples(), 0)
    }

    /// `count` samples drawn with replacement, padded to the longest sample of the set: dm-clrs's `next(count)`.
    ///
    /// # Errors
    /// If `count` exceeds the size of the set.
    pub fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        let size = self.shards.iter().map(Trajectories::len).sum();
        if count > size {
            return Err(SampleError::BatchSize { requested: count, samples: size });
        }
        // All but the last have the same number of samples.
        let shard = self.shards[0].len();
        let chosen = self.sampler.random().choices(size, count);
        let get = |sample: usize| self.shards[sample / shard].get(sample % shard);
        let samples: Vec<Trajectory<'_>> = chosen.into_iter().map(get).collect();
        Ok(Batch::new(&samples, self.max_steps)?)
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
