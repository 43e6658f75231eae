//! Scores of predictions.

use clrs::{Array, Batch, score};
use pyo3::prelude::*;

use crate::convert::{DataPoint, DataPoints, Lengths, batch};
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

/// Predictions are of the same location and type as the truth: a score of anything else has no meaning.
fn ensure_same_types(truth: &Batch, predictions: &[DataPoint]) -> Result<(), Error> {
    for point in predictions {
        let probe = truth.spec.get(&point.name);
        if let Some(probe) = probe.filter(|probe| (probe.location, probe.kind) != (point.location, point.kind)) {
            let describe = |location: clrs::Location, kind| format!("{} {}", location.name(), crate::convert::type_name(kind));
            let (expected, found) = (describe(probe.location, probe.kind), describe(point.location, point.kind));
            return Err(Error::Prediction { name: point.name.clone(), expected, found });
        }
    }
    Ok(())
}
