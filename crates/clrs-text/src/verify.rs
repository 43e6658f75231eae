//! Verification of answers.

use std::sync::OnceLock;

use clrs::{Cells, Column, Kind, Registry};
use serde::Serialize;

use crate::answer::Answer;
use crate::format::Format;
use crate::formatter::{Formatter, into_string};
use crate::question::{Question, QuestionError};
use crate::syntax::Value;
use crate::values::{ValueError, check_shape, check_words, column, predecessors};

/// A question with its reference answer, against which any number of answers can be verified.
///
/// ```
/// use clrs::Registry;
/// use clrs_text::Task;
///
/// // Two breadth-first trees are right; the algorithm returns one of them.
/// let question = "bfs:\ns: 0, A: [[0 1 1 0], [1 0 0 1], [1 0 0 1], [0 1 1 0]]\npi:\n";
/// let task = Task::parse(&Registry::builtin(), question)?;
/// assert_eq!(task.reference()?, "[0 0 0 1]\n\n");
/// let verdict = task.verify("[0 0 0 2]")?;
/// assert!(verdict.valid && !verdict.exact_match);
/// let verdict = task.verify("[0 0 0 0]")?;
/// assert_eq!(verdict.failure.as_deref(), Some("node 3 points to 0, which is not on a shortest path from 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Task {
    question: Question,
    /// What the algorithm answers; computed if it was not given.
    reference: OnceLock<String>,
    is_reference_given: bool,
}

/// What is right and wrong about an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the report")]
#[non_exhaustive]
pub struct Verdict {
    /// Whether it can be read: the syntax is right, and the outputs consist of numbers.
    pub parsed: bool,
    /// Whether all outputs are there, each with as many elements as the problem requires.
    pub shape: bool,
    /// Fraction of output elements that equal those of the reference, without cells that it masks out; 0 if the shape is wrong.
    pub element_accuracy: f64,
    /// Whether it equals the reference, trace included, up to white space.
    pub exact_match: bool,
    /// Whether the outputs are a correct answer, not necessarily that of the reference. The trace does not matter.
    pub valid: bool,
    /// Why it is not valid: the first error, in words.
    pub failure: Option<String>,
    /// Comparison of the trace, if the question asks for one and the answer can be read.
    pub trace: Option<TraceVerdict>,
}

/// Comparison of a trace with that of the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TraceVerdict {
    /// Number of steps of the reference.
    pub steps: usize,
    /// Number of steps of the answer.
    pub found: usize,
    /// The first step that differs, is missing, or is one too many. Step 0 is part of the question.
    pub first_divergence: Option<usize>,
    /// The difference at that step, in words.
    pub failure: Option<String>,
}

/// What a reward is given for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// A correct answer.
    #[default]
    Valid,
    /// The answer of the reference, trace included.
    Exact,
}

/// Why an answer cannot be verified. The answer is not to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum TaskError {
    #[error(transparent)]
    Question(#[from] QuestionError),
    #[error("the question describes no problem of the algorithm: {0}")]
    Problem(#[from] clrs::InvalidProblem),
    #[error("the reference answer is not an answer to the question: {0}")]
    Reference(String),
}

/// 1 if an answer meets the criterion, else 0.
///
/// ```
/// use clrs_text::{Criterion, reward};
///
/// let question = "minimum:\nkey: [0.7 0.2 0.2]\nmin:\n";
/// assert_eq!(reward(question, "2\n\n", Criterion::Valid)?, 1.0);
/// assert_eq!(reward(question, "2\n\n", Criterion::Exact)?, 0.0);
/// # Ok::<(), clrs_text::TaskError>(())
/// ```
pub fn reward(question: &str, answer: &str, criterion: Criterion) -> Result<f64, TaskError> {
    let task = Task::parse(&Registry::builtin(), question)?;
    let is_met = match criterion {
        Criterion::Valid => task.is_valid(answer)?,
        Criterion::Exact => task.verify(answer)?.exact_match,
    };
    Ok(f64::from(u8::from(is_met)))
}

/// Verifies an answer; see [`Task::verify`].
pub fn verify(question: &str, answer: &str) -> Result<Verdict, TaskError> {
    Task::parse(&Registry::builtin(), question)?.verify(answer)
}

impl Task {
    /// Parses a question. The reference answer is computed when it is needed.
    pub fn parse(registry: &Registry, question: &str) -> Result<Task, TaskError> {
        let question = Question::parse(registry, question)?;
        Ok(Task { question, reference: OnceLock::new(), is_reference_given: false })
    }

    /// Parses a question whose reference answer is known. It is right by definition: the numbers of `text@2.0.1` are rounded, and
    /// the problem that they describe may have another solution than the one that was solved.
    pub fn with_reference(registry: &Registry, question: &str, reference: &str) -> Result<Task, TaskError> {
        let question = Question::parse(registry, question)?;
        let task = Task { question, reference: OnceLock::from(reference.to_owned()), is_reference_given: true };
        let outputs = task.parse_reference(reference)?.outputs;
        let checked = task.shapes(&outputs).and_then(|()| task.check_words(&outputs).map_err(|error| error.to_string()));
        checked.map_err(TaskError::Reference)?;
        Ok(task)
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The reference answer: the given one, or what the algorithm answers.
    ///
    /// # Errors
    /// If the algorithm cannot run on the problem.
    pub fn reference(&self) -> Result<&str, TaskError> {
        if let Some(reference) = self.reference.get() {
            return Ok(reference);
        }
        let algorithm = self.question.algorithm();
        let mut recorder = algorithm.recorder();
        algorithm.record_json(&self.question.problem_json()?, &mut recorder)?;
        let sample = recorder.trajectories().get(0);
        let mut answer = Vec::new();
        Formatter::new(algorithm, self.question.format(), self.question.hints())
            .write_answer(sample, sample, &mut answer)
            .expect("an algorithm sorts into an order, and the names of its probes were read from text");
        Ok(self.reference.get_or_init(|| into_string(answer)))
    }

    fn parse_reference<'t>(&self, reference: &'t str) -> Result<Answer<'t>, TaskError> {
        Answer::parse(&self.question, reference).map_err(|error| TaskError::Reference(error.to_string()))
    }

    /// Whether the outputs of an answer are correct. Does not run the algorithm.
    pub fn is_valid(&self, answer: &str) -> Result<bool, TaskError> {
        let Ok(answer) = Answer::parse(&self.question, answer) else { return Ok(false) };
        let checked = self.check(&answer.outputs)?;
        Ok(checked.is_ok() || self.equals_given_reference(&answer))
    }

    /// Compares an answer with the reference, and checks whether it is correct.
    pub fn verify(&self, text: &str) -> Result<Verdict, TaskError> {
        let reference = self.reference()?;
        let answer = match Answer::parse(&self.question, text) {
            Ok(answer) => answer,
            Err(error) => return Ok(Verdict::unreadable(error.to_string())),
        };
        let expected = self.parse_reference(reference)?;
        let failure = match self.check(&answer.outputs)? {
            Err(_) if self.equals_given_reference(&answer) => None,
            checked => checked.err(),
        };
        let shapes = self.shapes(&answer.outputs);
        Ok(Verdict {
            parsed: self.check_words(&answer.outputs).is_ok(),
            shape: shapes.is_ok(),
            element_accuracy: if shapes.is_ok() { self.element_accuracy(&answer, &expected) } else { 0.0 },
            exact_match: answer == expected,
            valid: failure.is_none(),
            failure,
            trace: self.question.hints().then(|| TraceVerdict::new(&answer.steps, &expected.steps)),
        })
    }

    fn equals_given_reference(&self, answer: &Answer<'_>) -> bool {
        let equals =
            |reference: &String| Answer::parse(&self.question, reference).is_ok_and(|parsed| parsed.outputs == answer.outputs);
        self.is_reference_given && self.reference.get().is_some_and(equals)
    }

    /// Indices of the outputs in an answer. One may occur twice.
    fn outputs(&self) -> Vec<usize> {
        if self.question.hints() && self.question.format() != Format::V1 {
            self.question.layout.traced_outputs()
        } else {
            self.question.layout.outputs.clone()
        }
    }

    fn shapes(&self, values: &[Value<'_>]) -> Result<(), String> {
        let outputs = self.outputs();
        if values.len() != outputs.len() {
            let noun = if values.len() == 1 { "value" } else { "values" };
            return Err(format!("the answer has {} {noun}, expected {}", values.len(), outputs.len()));
        }
        let (spec, nodes) = (self.question.spec(), self.question.nodes());
        let check = |(&output, value)| check_shape(&spec[output], value, nodes).map_err(|error: ValueError| error.to_string());
        outputs.iter().zip(values).try_for_each(check)
    }

    fn check_words(&self, values: &[Value<'_>]) -> Result<(), ValueError> {
        let is_order = |output: usize| self.question.spec()[output].kind == Kind::Permutation && self.question.keys().is_some();
        let check = |(output, value)| check_words(&self.question.spec()[output], value, is_order(output));
        self.outputs().into_iter().zip(values).try_for_each(check)
    }

    /// `Err` with the first error if the outputs are not correct.
    fn check(&self, values: &[Value<'_>]) -> Result<Result<(), String>, TaskError> {
        let columns = match self.columns(values) {
            Ok(columns) => columns,
            Err(failure) => return Ok(Err(failure)),
        };
        let outputs: Vec<Cells<'_>> = columns.iter().map(Column::cells).collect();
        match self.question.algorithm().check(self.question.nodes(), &self.question.inputs(), &outputs) {
            Ok(()) => Ok(Ok(())),
            Err(clrs::CheckError::Failed(failure)) => Ok(Err(failure.to_string())),
            // Outputs are read for the spec and the number of nodes: only the problem can be malformed.
            Err(clrs::CheckError::Malformed(problem)) if self.is_reference_given => Ok(Err(problem.to_string())),
            Err(clrs::CheckError::Malformed(problem)) => Err(problem.into()),
            Err(other) => Ok(Err(other.to_string())),
        }
    }

    /// The outputs as columns, each once.
    fn columns(&self, values: &[Value<'_>]) -> Result<Vec<Column>, String> {
        self.shapes(values)?;
        let (spec, nodes) = (self.question.spec(), self.question.nodes());
        let mut columns: Vec<(usize, Column)> = Vec::new();
        for (output, value) in self.outputs().into_iter().zip(values) {
            let probe = &spec[output];
            let column = match self.question.keys() {
                Some(keys) if probe.kind == Kind::Permutation => predecessors(probe, value, keys),
                _ => column(probe, value, nodes),
            };
            let column = column.map_err(|error| error.to_string())?;
            match columns.iter().find(|(other, _)| *other == output) {
                Some((_, other)) if *other != column => {
                    return Err(format!("the last values are {}, and must be equal", joined(values)));
                }
                Some(_) => {}
                None => columns.push((output, column)),
            }
        }
        Ok(columns.into_iter().map(|(_, column)| column).collect())
    }

    /// Cells that are masked out in the reference do not count.
    fn element_accuracy(&self, answer: &Answer<'_>, expected: &Answer<'_>) -> f64 {
        let (mut equal, mut total) = (0u32, 0u32);
        for ((output, found), expected) in self.outputs().into_iter().zip(&answer.outputs).zip(&expected.outputs) {
            let masked = self.question.spec()[output].masked;
            for (found, expected) in found.words().into_iter().zip(expected.words()) {
                if !(masked && expected == "-1") {
                    total += 1;
                    equal += u32::from(found == expected);
                }
            }
        }
        if total == 0 { 1.0 } else { f64::from(equal) / f64::from(total) }
    }
}

/// The first value that differs, as found and as expected.
fn first_difference(found: &[Value<'_>], expected: &[Value<'_>]) -> (String, String) {
    let index = found.iter().zip(expected).position(|(found, expected)| found != expected);
    let index = index.unwrap_or(found.len().min(expected.len()));
    let text = |values: &[Value<'_>]| values.get(index).map_or("nothing".into(), |value| format!("`{value}`"));
    (text(found), text(expected))
}

impl TraceVerdict {
    fn new(found: &[Vec<Value<'_>>], expected: &[Vec<Value<'_>>]) -> TraceVerdict {
        let first = (0..found.len().max(expected.len())).find(|&step| found.get(step) != expected.get(step));
        let failure = first.map(|step| match (found.get(step), expected.get(step)) {
            (Some(found), Some(expected)) => {
                let (found, expected) = first_difference(found, expected);
                format!("step {} has {found}, expected {expected}", step + 1)
            }
            (None, _) => format!("step {} is missing", step + 1),
            (_, None) => format!("step {} is one too many", step + 1),
        });
        TraceVerdict { steps: expected.len(), found: found.len(), first_divergence: first.map(|step| step + 1), failure }
    }
}

impl Verdict {
    fn unreadable(failure: String) -> Verdict {
        Verdict {
            parsed: false,
            shape: false,
            element_accuracy: 0.0,
            exact_match: false,
            valid: false,
            failure: Some(failure),
            trace: None,
        }
    }
}

fn joined(values: &[Value<'_>]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}
