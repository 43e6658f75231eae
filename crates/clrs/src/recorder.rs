//! Runs algorithms and records their inputs, outputs and hints.

use std::any::TypeId;
use std::marker::PhantomData;
use std::panic::Location;

use crate::algorithm::{Algorithm, validate_problem};
use crate::cancel;
use crate::column::Column;
use crate::probes::Probes;
use crate::problems::{InvalidProblem, Problem};
use crate::spec::{Spec, Stage};
use crate::trajectory::{Trajectories, Trajectory};

/// Source location of the statement that recorded a step.
pub type StepLocation = &'static Location<'static>;

/// Records runs of one algorithm into shared columns, so that a run allocates only when a column has to grow.
///
/// ```
/// use clrs::algorithms::sorting::insertion_sort::InsertionSort;
/// use clrs::problems::Keys;
/// use clrs::{Cells, Recorder};
///
/// let mut recorder = Recorder::new::<InsertionSort>();
/// recorder.record::<InsertionSort>(&Keys { key: vec![0.5, 0.2, 0.4] })?;
/// let sample = recorder.trajectories().get(0);
/// assert_eq!(sample.get("pred"), Some(Cells::Node(&[2, 1, 1])));
/// assert_eq!(recorder.step_locations(0).len(), sample.steps());
/// # Ok::<(), clrs::InvalidProblem>(())
/// ```
pub struct Recorder {
    algorithm: TypeId,
    trajectories: Trajectories,
    step_locations: Vec<StepLocation>,
    /// End of each sample in `step_locations`.
    step_ends: Vec<usize>,
}

impl Recorder {
    /// Creates an empty recorder for `A`.
    pub fn new<A: Algorithm>() -> Recorder {
        let trajectories = Trajectories::new(Spec::from(A::SPEC));
        Recorder { algorithm: TypeId::of::<A>(), trajectories, step_locations: Vec::new(), step_ends: Vec::new() }
    }

    /// Runs `A` on a problem and appends the trajectory. An invalid problem leaves the recorder unchanged. If the run is
    /// [cancelled](crate::cancel), the recorder must be cleared or dropped.
    ///
    /// # Panics
    /// If the recorder belongs to another algorithm, or if `A` records a row of a wrong length or with a value out of range.
    /// Both are errors in code, not in data.
    pub fn record<A: Algorithm>(&mut self, problem: &A::Problem) -> Result<(), InvalidProblem> {
        assert_eq!(self.algorithm, TypeId::of::<A>(), "the recorder belongs to another algorithm than {}", A::NAME);
        validate_problem::<A>(problem)?;

        let (inputs, others) = self.trajectories.columns_mut().split_at_mut(A::count(Stage::Input));
        let (outputs, hints) = others.split_at_mut(A::count(Stage::Output));
        A::push_input(inputs, &A::input(problem));
        let mut hints = Hints { columns: hints, step_locations: &mut self.step_locations, algorithm: PhantomData };
        let output = A::run(problem, &mut hints);
        A::push_output(outputs, &output);

        let steps = self.step_locations.len() - self.step_ends.last().copied().unwrap_or(0);
        if let Err(error) = self.trajectories.close(problem.nodes(), steps) {
            panic!("{}: {error}", A::NAME);
        }
        self.step_ends.push(self.step_locations.len());
        Ok(())
    }

    /// All recorded samples.
    pub fn trajectories(&self) -> &Trajectories {
        &self.trajectories
    }

    /// Returns the recorded samples and drops the step locations.
    pub fn into_trajectories(self) -> Trajectories {
        self.trajectories
    }

    /// The sample recorded last.
    pub fn last(&self) -> Option<Trajectory<'_>> {
        self.trajectories.iter().last()
    }

    /// Source location of each hint row of a sample.
    ///
    /// # Panics
    /// If `sample` is out of range.
    pub fn step_locations(&self, sample: usize) -> &[StepLocation] {
        let start = sample.checked_sub(1).map_or(0, |previous| self.step_ends[previous]);
        &self.step_locations[start..self.step_ends[sample]]
    }

    /// Reserves memory for `samples` more samples that are about as long as those so far. Columns that grow as they are filled are
    /// copied, and take up to twice the memory.
    pub fn reserve_like(&mut self, samples: usize) {
        self.trajectories.reserve_like(samples);
        self.step_locations.reserve_exact(self.step_locations.len() * samples / self.step_ends.len().max(1));
    }

    /// Removes all samples and keeps the allocations.
    pub fn clear(&mut self) {
        self.trajectories.clear();
        self.step_locations.clear();
        self.step_ends.clear();
    }
}

/// The hint columns that a running algorithm appends its steps to.
pub struct Hints<'r, P: Probes> {
    columns: &'r mut [Column],
    step_locations: &'r mut Vec<StepLocation>,
    algorithm: PhantomData<P>,
}

impl<P: Probes> Hints<'_, P> {
    /// Records a step and the caller's source location. Mark helper functions that push on behalf of their caller as
    /// `#[track_caller]` too.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "a row is a literal at the call site")]
    pub fn push(&mut self, row: P::Hint<'_>) {
        cancel::check();
        P::push_hint(self.columns, &row);
        self.step_locations.push(Location::caller());
    }
}
