use std::borrow::Cow;

use crate::batch::{Array, Batch, Data};
use crate::pairwise::pairwise_sum;
use crate::spec::{Kind, Probe, Stage};

use super::ScoreError;

/// A score per output, and their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Every output with its score, in the order of the spec.
    pub outputs: Vec<(String, f64)>,
    /// The mean over outputs: the number that tables show.
    pub score: f64,
}

/// The score of a hint.
#[derive(Clone, Debug, PartialEq)]
pub struct HintScore {
    /// The hint's name.
    pub name: String,
    /// The mean over all steps that samples have.
    pub score: f64,
    /// The score at each predicted step; 0 where no sample is that long.
    pub along_time: Vec<f64>,
}

/// Scores predicted outputs: micro-F1 for masks, accuracy otherwise, over the whole batch at once.
///
/// Predictions are dense arrays shaped as the truth's, found by name.
pub fn evaluate(truth: &Batch, predicted: &[(&str, &Array)]) -> Result<Scores, ScoreError> {
    let mut outputs = Vec::new();
    for pair in pairs(truth, Stage::Output, predicted)? {
        outputs.push((pair.probe.name.to_string(), score(pair.kind, &pair.predicted, &pair.truth, pair.last)));
    }
    let score = outputs.iter().fold(0.0, |sum, (_, score)| sum + score) / outputs.len() as f64;
    Ok(Scores { outputs, score })
}

/// Scores predicted hints: `predicted[i]` holds the arrays `[B, ...]` predicted for step `i + 1`. Step 0 is given, not scored.
pub fn evaluate_hints(truth: &Batch, predicted: &[Vec<(&str, &Array)>]) -> Result<Vec<HintScore>, ScoreError> {
    let longer = |step: usize| truth.lengths.iter().map(move |&length| (step as f64) < length);
    let mut scores: Vec<HintScore> = Vec::new();
    for (i, predicted) in predicted.iter().enumerate() {
        let step = i + 1;
        for (place, pair) in pairs_at(truth, step, predicted)?.into_iter().enumerate() {
            if i == 0 {
                scores.push(HintScore { name: pair.probe.name.to_string(), score: 0.0, along_time: Vec::new() });
            }
            let row = pair.truth.len() / truth.samples();
            let kept = |cells: &[f64]| -> Vec<f64> {
                longer(step).zip(cells.chunks_exact(row)).filter(|(kept, _)| *kept).flat_map(|(_, row)| row.to_vec()).collect()
            };
            let any = longer(step).any(|longer| longer);
            let score = if any { score(pair.kind, &kept(&pair.predicted), &kept(&pair.truth), pair.last) } else { 0.0 };
            scores[place].along_time.push(score);
        }
    }
    let steps = pairwise_sum(&truth.lengths.iter().map(|length| length - 1.0).collect::<Vec<_>>());
    for score in &mut scores {
        let counted = |(i, score): (usize, &f64)| score * longer(i + 1).filter(|longer| *longer).count() as f64;
        score.score = pairwise_sum(&score.along_time.iter().enumerate().map(counted).collect::<Vec<_>>()) / steps;
    }
    Ok(scores)
}

/// A truth and its prediction, cells as `f64`.
struct Pair<'t> {
    probe: &'t Probe,
    /// How it is scored: a cycle of nodes is scored as the pointers it stands for.
    kind: Kind,
    truth: Cow<'t, [f64]>,
    predicted: Cow<'t, [f64]>,
    /// Length of the last axis.
    last: usize,
}

fn pairs<'t>(truth: &'t Batch, stage: Stage, predicted: &[(&str, &'t Array)]) -> Result<Vec<Pair<'t>>, ScoreError> {
    pair_up(truth, stage, predicted, |array| (array.shape.clone(), cells(array)))
}

/// The truth of one step of the hints.
fn pairs_at<'t>(truth: &'t Batch, step: usize, predicted: &[(&str, &'t Array)]) -> Result<Vec<Pair<'t>>, ScoreError> {
    pair_up(truth, Stage::Hint, predicted, |array| {
        let shape = array.shape[1..].to_vec();
        let row: usize = shape.iter().product();
        let cells = match cells(array) {
            Cow::Borrowed(cells) => Cow::Borrowed(cells.get(step * row..(step + 1) * row).unwrap_or_default()),
            Cow::Owned(cells) => Cow::Owned(cells.get(step * row..(step + 1) * row).unwrap_or_default().to_vec()),
        };
        (shape, cells)
    })
}

fn pair_up<'t>(
    truth: &'t Batch,
    stage: Stage,
    predicted: &[(&str, &'t Array)],
    cells_of: impl Fn(&'t Array) -> (Vec<usize>, Cow<'t, [f64]>),
) -> Result<Vec<Pair<'t>>, ScoreError> {
    let find = |name: &str| predicted.iter().find(|(other, _)| *other == name).map(|(_, array)| *array);
    let mut pairs = Vec::new();
    let mut probes = truth.iter().filter(|(probe, _)| probe.stage == stage);
    while let Some((probe, array)) = probes.next() {
        let name = probe.name.as_ref();
        let (shape, truth) = cells_of(array);
        let prediction = find(name).ok_or_else(|| ScoreError::Missing(name.into()))?;
        if prediction.shape != shape {
            return Err(ScoreError::Shape { probe: name.into(), expected: shape, found: prediction.shape.clone() });
        }
        let last = shape.last().copied().unwrap_or(1);
        let (kind, truth, predicted) = match probe.kind {
            Kind::Permutation => return Err(ScoreError::Order(name.into())),
            Kind::CyclicPermutation => {
                let mask_name = format!("{name}_mask");
                let mask = probes.next().filter(|(mask, _)| mask.name == mask_name);
                let (_, mask) = mask.ok_or_else(|| ScoreError::NoMask(name.into()))?;
                let predicted_mask = find(&mask_name).ok_or_else(|| ScoreError::Missing(mask_name.clone()))?;
                let truth = fuse(&truth, &cells_of(mask).1, last);
                let predicted = fuse(&cells(prediction), &cells(predicted_mask), last);
                (Kind::Pointer, Cow::Owned(truth), Cow::Owned(predicted))
            }
            kind => (kind, truth, cells(prediction)),
        };
        pairs.push(Pair { probe, kind, truth, predicted, last });
    }
    Ok(pairs)
}

/// The pointers that a cycle and the mask of its first node stand for.
fn fuse(cycle: &[f64], mask: &[f64], nodes: usize) -> Vec<f64> {
    let pointer = |(place, (row, &mask))| if mask > 0.5 { place % nodes } else { argmax(row) } as f64;
    cycle.chunks_exact(nodes).zip(mask).enumerate().map(pointer).collect()
}

fn score(kind: Kind, predicted: &[f64], truth: &[f64], last: usize) -> f64 {
    match kind {
        Kind::Scalar => {
            let squares: Vec<f64> = predicted.iter().zip(truth).map(|(p, t)| (p - t) * (p - t)).collect();
            pairwise_sum(&squares) / squares.len() as f64
        }
        Kind::Mask => micro_f1(predicted, truth),
        Kind::MaskOne | Kind::Categorical { .. } => accuracy_of_rows(predicted, truth, last),
        Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => {
            predicted.iter().zip(truth).filter(|(p, t)| p == t).count() as f64 / truth.len() as f64
        }
    }
}

/// The F1 score of "yes" over all cells that are asked. A prediction of exactly 0.5 is neither yes nor no.
fn micro_f1(predicted: &[f64], truth: &[f64]) -> f64 {
    let count = |counts: fn(f64, f64) -> bool| {
        let asked = predicted.iter().zip(truth).filter(|(_, t)| **t != -1.0);
        asked.filter(|(p, t)| counts(**p, **t)).count() as f64
    };
    let true_yes = count(|p, t| p > 0.5 && t > 0.5);
    let false_yes = count(|p, t| p > 0.5 && t < 0.5);
    let false_no = count(|p, t| p < 0.5 && t > 0.5);
    let share = |of: f64| if of > 0.0 { true_yes / of } else { 1.0 };
    let (precision, recall) = (share(true_yes + false_yes), share(true_yes + false_no));
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// How often the largest of a row is where it should be, over rows that are asked.
fn accuracy_of_rows(predicted: &[f64], truth: &[f64], last: usize) -> f64 {
    let rows = || predicted.chunks_exact(last).zip(truth.chunks_exact(last)).filter(|(_, truth)| !truth.contains(&-1.0));
    rows().filter(|(predicted, truth)| argmax(predicted) == argmax(truth)).count() as f64 / rows().count() as f64
}

/// The first of the largest; as in `NumPy`, NaN is larger than everything.
pub(super) fn argmax(row: &[f64]) -> usize {
    let mut best = 0;
    for (place, x) in row.iter().enumerate() {
        if row[best].is_nan() {
            break;
        }
        if *x > row[best] || x.is_nan() {
            best = place;
        }
    }
    best
}

/// The cells as `f64`.
pub(super) fn cells(array: &Array) -> Cow<'_, [f64]> {
    match &array.data {
        Data::F64(cells) => Cow::Borrowed(cells),
        Data::F32(cells) => Cow::Owned(cells.iter().map(|&x| f64::from(x)).collect()),
        Data::I64(cells) => Cow::Owned(cells.iter().map(|&x| x as f64).collect()),
    }
}
