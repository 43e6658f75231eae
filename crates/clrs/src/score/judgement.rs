use crate::algorithm::AnyAlgorithm;
use crate::batch::{Array, row_shape};
use crate::column::{Cells, Column};
use crate::spec::{Kind, Probe, Stage};
use crate::trajectory::Trajectory;

use super::ScoreError;
use super::evaluation::{argmax, cells};

/// Predicted outputs of each sample as typed columns: masks are cut at 0.5, classes and one-hot masks are the largest.
///
/// `probes` are the outputs as predicted, with their dense arrays `[B, ...]`; a cycle and its mask become one order.
pub fn hard_decode(probes: &[(&Probe, &Array)], samples: usize, nodes: usize) -> Result<Vec<Vec<Column>>, ScoreError> {
    let mut hardened: Vec<Vec<Column>> = vec![Vec::new(); samples];
    let mut probes = probes.iter();
    while let Some((probe, array)) = probes.next() {
        let expected: Vec<usize> = [samples].into_iter().chain(row_shape(probe, nodes)).collect();
        if array.shape != expected {
            return Err(ScoreError::Shape { probe: probe.name.to_string(), expected, found: array.shape.clone() });
        }
        let mask = if probe.kind == Kind::CyclicPermutation {
            let (_, mask) = probes.next().ok_or_else(|| ScoreError::NoMask(probe.name.to_string()))?;
            Some(cells(mask))
        } else {
            None
        };
        let values = cells(array);
        let row = expected[1..].iter().product();
        for (sample, (row, columns)) in values.chunks_exact(row).zip(&mut hardened).enumerate() {
            let mask = mask.as_ref().map(|mask| &mask[sample * nodes..][..nodes]);
            columns.push(decode_row(probe, row, mask, nodes)?);
        }
    }
    Ok(hardened)
}

fn decode_row(probe: &Probe, row: &[f64], first: Option<&[f64]>, nodes: usize) -> Result<Column, ScoreError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places in rows, nodes, and few classes")]
    Ok(match probe.kind {
        Kind::Scalar => Column::Scalar(row.to_vec()),
        Kind::Mask => Column::Class(row.iter().map(|&x| i8::from(x > 0.5)).collect()),
        Kind::Categorical { classes } => Column::Class(row.chunks_exact(classes).map(|row| argmax(row) as i8).collect()),
        Kind::MaskOne => Column::Node(vec![argmax(row) as u32]),
        Kind::CyclicPermutation => {
            let first = first.ok_or_else(|| ScoreError::NoMask(probe.name.to_string()))?;
            let pointer = |(node, row): (usize, &[f64])| if first[node] > 0.5 { node } else { argmax(row) } as u32;
            Column::Node(row.chunks_exact(nodes).enumerate().map(pointer).collect())
        }
        Kind::Pointer | Kind::Permutation => {
            let node = |&x: &f64| ((0.0..nodes as f64).contains(&x) && x.fract() == 0.0).then_some(x as u32);
            let pointers: Option<Vec<u32>> = row.iter().map(node).collect();
            Column::Node(pointers.ok_or_else(|| ScoreError::Node(probe.name.to_string()))?)
        }
    })
}

/// What is to be said of one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleResult {
    /// Why `check` rejects the predicted outputs, if it does.
    pub failure: Option<String>,
    /// Whether they equal the algorithm's outputs in all cells that are not masked out.
    pub exact_match: bool,
}

/// Judges every sample. Predictions are in the order of the algorithm's outputs.
pub fn check_samples(
    algorithm: &dyn AnyAlgorithm,
    truth: &[Trajectory<'_>],
    predicted: &[Vec<Column>],
) -> Result<Vec<SampleResult>, ScoreError> {
    judge(truth, predicted, |truth, predicted| {
        let checked = algorithm.check(truth.nodes(), &truth.stage(Stage::Input), predicted);
        SampleResult { failure: checked.err().map(|error| error.to_string()), exact_match: is_exact(truth, predicted) }
    })
}

/// The share of samples whose predicted outputs `check` accepts. Predictions are in the order of the algorithm's outputs.
pub fn validity(algorithm: &dyn AnyAlgorithm, truth: &[Trajectory<'_>], predicted: &[Vec<Column>]) -> Result<f64, ScoreError> {
    let is_valid = |truth: &Trajectory<'_>, predicted: &[Cells<'_>]| {
        algorithm.check(truth.nodes(), &truth.stage(Stage::Input), predicted).is_ok()
    };
    Ok(share(&judge(truth, predicted, is_valid)?))
}

/// The share of samples whose predicted outputs equal the algorithm's, wherever they are asked.
pub fn exact_match(truth: &[Trajectory<'_>], predicted: &[Vec<Column>]) -> Result<f64, ScoreError> {
    Ok(share(&judge(truth, predicted, is_exact)?))
}

fn judge<J>(
    truth: &[Trajectory<'_>],
    predicted: &[Vec<Column>],
    judge: impl Fn(&Trajectory<'_>, &[Cells<'_>]) -> J,
) -> Result<Vec<J>, ScoreError> {
    if truth.len() != predicted.len() {
        return Err(ScoreError::Samples { expected: truth.len(), found: predicted.len() });
    }
    let judge = |(truth, predicted): (&Trajectory<'_>, &Vec<Column>)| {
        let cells: Vec<Cells<'_>> = predicted.iter().map(Column::cells).collect();
        judge(truth, &cells)
    };
    Ok(truth.iter().zip(predicted).map(judge).collect())
}

fn share(holds: &[bool]) -> f64 {
    holds.iter().filter(|holds| **holds).count() as f64 / holds.len() as f64
}

fn is_exact(truth: &Trajectory<'_>, predicted: &[Cells<'_>]) -> bool {
    let outputs = truth.stage(Stage::Output);
    outputs.len() == predicted.len() && outputs.iter().zip(predicted).all(|(truth, predicted)| same(*truth, *predicted))
}

fn same(truth: Cells<'_>, predicted: Cells<'_>) -> bool {
    match (truth, predicted) {
        (Cells::Class(truth), Cells::Class(predicted)) => {
            truth.len() == predicted.len() && truth.iter().zip(predicted).all(|(t, p)| *t == -1 || t == p)
        }
        (truth, predicted) => truth == predicted,
    }
}
