//! Runs of a report as one file: everything that tables and figures are made from, without checkpoints.
//!
//! A line per run, after a line with the version of the format. A report of the file is the report of the run directories.

use std::borrow::Cow;
use std::path::Path;

use clrs_nn::run::metrics::{Validation, ValidationCurve};
use clrs_store::read_regular;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::runs::ReportRun;

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
    runs.iter().fold(header, |text, run| text + &json(serde_json::to_string(run)))
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
        serde_json::from_str(line).map_err(|_| damaged())
    };
    let read: Vec<ReportRun> = lines.enumerate().map(run).collect::<Result<_, _>>()?;
    if read.len() != runs {
        return Err(ReportError::Incomplete { path: path.into(), runs: read.len(), expected: runs });
    }
    Ok(read)
}

/// Validation curves in a file.
pub(crate) mod curves {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Cow, Curve, Validation, ValidationCurve};

    pub(crate) fn serialize<S: Serializer>(curves: &[ValidationCurve], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(curves.iter().map(|curve| Curve {
            algorithm: Cow::Borrowed(&curve.algorithm),
            step: curve.points.iter().map(|point| point.step).collect(),
            score: curve.points.iter().map(|point| point.score).collect(),
        }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ValidationCurve>, D::Error> {
        let curve = |Curve { algorithm, step, score }: Curve<'_>| {
            if step.len() != score.len() {
                return Err(D::Error::custom("the columns of a curve have different lengths"));
            }
            let points = step.into_iter().zip(score).map(|(step, score)| Validation::new(step, score)).collect();
            Ok(ValidationCurve::new(algorithm.into_owned(), points))
        };
        Vec::<Curve<'_>>::deserialize(deserializer)?.into_iter().map(curve).collect()
    }
}
