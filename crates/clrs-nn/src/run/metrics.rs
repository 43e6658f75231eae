//! Validation curves of a run, from the metrics that training logs.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use clrs_store::open_regular;
use serde::{Deserialize, Serialize};

use super::directory::METRICS;
use super::error::{RunError, at};

/// Validations of a run on one of its algorithms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationCurve {
    /// The algorithm.
    pub algorithm: String,
    /// Validations by increasing step.
    pub points: Vec<Validation>,
}

/// A validation. Metrics are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// Training steps before it.
    pub step: usize,
    /// Mean score over the outputs.
    pub score: f64,
    /// Share of correct answers.
    pub validity: Option<f64>,
    /// Share of answers that equal the reference's.
    pub exact_match: Option<f64>,
}

/// A line of the file. Other lines are losses of training steps.
#[derive(Deserialize)]
struct Line<'l> {
    step: usize,
    #[serde(borrow)]
    algorithm: Cow<'l, str>,
    val: Option<f64>,
    validity: Option<f64>,
    exact_match: Option<f64>,
}

/// Longest line that is read; lines of training have a hundred bytes.
const MAX_LINE: u64 = 1 << 16;
/// Most validations that are read: far more than a run of a million steps has.
const MAX_POINTS: usize = 1 << 22;

/// Reads the validation curves of a run, in the order of its algorithms; none if it has no metrics yet.
///
/// Lines of training steps are skipped without parsing them. A last line without its end is being written and ignored; a step that
/// occurs again replaces what follows it.
///
/// # Errors
/// If the file cannot be read, or contains something else than metrics.
///
/// ```
/// use clrs_nn::run::metrics::read_curves;
///
/// let run = tempfile::tempdir()?;
/// std::fs::write(
///     run.path().join("metrics.jsonl"),
///     "{\"step\":1,\"algorithm\":\"bfs\",\"loss\":2.5}\n{\"step\":1,\"algorithm\":\"bfs\",\"val\":0.5}\n",
/// )?;
/// let curves = read_curves(run.path())?;
/// assert_eq!((curves[0].algorithm.as_str(), curves[0].points[0].score), ("bfs", 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_curves(run: &Path) -> Result<Vec<ValidationCurve>, RunError> {
    let path = run.join(METRICS);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut file = BufReader::new(open_regular(&path)?);
    let (mut curves, mut line, mut number, mut count) = (Vec::new(), Vec::new(), 0, 0);
    loop {
        line.clear();
        number += 1;
        (&mut file).take(MAX_LINE).read_until(b'\n', &mut line).map_err(at(&path))?;
        if line.last() != Some(&b'\n') {
            if (line.len() as u64) < MAX_LINE {
                return Ok(curves);
            }
            return Err(at(&path)(invalid(format!("line {number} is too long for metrics"))));
        }
        if line.windows(VALIDATION.len()).any(|window| window == VALIDATION) {
            let parsed: Line<'_> = serde_json::from_slice(&line)
                .map_err(|error| at(&path)(invalid(format!("line {number} is not a line of metrics ({error})"))))?;
            count += usize::from(add(&mut curves, &parsed));
            if count > MAX_POINTS {
                return Err(at(&path)(invalid(format!("more than {MAX_POINTS} validations"))));
            }
        }
    }
}

/// What distinguishes lines of validations.
const VALIDATION: &[u8] = b"\"val\"";

/// Adds a validation, if the line is one.
fn add(curves: &mut Vec<ValidationCurve>, line: &Line<'_>) -> bool {
    let Some(score) = line.val else { return false };
    let index = curves.iter().position(|curve| curve.algorithm == line.algorithm).unwrap_or_else(|| {
        curves.push(ValidationCurve { algorithm: line.algorithm.clone().into_owned(), points: Vec::new() });
        curves.len() - 1
    });
    let points = &mut curves[index].points;
    points.truncate(points.partition_point(|point| point.step < line.step));
    points.push(Validation { step: line.step, score, validity: line.validity, exact_match: line.exact_match });
    true
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<ValidationCurve>, String> {
        let run = tempfile::tempdir().expect("a directory");
        std::fs::write(run.path().join(METRICS), text).expect("a file");
        read_curves(run.path()).map_err(|error| error.to_string().rsplit('/').next().expect("a name").into())
    }

    #[test]
    fn curves_have_the_validations_of_each_algorithm() {
        let text = r#"{"step":10,"algorithm":"bfs","loss":1.0,"grad_norm":2.0}
{"step":10,"algorithm":"bfs","val":0.25,"validity":0.5,"exact_match":0.0}
{"step":10,"algorithm":"dfs","val":0.75}
{"step":20,"algorithm":"bfs","val":0.5}
{"step":20,"algorithm":"dfs","va"#;
        let curves = read(text.as_bytes()).expect("curves");
        let steps = |curve: &ValidationCurve| curve.points.iter().map(|point| point.step).collect::<Vec<_>>();
        assert_eq!(
            curves.iter().map(|curve| (&*curve.algorithm, steps(curve))).collect::<Vec<_>>(),
            [("bfs", vec![10, 20]), ("dfs", vec![10])]
        );
        assert_eq!(curves[0].points[0].validity, Some(0.5));
    }

    #[test]
    fn a_repeated_step_replaces_what_follows_it() {
        let lines = [(10, 0.1), (20, 0.2), (30, 0.3), (20, 0.9)];
        let lines = lines.map(|(step, val)| format!("{{\"step\":{step},\"algorithm\":\"bfs\",\"val\":{val}}}\n"));
        let curves = read(lines.concat().as_bytes()).expect("curves");
        assert_eq!(curves[0].points.iter().map(|point| (point.step, point.score)).collect::<Vec<_>>(), [(10, 0.1), (20, 0.9)]);
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        assert_eq!(read(b"").expect("empty"), []);
        let message = read(b"\n{\"val\":1}\n").expect_err("no step");
        assert!(message.starts_with("metrics.jsonl: line 2 is not a line of metrics (missing field"), "{message}");
        let message = read(&vec![b'x'; 1 << 17]).expect_err("one line");
        assert_eq!(message, "metrics.jsonl: line 1 is too long for metrics");
    }
}
