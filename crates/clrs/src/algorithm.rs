//! The trait an algorithm implements, and its erased twin.

use serde::{Deserialize, Serialize};

use crate::column::{Cells, ColumnError, MAX_NODES};
use crate::probes::Probes;
use crate::problems::{Distribution, Invalid, Problem, rule};
use crate::recorder::{Hints, Recorder};
use crate::sampling::{Draws, DrawsOf, OptionInfo, SampleError, Settings};
use crate::source::Source;
use crate::spec::Probe;

/// A textbook algorithm that tells what it does.
pub trait Algorithm: Probes + Send + Sync {
    /// Its name: the reference's, where it has it.
    const NAME: &'static str;
    /// The paper's family.
    const FAMILY: Family;
    /// Its own file, `include_str!`ed: the documentation and the code that `clrs show` prints.
    const SOURCE: Source;
    /// With fewer nodes there is nothing to tell.
    const MIN_NODES: usize = 1;
    /// What it is given.
    type Problem: Problem;
    /// How the benchmark draws it.
    type Distribution: Distribution<Problem = Self::Problem>;

    /// The benchmark's distribution, with its defaults.
    fn distribution() -> Self::Distribution;

    /// What must hold beyond a valid problem: non-negative weights, sorted keys, no cycle.
    fn admits(_problem: &Self::Problem) -> Result<(), Invalid> {
        Ok(())
    }

    /// The problem as the network sees it.
    fn input(problem: &Self::Problem) -> Self::Input;

    /// The inverse of `input`. The result need not be valid yet.
    fn problem(input: &Self::Input) -> Result<Self::Problem, Invalid>;

    /// No problem of `n` nodes takes more hint rows.
    fn max_steps(n: usize) -> usize;

    /// Solves the problem, recording a hint row per step.
    fn run(problem: &Self::Problem, hints: &mut Hints<'_, Self>) -> Self::Output;

    /// Accepts every right answer, not only the one `run` gives.
    fn check(problem: &Self::Problem, output: &Self::Output) -> Result<(), Wrong>;
}

/// The paper's eight families.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the paper's words")]
pub enum Family {
    Sorting,
    Searching,
    DivideAndConquer,
    Greedy,
    DynamicProgramming,
    Graphs,
    Strings,
    Geometry,
}

impl Family {
    /// All of them, in the paper's order.
    pub const ALL: [Family; 8] = [
        Family::Sorting,
        Family::Searching,
        Family::DivideAndConquer,
        Family::Greedy,
        Family::DynamicProgramming,
        Family::Graphs,
        Family::Strings,
        Family::Geometry,
    ];

    /// Its name, which is also the name of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Sorting => "sorting",
            Family::Searching => "searching",
            Family::DivideAndConquer => "divide_and_conquer",
            Family::Greedy => "greedy",
            Family::DynamicProgramming => "dynamic_programming",
            Family::Graphs => "graphs",
            Family::Strings => "strings",
            Family::Geometry => "geometry",
        }
    }
}

/// Why an answer is not right: the first thing wrong, in one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(pub String);

/// `Ok` if it holds; for `check`.
pub fn right(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong(otherwise())) }
}

/// Whether two costs are the same: within 1e-9 of the larger. Sums in another order differ in their last bits.
pub fn same_cost(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Why an answer from outside was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It is no answer to a problem of this algorithm.
    #[error(transparent)]
    Foreign(#[from] Invalid),
    /// It is one, and wrong.
    #[error(transparent)]
    Wrong(#[from] Wrong),
}

/// The most cells of a row: all pairs of 8192 nodes.
const MAX_ROW: usize = 1 << 26;
/// The most cells that a run may tell in its worst case: a few hundred gigabytes.
const MAX_CELLS: usize = 1 << 38;

/// A short problem, or a size, cannot ask for tables that no memory holds, nor for runs that no one waits for.
pub(crate) fn size_fits<A: Algorithm>(n: usize) -> Result<(), Invalid> {
    nodes_fit(n)?;
    let widest = A::SPEC.iter().map(|probe| probe.width(n)).max().unwrap_or(0);
    let steps = A::max_steps(n);
    let cells = A::SPEC.iter().map(|probe| probe.rows(steps).saturating_mul(probe.width(n))).fold(0, usize::saturating_add);
    rule(widest <= MAX_ROW && cells <= MAX_CELLS, || {
        format!("{} of {n} nodes may take {steps} steps and tell {cells} numbers: choose a smaller size", A::NAME)
    })
}

/// The one gate before an algorithm sees a problem.
pub(crate) fn admit<A: Algorithm>(problem: &A::Problem) -> Result<(), Invalid> {
    let n = problem.nodes();
    rule(n > 0, || "there is nothing to work on: no nodes".into())?;
    rule(n >= A::MIN_NODES, || format!("{} needs at least {} nodes, not {n}", A::NAME, A::MIN_NODES))?;
    size_fits::<A>(n)?;
    problem.validate()?;
    A::admits(problem)
}

fn nodes_fit(n: usize) -> Result<(), ColumnError> {
    if n <= MAX_NODES { Ok(()) } else { Err(ColumnError::Nodes(n)) }
}

/// An algorithm without its types: what the registry and everything above it hold.
pub trait AnyAlgorithm: Send + Sync {
    /// Its name: the reference's, where it has it.
    fn name(&self) -> &'static str;
    /// The paper's family.
    fn family(&self) -> Family;
    /// Its documentation and code.
    fn source(&self) -> Source;
    /// Its probes.
    fn spec(&self) -> &'static [Probe];
    /// No problem of `n` nodes takes more hint rows.
    fn max_steps(&self, n: usize) -> usize;
    /// The options of its distribution, with their defaults.
    fn options(&self) -> Vec<OptionInfo>;
    /// A place to draw problems of a size into.
    fn draws(&self, size: usize, settings: &Settings) -> Result<Box<dyn Draws>, SampleError>;
    /// An empty recorder for its runs.
    fn recorder(&self) -> Recorder;
    /// Runs on a problem given as JSON.
    fn record_json(&self, problem: &str, recorder: &mut Recorder) -> Result<(), Invalid>;
    /// The problem that input columns from anywhere stand for, as JSON.
    fn problem_json(&self, nodes: usize, inputs: &[Cells<'_>]) -> Result<String, Invalid>;
    /// Checks columns from anywhere: a model, a file, another program.
    fn check(&self, nodes: usize, inputs: &[Cells<'_>], outputs: &[Cells<'_>]) -> Result<(), CheckError>;
}

impl<A: Algorithm> AnyAlgorithm for A {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn family(&self) -> Family {
        A::FAMILY
    }

    fn source(&self) -> Source {
        A::SOURCE
    }

    fn spec(&self) -> &'static [Probe] {
        A::SPEC
    }

    fn max_steps(&self, n: usize) -> usize {
        A::max_steps(n)
    }

    fn options(&self) -> Vec<OptionInfo> {
        DrawsOf::<A>::options()
    }

    fn draws(&self, size: usize, settings: &Settings) -> Result<Box<dyn Draws>, SampleError> {
        Ok(Box::new(DrawsOf::<A>::new(size, settings)?))
    }

    fn recorder(&self) -> Recorder {
        Recorder::new::<A>()
    }

    fn record_json(&self, problem: &str, recorder: &mut Recorder) -> Result<(), Invalid> {
        recorder.record::<A>(&A::Problem::from_json(problem)?)
    }

    fn problem_json(&self, nodes: usize, inputs: &[Cells<'_>]) -> Result<String, Invalid> {
        Ok(read_problem::<A>(nodes, inputs)?.to_json())
    }

    fn check(&self, nodes: usize, inputs: &[Cells<'_>], outputs: &[Cells<'_>]) -> Result<(), CheckError> {
        let problem = read_problem::<A>(nodes, inputs)?;
        let output = A::read_output(outputs, nodes).map_err(Invalid::from)?;
        Ok(A::check(&problem, &output)?)
    }
}

fn read_problem<A: Algorithm>(nodes: usize, inputs: &[Cells<'_>]) -> Result<A::Problem, Invalid> {
    nodes_fit(nodes)?;
    let problem = A::problem(&A::read_input(inputs, nodes)?)?;
    admit::<A>(&problem)?;
    Ok(problem)
}
