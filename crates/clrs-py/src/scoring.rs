//! Scores of predictions.

use clrs::{Array, Batch, score};
use pyo3::prelude::*;

use crate::convert::{DataPoint, DataPoints, Lengths, batch, type_name};
use crate::error::Error;
use crate::parallel::detached;

/// The names and scores of outputs, and their mean.
#[pyfunction]
pub(crate) fn evaluate(py: Python<'_>, outputs: DataPoints, predictions: DataPoints) -> Result<(Vec<(String, f64)>, f64), Error> {
    let truth = batch(DataPoints::default(), DataPoints::default(), outputs, Vec::new())?;
    ensure_same_types(&truth, &predictions.0)?;
    let scores = detached(py, || Ok(score::evaluate(&truth, &by_name(&predictions.0))?))?;
    Ok((scores.outputs, scores.score))
}

/// The score of each hint: its name, its mean over steps, and the score at each step. `predictions` are those of every step
/// after the first.
#[pyfunction]
pub(crate) fn evaluate_hints(
    py: Python<'_>,
    hints: DataPoints,
    lengths: Lengths,
    predictions: Vec<DataPoints>,
) -> Result<Vec<(String, f64, Vec<f64>)>, Error> {
    let truth = batch(DataPoints::default(), hints, DataPoints::default(), lengths.0)?;
    predictions.iter().try_for_each(|predictions| ensure_same_types(&truth, &predictions.0))?;
    let by_step: Vec<_> = predictions.iter().map(|predictions| by_name(&predictions.0)).collect();
    let scores = detached(py, || Ok(score::evaluate_hints(&truth, &by_step)?))?;
    Ok(scores.into_iter().map(|hint| (hint.name, hint.score, hint.per_step)).collect())
}

fn by_name(points: &[DataPoint]) -> Vec<(&str, &Array)> {
    points.iter().map(|point| (&*point.name, &point.array)).collect()
}

/// Predictions are of the same location and type as the truth: a score of anything else has no meaning. The number of classes is
/// part of the shape, which the scores check.
fn ensure_same_types(truth: &Batch, predictions: &[DataPoint]) -> Result<(), Error> {
    for point in predictions {
        let describe = |location: clrs::Location, kind| format!("{} {}", location.name(), type_name(kind));
        let found = describe(point.location, point.kind);
        let expected = truth.spec.get(&point.name).map(|probe| describe(probe.location, probe.kind));
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            return Err(Error::Prediction { name: point.name.clone(), expected, found });
        }
    }
    Ok(())
}
