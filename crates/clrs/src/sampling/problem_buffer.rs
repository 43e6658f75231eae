use std::sync::Arc;

use crate::algorithm::{Algorithm, size_fits};
use crate::problems::{Distribution, InvalidProblem, Problem, ensure_valid};
use crate::random::RandomState;
use crate::recorder::Recorder;

use super::{InvalidValue, OptionInfo, Options, SampleError, SamplerOptions};

/// Problems of one algorithm and size, sampled one after another and stored until they are run.
pub trait ProblemBuffer: Send + Sync {
    /// Samples a problem and appends it.
    fn draw(&mut self, random: &mut RandomState) -> Result<(), InvalidProblem>;
    /// Number of stored problems.
    fn count(&self) -> usize;
    /// Removes all problems.
    fn clear(&mut self);
    /// Moves all problems to another buffer.
    fn take(&mut self) -> Box<dyn ProblemBuffer>;
    /// Runs the algorithm on the problem at `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    fn record(&self, index: usize, recorder: &mut Recorder) -> Result<(), InvalidProblem>;
    /// The problem at `index` as JSON.
    ///
    /// # Panics
    /// If `index` is out of range.
    fn json(&self, index: usize) -> String;
}

/// The problem buffer of `A`.
pub struct TypedProblemBuffer<A: Algorithm> {
    size: usize,
    distribution: Arc<Configured<A>>,
    problems: Vec<A::Problem>,
}

impl<A: Algorithm> TypedProblemBuffer<A> {
    /// Creates an empty buffer for problems of a size.
    ///
    /// # Errors
    /// If an option is unknown or invalid, or the size is out of range.
    pub fn new(size: usize, options: &SamplerOptions) -> Result<TypedProblemBuffer<A>, SampleError> {
        let mut distribution = Configured::<A>::default();
        options.apply(A::NAME, &mut distribution)?;
        ensure_valid(size > 0, || "size 0 is too small; it must be at least 1".into())?;
        size_fits::<A>(size)?;
        distribution.benchmark.validate(size)?;
        let decimals = distribution.common.truncate_decimals;
        ensure_valid(decimals <= 15, || format!("`truncate_decimals` is {decimals}; it must be at most 15"))?;
        Ok(TypedProblemBuffer { size, distribution: Arc::new(distribution), problems: Vec::new() })
    }

    /// Every option with its default.
    pub fn options() -> Vec<OptionInfo> {
        Configured::<A>::default().options()
    }
}

impl<A: Algorithm> ProblemBuffer for TypedProblemBuffer<A> {
    fn draw(&mut self, random: &mut RandomState) -> Result<(), InvalidProblem> {
        let Configured { benchmark, common } = &*self.distribution;
        self.problems.push(match common.truncate_decimals {
            0 => benchmark.draw(self.size, random)?,
            decimals => benchmark.draw_truncated(self.size, decimals, random)?,
        });
        Ok(())
    }

    fn count(&self) -> usize {
        self.problems.len()
    }

    fn clear(&mut self) {
        self.problems.clear();
    }

    fn take(&mut self) -> Box<dyn ProblemBuffer> {
        let problems = std::mem::take(&mut self.problems);
        Box::new(TypedProblemBuffer { size: self.size, distribution: Arc::clone(&self.distribution), problems })
    }

    fn record(&self, index: usize, recorder: &mut Recorder) -> Result<(), InvalidProblem> {
        recorder.record::<A>(&self.problems[index])
    }

    fn json(&self, index: usize) -> String {
        self.problems[index].to_json()
    }
}

crate::options! {
    /// Options of every distribution.
    struct CommonOptions {
        /// truncate real numbers to this many decimals (0: off); ties are then broken by a stable sort
        truncate_decimals: u32 = 0,
    }
}

/// The benchmark's distribution of `A` and the common options.
struct Configured<A: Algorithm> {
    benchmark: A::Distribution,
    common: CommonOptions,
}

impl<A: Algorithm> Default for Configured<A> {
    fn default() -> Self {
        Configured { benchmark: A::distribution(), common: CommonOptions::default() }
    }
}

impl<A: Algorithm> Options for Configured<A> {
    fn options(&self) -> Vec<OptionInfo> {
        self.benchmark.options().into_iter().chain(self.common.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        self.benchmark.try_set(name, value).or_else(|| self.common.try_set(name, value))
    }
}
