use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::batch::{Array, Batch};
use crate::pairwise::pairwise_sum;
use crate::spec::{Kind, Probe, Stage};

use super::ScoreError;

/// A score per output, and their mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Scores {
    /// The name and score of every output, in spec order.
    pub outputs: Vec<(String, f64)>,
    /// The mean over outputs, which the benchmark's tables report.
    pub score: f64,
}

/// The score of a hint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HintScore {
    /// The hint's name.
    pub name: String,
    /// The mean over all predicted steps of all samples; not a number, and null in JSON, if there are none.
    #[serde(deserialize_with = "null_is_nan")]
    pub score: f64,
    /// The score at each predicted step; 0 if no sample has that many steps.
    pub per_step: Vec<f64>,
}

fn null_is_nan<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Scores predicted outputs over the batch: micro-F1 for masks, accuracy otherwise.
///
/// Predictions are looked up by name and have the shapes of the truth's arrays.
///
/// # Errors
/// If a prediction is missing or has the wrong shape, or an output is a permutation that no transform has replaced.
pub fn evaluate(truth: &Batch, predicted: &[(&str, &Array)]) -> Result<Scores, ScoreError> {
    let mut outputs = Vec::new();
    for pair in pairs(truth, Stage::Output, predicted)? {
        outputs.push((pair.probe.name.to_string(), Tally::new(pair.kind, &pair.predicted, &pair.truth, pair.last).score()));
    }
    let score = outputs.iter().fold(0.0, |sum, (_, score)| sum + score) / outputs.len() as f64;
    Ok(Scores { outputs, score })
}

/// Scores predicted hints: `predicted[i]` has the arrays `[B, ...]` predicted for step `i + 1`. Step 0 is given and not scored.
///
/// # Errors
/// As [`evaluate`], and if the truth is malformed or has fewer steps than are predicted.
pub fn evaluate_hints(truth: &Batch, predicted: &[Vec<(&str, &Array)>]) -> Result<Vec<HintScore>, ScoreError> {
    truth.ensure_axes()?;
    let has_step = |step: usize| truth.lengths.iter().map(move |&length| (step as f64) < length);
    let mut scorer = HintScorer::default();
    for (i, predicted) in predicted.iter().enumerate() {
        let step = i + 1;
        let pairs = pairs_at(truth, step, predicted)?;
        let active = |cells: &[f64]| -> Vec<f64> {
            let row = cells.len() / truth.samples();
            has_step(step)
                .zip(cells.chunks_exact(row))
                .filter(|(has_step, _)| *has_step)
                .flat_map(|(_, row)| row.to_vec())
                .collect()
        };
        let tallies = pairs.iter().map(|pair| {
            let tally = Tally::new(pair.kind, &active(&pair.predicted), &active(&pair.truth), pair.last);
            (&*pair.probe.name, tally)
        });
        scorer.tally(step, has_step(step).filter(|has_step| *has_step).count(), tallies);
    }
    let steps = pairwise_sum(&truth.lengths.iter().map(|length| length - 1.0).collect::<Vec<_>>());
    Ok(scorer.scores(steps))
}

/// Accumulates hint scores step by step and batch by batch, for sets that do not fit into memory. The result equals
/// [`evaluate_hints`] on the complete set.
#[derive(Clone, Debug, Default)]
pub struct HintScorer {
    hints: Vec<(String, Vec<Tally>)>,
    /// Number of samples with each predicted step.
    samples: Vec<usize>,
}

impl HintScorer {
    /// Adds the predictions `[B, ...]` of a step of samples that all have it. The truth has only this step, `[1, B, ...]`.
    ///
    /// # Errors
    /// As [`evaluate`], and if `step` is 0, which is given and not predicted.
    pub fn add(&mut self, step: usize, truth: &Batch, predicted: &[(&str, &Array)]) -> Result<(), ScoreError> {
        if step == 0 {
            return Err(ScoreError::GivenStep);
        }
        let pairs = pairs_at(truth, 0, predicted)?;
        let tally = |pair: &Pair<'_>| Tally::new(pair.kind, &pair.predicted, &pair.truth, pair.last);
        self.tally(step, truth.samples(), pairs.iter().map(|pair| (&*pair.probe.name, tally(pair))));
        Ok(())
    }

    /// Adds the counts of another scorer of the same algorithm.
    pub fn append(&mut self, other: &HintScorer) {
        for (index, &samples) in other.samples.iter().enumerate() {
            let tallies = other.hints.iter().map(|(name, tallies)| (&**name, tallies[index]));
            self.tally(index + 1, samples, tallies);
        }
    }

    /// Returns the scores.
    pub fn finish(self) -> Vec<HintScore> {
        let steps = self.samples.iter().sum::<usize>() as f64;
        self.scores(steps)
    }

    fn tally<'n>(&mut self, step: usize, samples: usize, tallies: impl Iterator<Item = (&'n str, Tally)>) {
        let index = step - 1;
        self.samples.resize(self.samples.len().max(step), 0);
        self.samples[index] += samples;
        for (hint, (name, tally)) in tallies.enumerate() {
            if hint == self.hints.len() {
                self.hints.push((name.to_string(), Vec::new()));
            }
            let steps = &mut self.hints[hint].1;
            steps.resize(steps.len().max(step), Tally { kind: tally.kind, ..Tally::default() });
            steps[index].add(tally);
        }
    }

    /// Scores with means over `steps`, the number of predicted steps of all samples.
    fn scores(self, steps: f64) -> Vec<HintScore> {
        let HintScorer { hints, samples } = self;
        let score = |(name, tallies): (String, Vec<Tally>)| {
            let of_step = |(tally, &samples): (&Tally, &usize)| if samples > 0 { tally.score() } else { 0.0 };
            let per_step: Vec<f64> = tallies.iter().zip(&samples).map(of_step).collect();
            let counted = |(score, &samples): (&f64, &usize)| score * samples as f64;
            let score = pairwise_sum(&per_step.iter().zip(&samples).map(counted).collect::<Vec<_>>()) / steps;
            HintScore { name, score, per_step }
        };
        hints.into_iter().map(score).collect()
    }
}

/// The counts, or the sum of squares, behind a score. They add up over batches.
#[derive(Clone, Copy, Debug)]
struct Tally {
    kind: Kind,
    /// Number of correct predictions; true positives of a mask; sum of squared errors of a scalar.
    correct: f64,
    /// Number of cells that are not masked out.
    count: f64,
    false_positives: f64,
    false_negatives: f64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { kind: Kind::Scalar, correct: 0.0, count: 0.0, false_positives: 0.0, false_negatives: 0.0 }
    }
}

impl Tally {
    fn new(kind: Kind, predicted: &[f64], truth: &[f64], last: usize) -> Tally {
        let cells = || predicted.iter().zip(truth);
        let none = Tally { kind, ..Tally::default() };
        match kind {
            Kind::Scalar => {
                let squares: Vec<f64> = cells().map(|(p, t)| (p - t) * (p - t)).collect();
                Tally { correct: pairwise_sum(&squares), count: squares.len() as f64, ..none }
            }
            // As in dm-clrs, a prediction of exactly 0.5 is neither positive nor negative.
            Kind::Mask => {
                let count = |counts: fn(f64, f64) -> bool| {
                    cells().filter(|(_, t)| **t != -1.0).filter(|(p, t)| counts(**p, **t)).count() as f64
                };
                Tally {
                    correct: count(|p, t| p > 0.5 && t > 0.5),
                    false_positives: count(|p, t| p > 0.5 && t < 0.5),
                    false_negatives: count(|p, t| p < 0.5 && t > 0.5),
                    ..none
                }
            }
            // Accuracy of the argmax over rows that are not masked out.
            Kind::MaskOne | Kind::Categorical { .. } => {
                let rows = || predicted.chunks_exact(last).zip(truth.chunks_exact(last));
                let unmasked = || rows().filter(|(_, truth)| !truth.contains(&-1.0));
                let correct = unmasked().filter(|(predicted, truth)| argmax(predicted) == argmax(truth)).count() as f64;
                Tally { correct, count: unmasked().count() as f64, ..none }
            }
            Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => {
                let correct = cells().filter(|(p, t)| p == t).count() as f64;
                Tally { correct, count: truth.len() as f64, ..none }
            }
        }
    }

    fn add(&mut self, other: Tally) {
        self.correct += other.correct;
        self.count += other.count;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }

    /// F1 score of a mask over all cells that are not masked out, mean squared error of a scalar, accuracy otherwise.
    fn score(&self) -> f64 {
        if self.kind != Kind::Mask {
            return self.correct / self.count;
        }
        let ratio = |of: f64| if of > 0.0 { self.correct / of } else { 1.0 };
        let precision = ratio(self.correct + self.false_positives);
        let recall = ratio(self.correct + self.false_negatives);
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }
}

/// The truth and the prediction of a probe, as `f64`.
struct Pair<'t> {
    probe: &'t Probe,
    /// How the pair is scored: a cycle and its mask are scored as pointers.
    kind: Kind,
    truth: Cow<'t, [f64]>,
    predicted: Cow<'t, [f64]>,
    /// Length of the last axis.
    last: usize,
}

fn pairs<'t>(truth: &'t Batch, stage: Stage, predicted: &[(&str, &'t Array)]) -> Result<Vec<Pair<'t>>, ScoreError> {
    pair_up(truth, stage, predicted, |array| (array.shape.clone(), array.to_f64()))
}

/// The pairs of the hints at one step of the truth.
fn pairs_at<'t>(truth: &'t Batch, step: usize, predicted: &[(&str, &'t Array)]) -> Result<Vec<Pair<'t>>, ScoreError> {
    let steps = truth.iter().filter(|(probe, _)| probe.stage == Stage::Hint).map(|(_, array)| array.shape[0]).min();
    if let Some(steps) = steps.filter(|&steps| step >= steps) {
        return Err(ScoreError::Step { step, last: steps.saturating_sub(1) });
    }
    pair_up(truth, Stage::Hint, predicted, |array| {
        let shape = array.shape[1..].to_vec();
        let row: usize = shape.iter().product();
        let cells = match array.to_f64() {
            Cow::Borrowed(cells) => Cow::Borrowed(&cells[step * row..(step + 1) * row]),
            Cow::Owned(cells) => Cow::Owned(cells[step * row..(step + 1) * row].to_vec()),
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
        check_shape(name, &shape, prediction)?;
        let last = shape.last().copied().unwrap_or(1);
        let (kind, truth, predicted) = match probe.kind {
            Kind::Permutation => return Err(ScoreError::Permutation(name.into())),
            Kind::CyclicPermutation => {
                let mask_name = probe.mask_name();
                let mask = probes.next().filter(|(mask, _)| mask.name == mask_name);
                let (_, mask) = mask.ok_or_else(|| ScoreError::NoMask(name.into()))?;
                let predicted_mask = find(&mask_name).ok_or_else(|| ScoreError::Missing(mask_name.clone()))?;
                let (mask_shape, mask) = cells_of(mask);
                check_shape(&mask_name, &mask_shape, predicted_mask)?;
                let pointers =
                    |cycle: &[f64], mask: &[f64]| pointers_of_cycle(cycle, mask, last).map(|node| node as f64).collect();
                let truth = pointers(&truth, &mask);
                let predicted = pointers(&prediction.to_f64(), &predicted_mask.to_f64());
                (Kind::Pointer, Cow::Owned(truth), Cow::Owned(predicted))
            }
            kind => (kind, truth, prediction.to_f64()),
        };
        pairs.push(Pair { probe, kind, truth, predicted, last });
    }
    Ok(pairs)
}

/// Rejects a prediction of the wrong shape.
pub(super) fn check_shape(probe: &str, expected: &[usize], prediction: &Array) -> Result<(), ScoreError> {
    if prediction.shape == expected {
        return Ok(());
    }
    Err(ScoreError::Shape { probe: probe.into(), expected: expected.to_vec(), found: prediction.shape.clone() })
}

/// The pointers of a cycle `[.., N, N]` and the mask `[.., N]` of its first node, which points to itself.
pub(super) fn pointers_of_cycle(cycle: &[f64], mask: &[f64], nodes: usize) -> impl Iterator<Item = usize> {
    let pointer = move |(index, (row, &mask))| if mask > 0.5 { index % nodes } else { argmax(row) };
    cycle.chunks_exact(nodes).zip(mask).enumerate().map(pointer)
}

/// Index of the first maximum. As in `NumPy`, NaN is larger than any number.
pub(super) fn argmax(row: &[f64]) -> usize {
    let mut best = 0;
    for (index, x) in row.iter().enumerate() {
        if row[best].is_nan() {
            break;
        }
        if *x > row[best] || x.is_nan() {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::ArrayData;
    use crate::registry::Registry;
    use crate::sampling::{FixedSet, Sampler, SamplerOptions};

    /// The hints of one step, of the chosen samples that have it.
    fn at(batch: &Batch, step: usize, chosen: &dyn Fn(usize) -> bool, keep_axis: bool) -> Batch {
        let samples: Vec<usize> =
            (0..batch.samples()).filter(|&sample| chosen(sample) && batch.lengths[sample] > step as f64).collect();
        let hints = batch.iter().filter(|(probe, _)| probe.stage == Stage::Hint);
        let row = |array: &Array| {
            let cells = array.to_f64();
            let width = cells.len() / (array.shape[0] * batch.samples());
            let start = |sample: usize| (step * batch.samples() + sample) * width;
            let values = samples.iter().flat_map(|&sample| cells[start(sample)..][..width].to_vec()).collect();
            let mut shape = if keep_axis { vec![1, samples.len()] } else { vec![samples.len()] };
            shape.extend(&array.shape[2..]);
            Array { shape, data: ArrayData::F64(values) }
        };
        let (probes, arrays) = hints.map(|(probe, array)| (probe.clone(), row(array))).unzip();
        let spec = crate::spec::Spec::new(probes).expect("hints of a spec");
        Batch { spec, arrays, lengths: vec![1.0; samples.len()] }
    }

    #[test]
    fn accumulated_hint_scores_equal_those_of_the_complete_set() {
        for name in ["bfs", "bellman_ford", "articulation_points", "binary_search"] {
            let algorithm = Registry::builtin().find(name).expect("a built-in algorithm");
            let drawn = |seed: u32| {
                FixedSet::new(Sampler::new(algorithm, 8, seed, &SamplerOptions::default()).expect("a sampler"), 6)
                    .expect("samples")
            };
            let (truth, guess) = (drawn(1), drawn(2));
            let longest = truth.max_steps();
            let steps = longest.max(guess.max_steps());
            let dense = |set: &FixedSet| Batch::new(&set.samples(), steps);
            let (truth, mut guess) = (dense(&truth).expect("one size"), dense(&guess).expect("one size"));
            // Every step of the guess counts, whether or not its own sample has it.
            guess.lengths.fill(f64::MAX);

            let all = |step: usize| at(&guess, step, &|_| true, false);
            let rows: Vec<Batch> = (1..longest).map(all).collect();
            let named = |batch: &Batch| -> Vec<(String, Array)> {
                batch.iter().map(|(probe, array)| (probe.name.to_string(), array.clone())).collect()
            };
            let rows: Vec<Vec<(String, Array)>> = rows.iter().map(named).collect();
            let predicted: Vec<Vec<(&str, &Array)>> =
                rows.iter().map(|row| row.iter().map(|(name, array)| (&**name, array)).collect()).collect();
            let complete = evaluate_hints(&truth, &predicted).expect("scores");

            let mut scorer = HintScorer::default();
            for batch in [0..2usize, 2..6] {
                for step in 1..longest {
                    let chosen = |sample: usize| batch.contains(&sample) && truth.lengths[sample] > step as f64;
                    let (truth, guess) = (at(&truth, step, &chosen, true), at(&guess, step, &chosen, false));
                    if truth.samples() > 0 {
                        let guess = named(&guess);
                        let guess: Vec<(&str, &Array)> = guess.iter().map(|(name, array)| (&**name, array)).collect();
                        scorer.add(step, &truth, &guess).expect("predictions of the right shape");
                    }
                }
            }
            for (complete, accumulated) in complete.iter().zip(scorer.finish()) {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-12 || a.is_nan() && b.is_nan();
                assert!(near(complete.score, accumulated.score), "{name}: {complete:?}, {accumulated:?}");
                assert!(complete.per_step.iter().zip(&accumulated.per_step).all(|(a, b)| near(*a, *b)), "{name} {complete:?}");
            }
        }
    }

    fn bfs_batch() -> Batch {
        let bfs = Registry::builtin().find("bfs").expect("a built-in algorithm");
        let sampler = Sampler::new(bfs, 4, 1, &SamplerOptions::default()).expect("a sampler");
        FixedSet::new(sampler, 2).expect("samples").all().expect("a batch")
    }

    #[test]
    fn step_0_and_steps_after_the_last_are_rejected() {
        let truth = bfs_batch();
        let steps = truth.get("pi_h").expect("a hint").shape[0];
        assert_eq!(HintScorer::default().add(0, &truth, &[]), Err(ScoreError::GivenStep));
        let first = at(&truth, 0, &|_| true, false);
        let row: Vec<(&str, &Array)> = first.iter().map(|(probe, array)| (&*probe.name, array)).collect();
        assert_eq!(evaluate_hints(&truth, &vec![row; steps]), Err(ScoreError::Step { step: steps, last: steps - 1 }));
    }

    #[test]
    fn the_mask_of_a_cycle_must_have_the_right_shape() {
        let sort = Registry::builtin().find("insertion_sort").expect("a built-in algorithm");
        let sampler = Sampler::new(sort, 4, 1, &SamplerOptions::default()).expect("a sampler");
        let truth = FixedSet::new(sampler, 2).expect("samples").all().expect("a batch");
        let truth = crate::transform::cyclic_permutations(truth).expect("a permutation");
        let cycle = truth.get("pred").expect("an output");
        let short = Array { shape: vec![2, 3], data: ArrayData::F32(vec![0.0; 6]) };
        let expected = ScoreError::Shape { probe: "pred_mask".into(), expected: vec![2, 4], found: vec![2, 3] };
        assert_eq!(evaluate(&truth, &[("pred", cycle), ("pred_mask", &short)]), Err(expected));
    }
}
