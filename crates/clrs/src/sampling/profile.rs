//! How large the samples of an algorithm are.

use serde::Serialize;

use super::{SampleError, Sampler, SamplerOptions};
use crate::algorithm::AnyAlgorithm;

/// Nodes and steps of an algorithm at one problem size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SizeProfile {
    /// Problem size.
    pub size: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Minimum and maximum number of steps of the drawn samples.
    pub steps: (usize, usize),
    /// Upper bound on the number of steps of any problem with that many nodes.
    pub max_steps: usize,
}

impl SizeProfile {
    /// Measures samples that the default distribution draws with seed 0.
    ///
    /// ```
    /// use clrs::Registry;
    /// use clrs::sampling::SizeProfile;
    ///
    /// let sort = Registry::builtin().find("insertion_sort")?;
    /// let profile = SizeProfile::measure(sort, 16, 10)?;
    /// assert_eq!((profile.nodes, profile.steps, profile.max_steps), (16, (16, 16), 16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the algorithm does not accept the size.
    pub fn measure(algorithm: &'static dyn AnyAlgorithm, size: usize, samples: usize) -> Result<SizeProfile, SampleError> {
        let mut sampler = Sampler::new(algorithm, size, 0, &SamplerOptions::default())?;
        let mut recorder = algorithm.recorder();
        let (mut nodes, mut min, mut max) = (size, usize::MAX, 0);
        for _ in 0..samples {
            // One at a time, in the same memory: fresh memory would cost more than the algorithm.
            recorder.clear();
            sampler.record(1, &mut recorder)?;
            let sample = recorder.trajectories().get(0);
            nodes = sample.nodes();
            (min, max) = (min.min(sample.steps()), max.max(sample.steps()));
        }
        Ok(SizeProfile { size, nodes, steps: (min.min(max), max), max_steps: algorithm.max_steps(nodes) })
    }
}
