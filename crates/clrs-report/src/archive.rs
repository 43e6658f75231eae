//! Runs of a report as one file: everything that tables and figures are made from, without checkpoints.
//!
//! A line per run, after a line with the version of the format. A report of the file is the report of the run directories.

use std::borrow::Cow;
use std::path::Path;

use clrs_nn::Recipe;
use clrs_nn::run::metrics::{Validation, ValidationCurve};
use clrs_store::read_regular;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::provenance::Provenance;
use crate::runs::{Evaluation, ReportRun, RunState};

/// Name of the file in a report.
pub const FILE: &str = "runs.jsonl";
const FORMAT: u32 = 1;
/// No file is longer: thousands of runs with a thousand validations each.
const MAX_BYTES: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    runs: usize,
}

#[derive(Serialize, Deserialize)]
struct Line<'r> {
    folder: Cow<'r, str>,
    state: Cow<'r, RunState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    best_step: Option<usize>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    evaluations: Cow<'r, [Evaluation]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    curves: Vec<Curve<'r>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<Cow<'r, Provenance>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    problems: Cow<'r, [String]>,
    recipe: Cow<'r, Recipe>,
}

/// The scores of a validation curve by columns, which are a quarter as long as a list of validations.
#[derive(Serialize, Deserialize)]
struct Curve<'r> {
    algorithm: Cow<'r, str>,
    step: Vec<usize>,
    score: Vec<f64>,
}

/// The contents of the file.
///
/// ```
/// use clrs_report::{ReportRun, archive};
///
/// let planned = ReportRun::planned("runs/bfs-1".as_ref(), clrs_nn::Recipe::default());
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(file.path(), archive::to_text(&[&planned]))?;
/// assert_eq!(archive::read(file.path())?, [planned]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_text(runs: &[&ReportRun]) -> String {
    let json = |line: serde_json::Result<String>| line.expect("plain data") + "\n";
    let header = json(serde_json::to_string(&Header { format: FORMAT, runs: runs.len() }));
    runs.iter().fold(header, |text, run| text + &json(serde_json::to_string(&Line::from(*run))))
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, is incomplete or damaged, or has another format.
pub fn read(path: &Path) -> Result<Vec<ReportRun>, ReportError> {
    let bytes = read_regular(path, MAX_BYTES)?;
    let text = str::from_utf8(&bytes).map_err(|_| ReportError::NoRuns(path.into()))?;
    let mut lines = text.lines();
    let header = lines.next().and_then(|line| serde_json::from_str(line).ok());
    let Header { format, runs } = header.ok_or_else(|| ReportError::NoRuns(path.into()))?;
    if format != FORMAT {
        return Err(ReportError::Format { path: path.into(), format, supported: FORMAT });
    }
    let run = |(index, line): (usize, &str)| {
        let damaged = || ReportError::Damaged { path: path.into(), line: index + 2 };
        let line: Line<'_> = serde_json::from_str(line).map_err(|_| damaged())?;
        line.into_run().ok_or_else(damaged)
    };
    let read: Vec<ReportRun> = lines.enumerate().map(run).collect::<Result<_, _>>()?;
    if read.len() != runs {
        return Err(ReportError::Incomplete { path: path.into(), runs: read.len(), expected: runs });
    }
    Ok(read)
}

impl<'r> From<&'r ReportRun> for Line<'r> {
    fn from(run: &'r ReportRun) -> Line<'r> {
        Line {
            folder: run.folder.to_string_lossy(),
            state: Cow::Borrowed(&run.state),
            best_step: run.best_step,
            evaluations: Cow::Borrowed(&run.evaluations),
            curves: run.curves.iter().map(Curve::from).collect(),
            provenance: run.provenance.as_ref().map(Cow::Borrowed),
            problems: Cow::Borrowed(&run.problems),
            recipe: Cow::Borrowed(&run.recipe),
        }
    }
}

impl Line<'_> {
    /// The run; `None` if the columns of a curve have different lengths.
    fn into_run(self) -> Option<ReportRun> {
        Some(ReportRun {
            folder: self.folder.into_owned().into(),
            state: self.state.into_owned(),
            best_step: self.best_step,
            evaluations: self.evaluations.into_owned(),
            curves: self.curves.into_iter().map(Curve::into_curve).collect::<Option<_>>()?,
            provenance: self.provenance.map(Cow::into_owned),
            problems: self.problems.into_owned(),
            recipe: self.recipe.into_owned(),
        })
    }
}

impl<'r> From<&'r ValidationCurve> for Curve<'r> {
    fn from(curve: &'r ValidationCurve) -> Curve<'r> {
        Curve {
            algorithm: Cow::Borrowed(&curve.algorithm),
            step: curve.points.iter().map(|point| point.step).collect(),
            score: curve.points.iter().map(|point| point.score).collect(),
        }
    }
}

impl Curve<'_> {
    fn into_curve(self) -> Option<ValidationCurve> {
        if self.step.len() != self.score.len() {
            return None;
        }
        let points = self.step.into_iter().zip(self.score).map(|(step, score)| Validation::new(step, score)).collect();
        Some(ValidationCurve::new(self.algorithm.into_owned(), points))
    }
}
