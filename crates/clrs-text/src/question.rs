use clrs::problems::{Matrix, positions};
use clrs::registry::UnknownAlgorithm;
use clrs::{AnyAlgorithm, Cells, Column, DType, InvalidProblem, Kind, Probe, Registry, Spec, Stage};

use crate::format::Format;
use crate::layout::{Layout, is_derived};
use crate::number::push_rounded;
use crate::syntax::{Reader, SyntaxError, Token, Value};
use crate::values::{ValueError, column, integer, real};

/// A parsed question: the problem, and what is asked for.
///
/// ```
/// use clrs::Registry;
/// use clrs_text::Question;
///
/// let question = Question::parse(&Registry::builtin(), "bfs:\ns: 1, A: [[0 1], [1 0]]\npi:\n")?;
/// assert_eq!((question.algorithm().name(), question.nodes(), question.hints()), ("bfs", 2, false));
/// assert_eq!(question.problem_json()?, r#"{"weights":[[0.0,1.0],[1.0,0.0]],"source":1}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Question {
    algorithm: &'static dyn AnyAlgorithm,
    format: Format,
    hints: bool,
    nodes: usize,
    /// All inputs in spec order, derived ones included.
    inputs: Vec<Column>,
    spec: Spec,
    pub(crate) layout: Layout,
}

/// A text that is not a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum QuestionError {
    #[error("not a question: {0}")]
    Syntax(#[from] SyntaxError),
    #[error(transparent)]
    Algorithm(#[from] UnknownAlgorithm),
    #[error("the inputs are {found}, expected {expected}")]
    Inputs { expected: String, found: String },
    #[error("the question asks for {found}, expected {expected}")]
    Names { expected: String, found: String },
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error("the question states {stated} nodes, but the inputs have {found}")]
    Nodes { stated: usize, found: usize },
}

impl Question {
    /// Parses a question of any format.
    pub fn parse(registry: &Registry, text: &str) -> Result<Question, QuestionError> {
        let mut reader = Reader::new(text, Format::V1);
        if reader.accept(Token::Word(Format::V1.name())) { named(registry, reader) } else { listed(registry, text) }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static dyn AnyAlgorithm {
        self.algorithm
    }

    /// The format. Texts that `text@2.0.1` and `text@2.0.3` have in common count as the latter.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a trace is asked for.
    pub fn hints(&self) -> bool {
        self.hints
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All inputs in spec order. Those that no text shows are derived from the others.
    pub fn inputs(&self) -> Vec<Cells<'_>> {
        self.inputs.iter().map(Column::cells).collect()
    }

    /// The problem as JSON.
    ///
    /// # Errors
    /// If the algorithm cannot run on it. Rounded numbers, as in `text@2.0.1`, may describe no problem.
    pub fn problem_json(&self) -> Result<String, InvalidProblem> {
        self.algorithm.problem_json(self.nodes, &self.inputs())
    }

    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Keys by node, if permutations are shown as keys.
    pub(crate) fn keys(&self) -> Option<&[f64]> {
        match self.layout.key.map(|key| &self.inputs[key]) {
            Some(Column::Scalar(keys)) if self.format != Format::V1 => Some(keys),
            _ => None,
        }
    }
}

/// Parses `text@2.0.1` and `text@2.0.3`.
fn listed(registry: &Registry, text: &str) -> Result<Question, QuestionError> {
    let mut reader = Reader::new(text, Format::V2_0_3);
    let algorithm = registry.find(reader.word("the name of an algorithm")?)?;
    let spec = Spec::from(algorithm.spec());
    let layout = Layout::new(algorithm, &spec);
    reader.mark(':')?;
    let mut fields = Vec::new();
    let mut has_first_step = false;
    loop {
        let name = reader.word("the name of an input")?;
        reader.mark(':')?;
        if name == "initial_trace" {
            // It follows from the problem.
            reader.values(layout.has_parentheses())?;
            has_first_step = true;
            break;
        }
        fields.push((name, reader.value()?));
        if !reader.accept(Token::Mark(',')) {
            break;
        }
    }
    if has_first_step {
        reader.keyword("trace")?;
        reader.mark('|')?;
    }
    let is_parenthesized = has_first_step && layout.has_parentheses();
    if is_parenthesized {
        reader.mark('(')?;
    }
    let mut names = vec![reader.word("the name of an output")?];
    while reader.accept(Token::Mark(',')) {
        names.push(reader.word("the name of an output")?);
    }
    if is_parenthesized {
        reader.mark(')')?;
    }
    reader.mark(':')?;
    reader.end()?;

    let format = if are_rounded(&spec, &fields) { Format::V2_0_1 } else { Format::V2_0_3 };
    let hints: Vec<usize> = layout.trace.iter().map(|traced| traced.hint).collect();
    check_names(&spec, if has_first_step && layout.is_trace_chosen { &hints } else { &layout.outputs }, &names)?;
    if has_first_step && layout.trace.is_empty() {
        return Err(QuestionError::Names { expected: "no trace".into(), found: "a trace".into() });
    }
    question(algorithm, format, has_first_step, None, &fields)
}

/// Whether numbers are those of `text@2.0.1`: some have no point, and none has more digits than that format prints.
fn are_rounded(spec: &Spec, fields: &[(&str, Value<'_>)]) -> bool {
    let is_real = |probe: &Probe| (probe.stage, probe.kind) == (Stage::Input, Kind::Scalar) && probe.dtype != DType::I64;
    let mut has_integers = false;
    for (name, value) in fields {
        let Some(probe) = spec.iter().find(|probe| probe.name == *name && is_real(probe)) else { continue };
        let mut rounded = Vec::new();
        for word in value.words() {
            let Some(x) = real(word) else { return false };
            rounded.clear();
            push_rounded(&mut rounded, x, probe.location);
            if rounded != word.as_bytes() {
                return false;
            }
            has_integers |= !word.contains(['.', 'e']);
        }
    }
    has_integers
}

/// Parses `text@1`, after its name.
fn named(registry: &Registry, mut reader: Reader<'_>) -> Result<Question, QuestionError> {
    let algorithm = registry.find(reader.word("the name of an algorithm")?)?;
    let spec = Spec::from(algorithm.spec());
    let layout = Layout::new(algorithm, &spec);
    reader.keyword("nodes")?;
    reader.mark(':')?;
    let error = reader.error("a number of nodes".into());
    let nodes = integer(reader.word("a number of nodes")?).and_then(|nodes| usize::try_from(nodes).ok()).ok_or(error)?;
    reader.keyword("input")?;
    reader.mark(':')?;
    let fields = reader.fields()?;
    let hints = reader.accept(Token::Word("trace"));
    if hints {
        reader.mark(':')?;
        let mut names = vec![reader.word("the name of a hint")?];
        while let (Token::Word(name), Token::Word(_)) = (reader.peek(), reader.peek_second()) {
            // `step` and its number follow the last name.
            if name == "step" {
                break;
            }
            names.push(reader.word("the name of a hint")?);
        }
        let expected: Vec<usize> = layout.trace.iter().map(|traced| traced.hint).collect();
        check_names(&spec, &expected, &names)?;
        reader.keyword("step")?;
        reader.keyword("0")?;
        reader.mark(':')?;
        reader.fields()?;
    }
    reader.keyword("output")?;
    reader.mark(':')?;
    let mut names = vec![reader.word("the name of an output")?];
    while let Token::Word(name) = reader.peek() {
        reader.advance();
        names.push(name);
    }
    reader.end()?;
    check_names(&spec, &layout.outputs, &names)?;
    question(algorithm, Format::V1, hints, Some(nodes), &fields)
}

fn check_names(spec: &Spec, expected: &[usize], found: &[&str]) -> Result<(), QuestionError> {
    let expected: Vec<&str> = expected.iter().map(|&index| &*spec[index].name).collect();
    if expected == found {
        return Ok(());
    }
    Err(QuestionError::Names { expected: quoted(&expected), found: quoted(found) })
}

fn question(
    algorithm: &'static dyn AnyAlgorithm,
    format: Format,
    hints: bool,
    stated: Option<usize>,
    fields: &[(&str, Value<'_>)],
) -> Result<Question, QuestionError> {
    let spec = Spec::from(algorithm.spec());
    let layout = Layout::new(algorithm, &spec);
    let expected: Vec<&str> = layout.inputs.iter().map(|&index| &*spec[index].name).collect();
    let found: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    if expected != found {
        return Err(QuestionError::Inputs { expected: quoted(&expected), found: quoted(&found) });
    }
    let length = |value: &Value<'_>| match value {
        Value::Word(_) => None,
        Value::List(words) => Some(words.len()),
        Value::Matrix(rows) => Some(rows.len()),
    };
    let nodes = fields.iter().find_map(|(_, value)| length(value)).unwrap_or(1);
    if let Some(stated) = stated.filter(|&stated| stated != nodes) {
        return Err(QuestionError::Nodes { stated, found: nodes });
    }
    let shown = layout.inputs.iter().zip(fields).map(|(&index, (_, value))| column(&spec[index], value, nodes));
    let mut shown = shown.collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut inputs: Vec<Option<Column>> = Vec::new();
    for probe in spec.iter().filter(|probe| probe.stage == Stage::Input) {
        inputs.push(if is_derived(probe, &spec) { None } else { shown.next() });
    }
    let inputs = inputs.iter().enumerate().map(|(index, input)| match input {
        Some(column) => column.clone(),
        None => derive(&spec[index], &spec, nodes, &inputs),
    });
    let inputs = inputs.collect();
    Ok(Question { algorithm, format, hints, nodes, inputs, spec, layout })
}

/// An input that no text shows: positions, or the adjacency matrix of the weights.
fn derive(probe: &Probe, spec: &[Probe], nodes: usize, inputs: &[Option<Column>]) -> Column {
    if probe.kind == Kind::Scalar {
        return Column::Scalar(positions(nodes));
    }
    let weights = spec.iter().zip(inputs).find_map(|(probe, input)| match input {
        Some(Column::Scalar(cells)) if probe.location == clrs::Location::Edge => Some(cells.clone()),
        _ => None,
    });
    let adjacency = weights.and_then(|cells| Matrix::from_cells(nodes, cells).ok()).map(|weights| weights.adjacency());
    Column::Class(adjacency.unwrap_or_default().into_iter().map(i8::from).collect())
}

fn quoted(names: &[&str]) -> String {
    if names.is_empty() {
        return "nothing".into();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
