use crate::algorithm::{Algorithm, size_fits};
use crate::problems::{Distribution, Invalid, Problem, rule};
use crate::random::RandomState;
use crate::recorder::Recorder;

use super::{BadValue, OptionInfo, Options, SampleError, Settings};

/// Problems of one algorithm and size, drawn one after another and kept until they are run.
pub trait Draws: Send + Sync {
    /// Draws one more.
    fn draw(&mut self, random: &mut RandomState) -> Result<(), Invalid>;
    /// How many are kept.
    fn count(&self) -> usize;
    /// Forgets them.
    fn clear(&mut self);
    /// Runs one of them.
    fn record(&self, place: usize, recorder: &mut Recorder) -> Result<(), Invalid>;
    /// One of them, as JSON.
    fn json(&self, place: usize) -> String;
}

/// The problems of `A`.
pub struct DrawsOf<A: Algorithm> {
    size: usize,
    distribution: Sampled<A>,
    problems: Vec<A::Problem>,
}

impl<A: Algorithm> DrawsOf<A> {
    /// None yet.
    pub fn new(size: usize, settings: &Settings) -> Result<DrawsOf<A>, SampleError> {
        let mut distribution = Sampled::<A>::default();
        settings.apply(A::NAME, &mut distribution)?;
        rule(size > 0, || "size 0: there is nothing to work on; sizes begin at 1".into())?;
        size_fits::<A>(size)?;
        distribution.benchmark.validate(size)?;
        let cuts = &distribution.common.truncate_decimals;
        rule(*cuts <= 15, || format!("`truncate_decimals` is {cuts}; numbers have no more than 15 decimals"))?;
        Ok(DrawsOf { size, distribution, problems: Vec::new() })
    }

    /// Every option with its default.
    pub fn options() -> Vec<OptionInfo> {
        Sampled::<A>::default().options()
    }
}

impl<A: Algorithm> Draws for DrawsOf<A> {
    fn draw(&mut self, random: &mut RandomState) -> Result<(), Invalid> {
        let Sampled { benchmark, common } = &self.distribution;
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

    fn record(&self, place: usize, recorder: &mut Recorder) -> Result<(), Invalid> {
        recorder.record::<A>(&self.problems[place])
    }

    fn json(&self, place: usize) -> String {
        self.problems[place].to_json()
    }
}

crate::options! {
    /// What every distribution can be told.
    struct CommonOptions {
        /// cut real numbers to so many decimals, 0 for not at all; where ties arise, ours sort stably
        truncate_decimals: u32 = 0,
    }
}

/// The benchmark's distribution of `A`, and what every distribution can be told.
struct Sampled<A: Algorithm> {
    benchmark: A::Distribution,
    common: CommonOptions,
}

impl<A: Algorithm> Default for Sampled<A> {
    fn default() -> Self {
        Sampled { benchmark: A::distribution(), common: CommonOptions::default() }
    }
}

impl<A: Algorithm> Options for Sampled<A> {
    fn options(&self) -> Vec<OptionInfo> {
        self.benchmark.options().into_iter().chain(self.common.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), BadValue>> {
        self.benchmark.try_set(name, value).or_else(|| self.common.try_set(name, value))
    }
}
