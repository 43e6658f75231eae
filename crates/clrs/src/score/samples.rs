use serde::{Deserialize, Serialize};

use crate::algorithm::AnyAlgorithm;
use crate::batch::{Array, row_shape};
use crate::column::{Cells, Column};
use crate::spec::{Kind, Probe, Stage};
use crate::trajectory::Trajectory;

use super::ScoreError;
use super::evaluation::{argmax, check_shape, pointers_of_cycle};

/// Decodes predicted outputs to typed columns, per sample: masks are thresholded at 0.5; classes, one-hot masks and cycles
/// take the argmax.
///
/// `probes` are the outputs as predicted, with their dense arrays `[B, ...]`. A cycle, which its mask must follow, and the mask
/// become one column of pointers.
///
/// # Errors
/// If an array has the wrong shape, a cycle has no mask, or a pointer is not a node.
pub fn hard_decode(probes: &[(&Probe, &Array)], samples: usize, nodes: usize) -> Result<Vec<Vec<Column>>, ScoreError> {
    let mut decoded: Vec<Vec<Column>> = vec![Vec::new(); samples];
    let mut probes = probes.iter();
    while let Some((probe, array)) = probes.next() {
        let shape: Vec<usize> = [samples].into_iter().chain(row_shape(probe, nodes)).collect();
        check_shape(&probe.name, &shape, array)?;
        let mask = if probe.kind == Kind::CyclicPermutation {
            let name = probe.mask_name();
            let mask = probes.next().filter(|(mask, _)| mask.name == name);
            let (_, mask) = mask.ok_or_else(|| ScoreError::NoMask(probe.name.to_string()))?;
            check_shape(&name, &[samples, nodes], mask)?;
            mask.to_f64()
        } else {
            Vec::new().into()
        };
        let values = array.to_f64();
        let row = shape[1..].iter().product();
        for (sample, (row, columns)) in values.chunks_exact(row).zip(&mut decoded).enumerate() {
            let mask = mask.get(sample * nodes..(sample + 1) * nodes).unwrap_or_default();
            columns.push(decode_row(probe, row, mask, nodes)?);
        }
    }
    Ok(decoded)
}

fn decode_row(probe: &Probe, row: &[f64], mask: &[f64], nodes: usize) -> Result<Column, ScoreError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "nodes and classes fit")]
    Ok(match probe.kind {
        Kind::Scalar => Column::Scalar(row.to_vec()),
        Kind::Mask => Column::Class(row.iter().map(|&x| i8::from(x > 0.5)).collect()),
        Kind::Categorical { classes } => Column::Class(row.chunks_exact(classes).map(|row| argmax(row) as i8).collect()),
        Kind::MaskOne => Column::Node(vec![argmax(row) as u32]),
        Kind::CyclicPermutation => Column::Node(pointers_of_cycle(row, mask, nodes).map(|node| node as u32).collect()),
        Kind::Pointer | Kind::Permutation => {
            let node = |&x: &f64| ((0.0..nodes as f64).contains(&x) && x.fract() == 0.0).then_some(x as u32);
            let pointers: Option<Vec<u32>> = row.iter().map(node).collect();
            Column::Node(pointers.ok_or_else(|| ScoreError::Node(probe.name.to_string()))?)
        }
    })
}

/// The result of one sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SampleResult {
    /// Why `check` rejects the predicted outputs, if it does.
    pub failure: Option<String>,
    /// Whether they equal the algorithm's outputs in all cells that are not masked out.
    pub exact_match: bool,
}

/// Checks every sample. `predicted` has the decoded outputs of each sample, in spec order.
///
/// # Errors
/// If the number of samples differs.
pub fn check_samples(
    algorithm: &dyn AnyAlgorithm,
    truth: &[Trajectory<'_>],
    predicted: &[Vec<Column>],
) -> Result<Vec<SampleResult>, ScoreError> {
    per_sample(truth, predicted, |truth, predicted| {
        let checked = algorithm.check(truth.nodes(), &truth.stage(Stage::Input), predicted);
        SampleResult { failure: checked.err().map(|error| error.to_string()), exact_match: is_exact(truth, predicted) }
    })
}

/// Fraction of samples whose predicted outputs `check` accepts. `predicted` has the decoded outputs of each sample, in spec
/// order.
///
/// # Errors
/// If the number of samples differs.
pub fn validity(algorithm: &dyn AnyAlgorithm, truth: &[Trajectory<'_>], predicted: &[Vec<Column>]) -> Result<f64, ScoreError> {
    let is_valid = |truth: &Trajectory<'_>, predicted: &[Cells<'_>]| {
        algorithm.check(truth.nodes(), &truth.stage(Stage::Input), predicted).is_ok()
    };
    Ok(fraction(&per_sample(truth, predicted, is_valid)?))
}

/// Fraction of samples whose predicted outputs equal the algorithm's in all cells that are not masked out.
///
/// # Errors
/// If the number of samples differs.
pub fn exact_match(truth: &[Trajectory<'_>], predicted: &[Vec<Column>]) -> Result<f64, ScoreError> {
    Ok(fraction(&per_sample(truth, predicted, is_exact)?))
}

fn per_sample<R>(
    truth: &[Trajectory<'_>],
    predicted: &[Vec<Column>],
    evaluate: impl Fn(&Trajectory<'_>, &[Cells<'_>]) -> R,
) -> Result<Vec<R>, ScoreError> {
    if truth.len() != predicted.len() {
        return Err(ScoreError::Samples { expected: truth.len(), found: predicted.len() });
    }
    let evaluate = |(truth, predicted): (&Trajectory<'_>, &Vec<Column>)| {
        let cells: Vec<Cells<'_>> = predicted.iter().map(Column::cells).collect();
        evaluate(truth, &cells)
    };
    Ok(truth.iter().zip(predicted).map(evaluate).collect())
}

fn fraction(holds: &[bool]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::ArrayData;
    use crate::registry::Registry;
    use crate::spec::Spec;
    use crate::transform::cyclic_permutations_spec;

    fn array(shape: &[usize]) -> Array {
        Array { shape: shape.to_vec(), data: ArrayData::F64(vec![0.0; shape.iter().product()]) }
    }

    #[test]
    fn hard_decode_requires_a_mask_of_the_right_shape_after_a_cycle() {
        let spec = Registry::builtin().find("insertion_sort").expect("a built-in algorithm").spec();
        let spec = cyclic_permutations_spec(&Spec::from(spec)).expect("unique names");
        let (pred, mask) = (spec.get("pred").expect("an output"), spec.get("pred_mask").expect("an output"));
        let cycle = array(&[2, 3, 3]);
        let decode = |probes: &[(&Probe, &Array)]| hard_decode(probes, 2, 3);
        assert!(decode(&[(pred, &cycle), (mask, &array(&[2, 3]))]).is_ok());
        let short = ScoreError::Shape { probe: "pred_mask".into(), expected: vec![2, 3], found: vec![2, 2] };
        assert_eq!(decode(&[(pred, &cycle), (mask, &array(&[2, 2]))]), Err(short));
        assert_eq!(decode(&[(pred, &cycle)]), Err(ScoreError::NoMask("pred".into())));
        assert_eq!(decode(&[(pred, &cycle), (pred, &cycle)]), Err(ScoreError::NoMask("pred".into())));
    }
}
