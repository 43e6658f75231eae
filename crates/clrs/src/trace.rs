//! A recorded run as a self-contained document: the problem, every probe at every step, and the source line of each step.
//!
//! [`Trace`] is the JSON of `clrs trace --json`. A model's predictions can be stored next to the recorded values.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::algorithm::AnyAlgorithm;
use crate::column::{Cells, Column};
use crate::problems::InvalidProblem;
use crate::random::RandomState;
use crate::recorder::StepLocation;
use crate::sampling::{SampleError, SamplerOptions};
use crate::spec::{Kind, Location, Probe, Stage};
use crate::trajectory::Trajectory;

/// A run of an algorithm on a problem.
///
/// ```
/// use clrs::{Registry, Trace};
///
/// let bfs = Registry::builtin().find("bfs")?;
/// let trace = Trace::record(bfs, r#"{"weights": [[0, 1], [1, 0]], "source": 0}"#)?;
/// assert_eq!((trace.nodes, trace.steps), (2, 2));
/// let json = serde_json::to_string(&trace)?;
/// assert_eq!(serde_json::from_str::<Trace>(&json)?, trace);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trace {
    /// Name of the algorithm.
    pub algorithm: String,
    /// The problem, as [`AnyAlgorithm::record_json`] reads it.
    pub problem: Value,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of steps.
    pub steps: usize,
    /// The probes with their values, in spec order.
    pub probes: Vec<ProbeTrace>,
    /// Source location of each step.
    #[serde(alias = "sites")]
    pub step_locations: Vec<SourceLine>,
    /// Predictions of a model, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Vec<Prediction>>,
}

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a file and a line, counted from 1")]
pub struct SourceLine {
    pub file: String,
    pub line: u32,
}

/// A probe and its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ProbeJson", try_from = "ProbeJson")]
#[expect(missing_docs, reason = "the fields of `Probe`, and its values")]
pub struct ProbeTrace {
    pub name: String,
    pub stage: Stage,
    pub location: Location,
    pub kind: Kind,
    pub description: String,
    /// One row per step for hints, a single row for inputs and outputs. In JSON, a single row is not nested.
    pub rows: Vec<Column>,
}

/// Predicted values of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The probe and the decoded prediction, in the layout of the recorded probe. The number of rows of a hint may differ
    /// from the number of recorded steps if the model chooses how many steps it takes.
    #[serde(flatten)]
    pub probe: ProbeTrace,
    /// For each row, the probability of each value of each cell, cell by cell: one per cell for masks (the probability of 1),
    /// one per class for categoricals, one per node for pointers, permutations and one-hot masks. A row that is given
    /// rather than predicted has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Vec<Vec<f64>>>,
}

impl Trace {
    /// Samples a problem and runs an algorithm on it.
    ///
    /// # Errors
    /// If an option is unknown or invalid, or the size is out of range.
    pub fn sample(algorithm: &dyn AnyAlgorithm, size: usize, seed: u32, options: &SamplerOptions) -> Result<Trace, SampleError> {
        let mut problems = algorithm.problem_buffer(size, options)?;
        problems.draw(&mut RandomState::new(seed))?;
        Ok(Trace::record(algorithm, &problems.json(0))?)
    }

    /// Runs an algorithm on a problem in JSON.
    ///
    /// # Errors
    /// If the problem is invalid.
    pub fn record(algorithm: &dyn AnyAlgorithm, problem: &str) -> Result<Trace, InvalidProblem> {
        let mut recorder = algorithm.recorder();
        algorithm.record_json(problem, &mut recorder)?;
        let problem = serde_json::from_str(problem).map_err(InvalidProblem::Json)?;
        Ok(Trace::new(algorithm.name(), problem, recorder.trajectories().get(0), recorder.step_locations(0)))
    }

    /// Creates a trace from a recorded sample.
    pub fn new(algorithm: &str, problem: Value, sample: Trajectory<'_>, step_locations: &[StepLocation]) -> Trace {
        let line = |location: &StepLocation| SourceLine { file: location.file().into(), line: location.line() };
        Trace {
            algorithm: algorithm.into(),
            problem,
            nodes: sample.nodes(),
            steps: sample.steps(),
            probes: probe_traces(sample),
            step_locations: step_locations.iter().map(line).collect(),
            predictions: None,
        }
    }

    /// Adds predictions: the decoded values of the predicted probes as a sample, and for each of its probes the
    /// probabilities, if there are any; see [`Prediction::probabilities`].
    ///
    /// # Panics
    /// If `probabilities` does not have one entry per predicted probe.
    #[must_use]
    pub fn with_predictions(self, predicted: Trajectory<'_>, probabilities: Vec<Option<Vec<Vec<f64>>>>) -> Trace {
        assert_eq!(predicted.spec().len(), probabilities.len(), "one entry per predicted probe");
        let predictions = probe_traces(predicted).into_iter().zip(probabilities);
        let predictions = predictions.map(|(probe, probabilities)| Prediction { probe, probabilities });
        Trace { predictions: Some(predictions.collect()), ..self }
    }

    /// The probe with the given name.
    pub fn get(&self, name: &str) -> Option<&ProbeTrace> {
        self.probes.iter().find(|probe| probe.name == name)
    }
}

fn probe_traces(sample: Trajectory<'_>) -> Vec<ProbeTrace> {
    let trace = |(probe, cells): (&Probe, Cells<'_>)| {
        let width = probe.width(sample.nodes());
        let row = |row: usize| cells.slice(row * width..(row + 1) * width).to_column();
        ProbeTrace {
            name: probe.name.to_string(),
            stage: probe.stage,
            location: probe.location,
            kind: probe.kind,
            description: probe.description.to_string(),
            rows: (0..probe.rows(sample.steps())).map(row).collect(),
        }
    };
    sample.iter().map(trace).collect()
}

/// The JSON layout of [`ProbeTrace`]. The type of the values follows from the kind.
#[derive(Serialize, Deserialize)]
struct ProbeJson {
    name: String,
    stage: Stage,
    location: Location,
    kind: Kind,
    #[serde(alias = "meaning")]
    description: String,
    values: Rows,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Rows {
    Steps(Vec<Vec<Number>>),
    One(Vec<Number>),
}

/// A cell. JSON has no NaN and no infinity: both are null.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Real(Option<f64>),
}

impl From<ProbeTrace> for ProbeJson {
    fn from(ProbeTrace { name, stage, location, kind, description, rows }: ProbeTrace) -> ProbeJson {
        let mut rows: Vec<Vec<Number>> = rows.into_iter().map(numbers).collect();
        let values = match (stage, rows.pop()) {
            (Stage::Input | Stage::Output, Some(row)) => Rows::One(row),
            (_, last) => Rows::Steps(rows.into_iter().chain(last).collect()),
        };
        ProbeJson { name, stage, location, kind, description, values }
    }
}

impl TryFrom<ProbeJson> for ProbeTrace {
    type Error = String;

    fn try_from(ProbeJson { name, stage, location, kind, description, values }: ProbeJson) -> Result<ProbeTrace, String> {
        let rows = match (stage, values) {
            (Stage::Input | Stage::Output, Rows::One(row)) => vec![row],
            (Stage::Hint, Rows::Steps(rows)) => rows,
            (Stage::Input | Stage::Output, Rows::Steps(rows)) if rows.is_empty() => vec![Vec::new()],
            _ => return Err(format!("`{name}`: hints have a row per step, inputs and outputs a single row")),
        };
        let rows = rows.into_iter().map(|row| column(kind, row)).collect::<Option<_>>();
        let rows = rows.ok_or_else(|| format!("`{name}` has a value that does not match its kind"))?;
        Ok(ProbeTrace { name, stage, location, kind, description, rows })
    }
}

fn numbers(row: Column) -> Vec<Number> {
    match row {
        Column::Scalar(row) => row.into_iter().map(|x| Number::Real(Some(x))).collect(),
        Column::Node(row) => row.into_iter().map(|node| Number::Integer(node.into())).collect(),
        Column::Class(row) => row.into_iter().map(|class| Number::Integer(class.into())).collect(),
    }
}

/// The values of a row as a column of its kind; `None` if one does not match.
fn column(kind: Kind, row: Vec<Number>) -> Option<Column> {
    fn integers<T: TryFrom<i64>>(row: Vec<Number>) -> Option<Vec<T>> {
        let integer = |number| if let Number::Integer(x) = number { T::try_from(x).ok() } else { None };
        row.into_iter().map(integer).collect()
    }
    let real = |number| match number {
        Number::Integer(x) => x as f64,
        Number::Real(x) => x.unwrap_or(f64::NAN),
    };
    match Column::of(kind) {
        Column::Scalar(_) => Some(Column::Scalar(row.into_iter().map(real).collect())),
        Column::Node(_) => integers(row).map(Column::Node),
        Column::Class(_) => integers(row).map(Column::Class),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cells;
    use crate::registry::Registry;
    use crate::spec::Spec;
    use crate::trajectory::Trajectories;

    #[test]
    fn traces_survive_a_json_round_trip() {
        for algorithm in Registry::builtin().iter() {
            let trace = Trace::sample(algorithm, 6, 1, &SamplerOptions::default()).expect("a valid size");
            let json = serde_json::to_string(&trace).expect("JSON");
            assert_eq!(serde_json::from_str::<Trace>(&json).expect("a trace"), trace, "{}", algorithm.name());
            assert!(!json.contains("predictions"), "{}: a recording has no predictions", algorithm.name());
        }
    }

    #[test]
    fn values_are_rows_for_hints_and_flat_otherwise() {
        let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
        let trace = Trace::record(sort, r#"{"key": [2, 1]}"#).expect("a valid problem");
        let json = serde_json::to_value(&trace).expect("JSON");
        assert_eq!(json["problem"], serde_json::json!({"key": [2, 1]}));
        let probe = |name: &str| json["probes"].as_array().expect("a list").iter().find(|probe| probe["name"] == name).cloned();
        assert_eq!(probe("key").expect("an input")["values"], serde_json::json!([2.0, 1.0]));
        assert_eq!(probe("pred").expect("an output")["values"], serde_json::json!([1, 1]));
        assert_eq!(probe("pred_h").expect("a hint")["values"], serde_json::json!([[0, 0], [1, 1]]));
        assert_eq!(json["step_locations"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn predictions_are_stored_next_to_the_recording() {
        let bfs = Registry::builtin().find("bfs").expect("a built-in algorithm");
        let spec: Vec<Probe> = bfs.spec().iter().filter(|probe| probe.stage != Stage::Input).cloned().collect();
        let mut predicted = Trajectories::new(Spec::new(spec).expect("unique names"));
        predicted.push(2, 1, &[Cells::Node(&[0, 1]), Cells::Class(&[1, 0]), Cells::Node(&[0, 1])]).expect("a sample");
        let trace = Trace::record(bfs, r#"{"weights": [[0, 1], [1, 0]], "source": 0}"#).expect("a valid problem");
        let probabilities = vec![Some(vec![vec![0.9, 0.1, 0.4, 0.6]]), Some(vec![vec![0.8, 0.3]]), None];
        let trace = trace.with_predictions(predicted.get(0), probabilities);
        let json = serde_json::to_value(&trace).expect("JSON");
        assert_eq!(json["predictions"][0]["name"], "pi");
        assert_eq!(json["predictions"][0]["values"], serde_json::json!([0, 1]));
        assert_eq!(json["predictions"][1]["probabilities"], serde_json::json!([[0.8, 0.3]]));
        assert_eq!(json["predictions"][2].get("probabilities"), None);
        assert_eq!(serde_json::from_value::<Trace>(json).expect("a trace"), trace);
    }

    #[test]
    fn traces_with_the_first_names_of_fields_still_parse() {
        let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
        let trace = Trace::record(sort, r#"{"key": [2, 1]}"#).expect("a valid problem");
        let json = serde_json::to_string(&trace).expect("JSON");
        let old = json.replace("\"step_locations\":", "\"sites\":").replace("\"description\":", "\"meaning\":");
        assert_ne!(old, json);
        assert_eq!(serde_json::from_str::<Trace>(&old).expect("a trace"), trace);
    }

    #[test]
    fn values_that_do_not_match_their_kind_are_rejected() {
        let probe = |kind: &str, stage: &str, values: &str| {
            let text = format!(
                r#"{{"name": "x", "stage": "{stage}", "location": "node", "kind": "{kind}", "description": "", "values": {values}}}"#
            );
            serde_json::from_str::<ProbeTrace>(&text)
        };
        assert!(probe("scalar", "input", "[0.5, null, 1]").is_ok());
        assert!(probe("pointer", "input", "[0.5]").is_err());
        assert!(probe("pointer", "input", "[-1]").is_err());
        assert!(probe("mask", "input", "[300]").is_err());
        assert!(probe("mask", "hint", "[1]").is_err());
        assert!(probe("mask", "output", "[[1]]").is_err());
    }
}
