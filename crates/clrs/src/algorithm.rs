//! [`Algorithm`], the trait of every algorithm, and [`AnyAlgorithm`], its object-safe counterpart.

use serde::{Deserialize, Serialize};

use crate::column::{Cells, ColumnError, MAX_NODES};
use crate::probes::Probes;
use crate::problems::{Distribution, InvalidProblem, Problem, ensure_valid};
use crate::recorder::{Hints, Recorder};
use crate::sampling::{OptionInfo, ProblemBuffer, SampleError, SamplerOptions, TypedProblemBuffer};
use crate::source::Source;
use crate::spec::Probe;

/// A textbook algorithm that records its steps.
pub trait Algorithm: Probes + Send + Sync {
    /// The name; that of dm-clrs, if dm-clrs has the algorithm.
    const NAME: &'static str;
    /// The paper's family.
    const FAMILY: Family;
    /// The algorithm's source file, `include_str!`ed: its documentation and code as `clrs show` prints them.
    const SOURCE: Source;
    /// Smallest number of nodes.
    const MIN_NODES: usize = 1;
    /// Whether the hint `pred_h` is the same at every step, so that it can become an input.
    const FIXED_ORDER: bool = false;
    /// Factor on the number of val and test samples. Algorithms with few output values per sample need more samples for an
    /// equally precise score.
    const EVAL_MULTIPLIER: usize = 1;
    /// Factor on the edge probabilities that are used for training. Below 1 where dense graphs have very long trajectories.
    const EDGE_PROBABILITY_SCALE: f64 = 1.0;
    /// Probes that `clrs30@1.0.0` does not have.
    const ADDED_SINCE_1_0_0: &'static [&'static str] = &[];
    /// Options of the distribution in `clrs30@1.0.0-unsorted`, where they are not the defaults.
    const UNSORTED_OPTIONS: &'static [&'static str] = &[];
    /// Hints that the text form traces. If empty, it traces the hints that are named after outputs, such as `pi_h` of `pi`.
    const TEXT_TRACE: &'static [&'static str] = &[];
    /// The problem that the algorithm solves.
    type Problem: Problem;
    /// The benchmark's distribution of problems.
    type Distribution: Distribution<Problem = Self::Problem>;

    /// The benchmark's distribution with its default options.
    fn distribution() -> Self::Distribution;

    /// Checks what the algorithm requires beyond a valid problem: non-negative weights, sorted keys, no cycle.
    fn preconditions(_problem: &Self::Problem) -> Result<(), InvalidProblem> {
        Ok(())
    }

    /// Converts a problem to the inputs of the network.
    fn input(problem: &Self::Problem) -> Self::Input;

    /// Inverse of [`input`](Algorithm::input). The result is not validated.
    fn problem(input: &Self::Input) -> Result<Self::Problem, InvalidProblem>;

    /// Upper bound on the number of hint rows for any problem of `n` nodes.
    fn max_steps(n: usize) -> usize;

    /// Solves the problem and records a hint row per step.
    fn run(problem: &Self::Problem, hints: &mut Hints<'_, Self>) -> Self::Output;

    /// Accepts every correct output, not only the one that `run` returns.
    fn check(problem: &Self::Problem, output: &Self::Output) -> Result<(), CheckFailure>;
}

/// The eight families of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the paper's names")]
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
    /// All families, in the paper's order.
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

    /// The name, which is also the name of the source folder.
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

/// The first error found in an output, in one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckFailure(pub String);

/// Returns `Ok` if the condition holds. For use in [`Algorithm::check`].
pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), CheckFailure> {
    if condition { Ok(()) } else { Err(CheckFailure(message())) }
}

/// Whether two costs are equal up to a relative error of 1e-9. Sums in a different order differ in their last bits.
pub fn same_cost(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// An output that was not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The columns are not inputs and outputs of this algorithm.
    #[error(transparent)]
    Malformed(#[from] InvalidProblem),
    /// The output is incorrect.
    #[error(transparent)]
    Failed(#[from] CheckFailure),
}

/// Upper bound on the memory of one recording in its worst case. Well below the memory of an ordinary machine, so that no
/// problem, however short its JSON, can exhaust it; far above any sample of the benchmark (50 MB in the worst case).
pub const MAX_RECORDING_BYTES: usize = 4_000_000_000;

/// Worst-case size of a recording of `n` nodes in bytes.
fn recording_bytes<A: Algorithm>(n: usize) -> usize {
    let steps = A::max_steps(n);
    let columns = A::SPEC.iter().map(|probe| probe.rows(steps).saturating_mul(probe.row_bytes(n)));
    columns.fold(steps.saturating_mul(size_of::<crate::recorder::StepLocation>()), usize::saturating_add)
}

/// Rejects sizes whose recording could exceed [`MAX_RECORDING_BYTES`].
pub(crate) fn size_fits<A: Algorithm>(n: usize) -> Result<(), InvalidProblem> {
    nodes_fit(n)?;
    let bytes = recording_bytes::<A>(n);
    ensure_valid(bytes <= MAX_RECORDING_BYTES, || {
        let sizes: Vec<usize> = (1..n).collect();
        let largest = sizes.partition_point(|&n| recording_bytes::<A>(n) <= MAX_RECORDING_BYTES);
        let gigabytes = |bytes: usize| bytes as f64 / 1e9;
        format!(
            "{n} nodes may take {} steps and {:.1} GB, more than the limit of {:.0} GB; use at most {largest} nodes",
            A::max_steps(n),
            gigabytes(bytes),
            gigabytes(MAX_RECORDING_BYTES),
        )
    })
}

/// All checks before an algorithm runs on a problem.
pub(crate) fn validate_problem<A: Algorithm>(problem: &A::Problem) -> Result<(), InvalidProblem> {
    let n = problem.nodes();
    ensure_valid(n > 0, || "the problem has no nodes".into())?;
    ensure_valid(n >= A::MIN_NODES, || format!("the algorithm needs at least {} nodes, found {n}", A::MIN_NODES))?;
    size_fits::<A>(n)?;
    problem.validate()?;
    A::preconditions(problem)
}

fn nodes_fit(n: usize) -> Result<(), ColumnError> {
    if n <= MAX_NODES { Ok(()) } else { Err(ColumnError::Nodes(n)) }
}

/// An [`Algorithm`] as a trait object. The registry and all code that is generic over algorithms use it.
pub trait AnyAlgorithm: Send + Sync {
    /// See [`Algorithm::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Algorithm::FAMILY`].
    fn family(&self) -> Family;
    /// See [`Algorithm::SOURCE`].
    fn source(&self) -> Source;
    /// See [`Algorithm::FIXED_ORDER`].
    fn fixed_order(&self) -> bool;
    /// See [`Algorithm::EVAL_MULTIPLIER`].
    fn eval_multiplier(&self) -> usize;
    /// See [`Algorithm::EDGE_PROBABILITY_SCALE`].
    fn edge_probability_scale(&self) -> f64;
    /// See [`Algorithm::ADDED_SINCE_1_0_0`].
    fn added_since_1_0_0(&self) -> &'static [&'static str];
    /// See [`Algorithm::UNSORTED_OPTIONS`].
    fn unsorted_options(&self) -> &'static [&'static str];
    /// See [`Algorithm::TEXT_TRACE`].
    fn text_trace(&self) -> &'static [&'static str];
    /// The probes.
    fn spec(&self) -> &'static [Probe];
    /// See [`Algorithm::max_steps`].
    fn max_steps(&self, n: usize) -> usize;
    /// Worst-case size in bytes of the recording of a problem of `n` nodes.
    fn max_recording_bytes(&self, n: usize) -> usize;
    /// The options of the distribution with their defaults.
    fn options(&self) -> Vec<OptionInfo>;
    /// Creates a buffer for problems of a size.
    ///
    /// # Errors
    /// If an option is unknown or invalid, or the size is out of range.
    fn problem_buffer(&self, size: usize, options: &SamplerOptions) -> Result<Box<dyn ProblemBuffer>, SampleError>;
    /// Creates an empty recorder.
    fn recorder(&self) -> Recorder;
    /// Number of nodes of a problem given as JSON. Does not run the algorithm.
    fn problem_nodes(&self, problem: &str) -> Result<usize, InvalidProblem>;
    /// Runs the algorithm on a problem given as JSON.
    fn record_json(&self, problem: &str, recorder: &mut Recorder) -> Result<(), InvalidProblem>;
    /// Converts input columns from any source to the problem as JSON.
    fn problem_json(&self, nodes: usize, inputs: &[Cells<'_>]) -> Result<String, InvalidProblem>;
    /// Checks outputs from any source: a model, a file, another program.
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

    fn fixed_order(&self) -> bool {
        A::FIXED_ORDER
    }

    fn eval_multiplier(&self) -> usize {
        A::EVAL_MULTIPLIER
    }

    fn edge_probability_scale(&self) -> f64 {
        A::EDGE_PROBABILITY_SCALE
    }

    fn added_since_1_0_0(&self) -> &'static [&'static str] {
        A::ADDED_SINCE_1_0_0
    }

    fn unsorted_options(&self) -> &'static [&'static str] {
        A::UNSORTED_OPTIONS
    }

    fn text_trace(&self) -> &'static [&'static str] {
        A::TEXT_TRACE
    }

    fn spec(&self) -> &'static [Probe] {
        A::SPEC
    }

    fn max_steps(&self, n: usize) -> usize {
        A::max_steps(n)
    }

    fn max_recording_bytes(&self, n: usize) -> usize {
        recording_bytes::<A>(n)
    }

    fn options(&self) -> Vec<OptionInfo> {
        TypedProblemBuffer::<A>::options()
    }

    fn problem_buffer(&self, size: usize, options: &SamplerOptions) -> Result<Box<dyn ProblemBuffer>, SampleError> {
        Ok(Box::new(TypedProblemBuffer::<A>::new(size, options)?))
    }

    fn recorder(&self) -> Recorder {
        Recorder::new::<A>()
    }

    fn problem_nodes(&self, problem: &str) -> Result<usize, InvalidProblem> {
        Ok(A::Problem::from_json(problem)?.nodes())
    }

    fn record_json(&self, problem: &str, recorder: &mut Recorder) -> Result<(), InvalidProblem> {
        recorder.record::<A>(&A::Problem::from_json(problem)?)
    }

    fn problem_json(&self, nodes: usize, inputs: &[Cells<'_>]) -> Result<String, InvalidProblem> {
        Ok(read_problem::<A>(nodes, inputs)?.to_json())
    }

    fn check(&self, nodes: usize, inputs: &[Cells<'_>], outputs: &[Cells<'_>]) -> Result<(), CheckError> {
        let problem = read_problem::<A>(nodes, inputs)?;
        let output = A::read_output(outputs, nodes).map_err(InvalidProblem::from)?;
        Ok(A::check(&problem, &output)?)
    }
}

fn read_problem<A: Algorithm>(nodes: usize, inputs: &[Cells<'_>]) -> Result<A::Problem, InvalidProblem> {
    nodes_fit(nodes)?;
    let problem = A::problem(&A::read_input(inputs, nodes)?)?;
    validate_problem::<A>(&problem)?;
    Ok(problem)
}
