//! Running an algorithm and keeping everything it tells.

use std::any::TypeId;
use std::marker::PhantomData;
use std::panic::Location;

use crate::algorithm::{Algorithm, admit};
use crate::column::Column;
use crate::probes::Probes;
use crate::problems::{Invalid, Problem};
use crate::spec::{Spec, Stage};
use crate::trajectory::{Runs, Trajectory};

/// Where a step was recorded: a trace shows the code beside the state.
pub type Site = &'static Location<'static>;

/// Runs of one algorithm, end to end in the same columns: a run costs memory only where the columns must grow.
pub struct Recorder {
    algorithm: TypeId,
    runs: Runs,
    sites: Vec<Site>,
    /// Where `sites` ends after each run.
    site_ends: Vec<usize>,
}

impl Recorder {
    /// An empty one for `A`.
    pub fn new<A: Algorithm>() -> Recorder {
        let runs = Runs::new(Spec::from(A::SPEC));
        Recorder { algorithm: TypeId::of::<A>(), runs, sites: Vec::new(), site_ends: Vec::new() }
    }

    /// Runs `A` and keeps everything it tells. A problem that is refused leaves no trace.
    ///
    /// # Panics
    /// If the recorder is another algorithm's, or a row of `A` has a wrong length or value: mistakes in code, not in data.
    pub fn record<A: Algorithm>(&mut self, problem: &A::Problem) -> Result<(), Invalid> {
        assert_eq!(self.algorithm, TypeId::of::<A>(), "{} was given another algorithm's recorder", A::NAME);
        admit::<A>(problem)?;

        let (inputs, others) = self.runs.columns_mut().split_at_mut(A::count(Stage::Input));
        let (outputs, hints) = others.split_at_mut(A::count(Stage::Output));
        A::push_input(inputs, &A::input(problem));
        let output = A::run(problem, &mut Hints { columns: hints, sites: &mut self.sites, algorithm: PhantomData });
        A::push_output(outputs, &output);

        let steps = self.sites.len() - self.site_ends.last().copied().unwrap_or(0);
        if let Err(error) = self.runs.close(problem.nodes(), steps) {
            panic!("{}: {error}", A::NAME);
        }
        self.site_ends.push(self.sites.len());
        Ok(())
    }

    /// All runs so far.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// All runs, without the sites of their steps.
    pub fn into_runs(self) -> Runs {
        self.runs
    }

    /// The last run.
    pub fn last(&self) -> Option<Trajectory<'_>> {
        self.runs.iter().last()
    }

    /// For every hint row of a run, where it was recorded.
    pub fn sites(&self, run: usize) -> &[Site] {
        let start = run.checked_sub(1).map_or(0, |before| self.site_ends[before]);
        &self.sites[start..self.site_ends[run]]
    }

    /// Forgets the runs, keeps the memory.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.sites.clear();
        self.site_ends.clear();
    }
}

/// Where an algorithm records its steps.
pub struct Hints<'r, P: Probes> {
    columns: &'r mut [Column],
    sites: &'r mut Vec<Site>,
    algorithm: PhantomData<P>,
}

impl<P: Probes> Hints<'_, P> {
    /// Records a step, and the place in the source that took it. Helpers that push for others are `#[track_caller]` too.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "a row is a literal at the call")]
    pub fn push(&mut self, row: P::Hint<'_>) {
        P::push_hint(self.columns, &row);
        self.sites.push(Location::caller());
    }
}
