use std::borrow::Cow;

use crate::batch::{Array, ArrayData, Batch};
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
    pub per_step: Vec<f64>,
}

/// Scores predicted outputs: micro-F1 for masks, accuracy otherwise, over the whole batch at once.
///
/// Predictions are dense arrays shaped as the truth's, found by name.
pub fn evaluate(truth: &Batch, predicted: &[(&str, &Array)]) -> Result<Scores, ScoreError> {
    let mut outputs = Vec::new();
    for pair in pairs(truth, Stage::Output, predicted)? {
        outputs.push((pair.probe.name.to_string(), Tally::new(pair.kind, &pair.predicted, &pair.truth, pair.last).score()));
    }
    let score = outputs.iter().fold(0.0, |sum, (_, score)| sum + score) / outputs.len() as f64;
    Ok(Scores { outputs, score })
}

/// Scores predicted hints: `predicted[i]` holds the arrays `[B, ...]` predicted for step `i + 1`. Step 0 is given, not scored.
pub fn evaluate_hints(truth: &Batch, predicted: &[Vec<(&str, &Array)>]) -> Result<Vec<HintScore>, ScoreError> {
    let longer = |step: usize| truth.lengths.iter().map(move |&length| (step as f64) < length);
    let mut scorer = HintScorer::default();
    for (i, predicted) in predicted.iter().enumerate() {
        let step = i + 1;
        let pairs = pairs_at(truth, step, predicted)?;
        let kept = |cells: &[f64]| -> Vec<f64> {
            let row = cells.len() / truth.samples();
            longer(step).zip(cells.chunks_exact(row)).filter(|(kept, _)| *kept).flat_map(|(_, row)| row.to_vec()).collect()
        };
        let tallies = pairs.iter().map(|pair| {
            let tally = Tally::new(pair.kind, &kept(&pair.predicted), &kept(&pair.truth), pair.last);
            (&*pair.probe.name, tally)
        });
        scorer.tally(step, longer(step).filter(|longer| *longer).count(), tallies);
    }
    let steps = pairwise_sum(&truth.lengths.iter().map(|length| length - 1.0).collect::<Vec<_>>());
    Ok(scorer.scores(steps))
}

/// Scores of hints that are added up step by step and batch by batch, so that a set need not be in memory whole. They are those
/// of [`evaluate_hints`] on all of it at once.
#[derive(Clone, Debug, Default)]
pub struct HintScorer {
    hints: Vec<(String, Vec<Tally>)>,
    /// How many samples have each predicted step.
    samples: Vec<usize>,
}

impl HintScorer {
    /// Adds what is predicted for a step, from 1 on, of samples that all have it: arrays `[B, ...]`. Of the truth only this step
    /// is there, `[1, B, ...]`.
    pub fn add(&mut self, step: usize, truth: &Batch, predicted: &[(&str, &Array)]) -> Result<(), ScoreError> {
        let pairs = pairs_at(truth, 0, predicted)?;
        let tally = |pair: &Pair<'_>| Tally::new(pair.kind, &pair.predicted, &pair.truth, pair.last);
        self.tally(step, truth.samples(), pairs.iter().map(|pair| (&*pair.probe.name, tally(pair))));
        Ok(())
    }

    /// Adds all that was added to another, of samples of the same algorithm.
    pub fn append(&mut self, other: &HintScorer) {
        for (place, &samples) in other.samples.iter().enumerate() {
            let tallies = other.hints.iter().map(|(name, tallies)| (&**name, tallies[place]));
            self.tally(place + 1, samples, tallies);
        }
    }

    /// The scores of all that was added.
    pub fn finish(self) -> Vec<HintScore> {
        let steps = self.samples.iter().sum::<usize>() as f64;
        self.scores(steps)
    }

    fn tally<'n>(&mut self, step: usize, samples: usize, tallies: impl Iterator<Item = (&'n str, Tally)>) {
        let place = step - 1;
        self.samples.resize(self.samples.len().max(step), 0);
        self.samples[place] += samples;
        for (hint, (name, tally)) in tallies.enumerate() {
            if hint == self.hints.len() {
                self.hints.push((name.to_string(), Vec::new()));
            }
            let steps = &mut self.hints[hint].1;
            steps.resize(steps.len().max(step), Tally { kind: tally.kind, ..Tally::default() });
            steps[place].add(tally);
        }
    }

    /// Means over so many steps of samples.
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

/// What a score is made of: counts, or a sum of squares, that add up over batches.
#[derive(Clone, Copy, Debug)]
struct Tally {
    kind: Kind,
    /// Right answers; of a mask, every yes that is one; of a scalar, the squared errors.
    right: f64,
    /// Answers that are asked for.
    asked: f64,
    false_yes: f64,
    false_no: f64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { kind: Kind::Scalar, right: 0.0, asked: 0.0, false_yes: 0.0, false_no: 0.0 }
    }
}

impl Tally {
    fn new(kind: Kind, predicted: &[f64], truth: &[f64], last: usize) -> Tally {
        let cells = || predicted.iter().zip(truth);
        let none = Tally { kind, ..Tally::default() };
        match kind {
            Kind::Scalar => {
                let squares: Vec<f64> = cells().map(|(p, t)| (p - t) * (p - t)).collect();
                Tally { right: pairwise_sum(&squares), asked: squares.len() as f64, ..none }
            }
            // A prediction of exactly 0.5 is neither yes nor no.
            Kind::Mask => {
                let count = |counts: fn(f64, f64) -> bool| {
                    cells().filter(|(_, t)| **t != -1.0).filter(|(p, t)| counts(**p, **t)).count() as f64
                };
                Tally {
                    right: count(|p, t| p > 0.5 && t > 0.5),
                    false_yes: count(|p, t| p > 0.5 && t < 0.5),
                    false_no: count(|p, t| p < 0.5 && t > 0.5),
                    ..none
                }
            }
            // How often the largest of a row is where it should be, over rows that are asked.
            Kind::MaskOne | Kind::Categorical { .. } => {
                let rows = || predicted.chunks_exact(last).zip(truth.chunks_exact(last));
                let asked = || rows().filter(|(_, truth)| !truth.contains(&-1.0));
                let right = asked().filter(|(predicted, truth)| argmax(predicted) == argmax(truth)).count() as f64;
                Tally { right, asked: asked().count() as f64, ..none }
            }
            Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => {
                let right = cells().filter(|(p, t)| p == t).count() as f64;
                Tally { right, asked: truth.len() as f64, ..none }
            }
        }
    }

    fn add(&mut self, other: Tally) {
        self.right += other.right;
        self.asked += other.asked;
        self.false_yes += other.false_yes;
        self.false_no += other.false_no;
    }

    /// Of a mask the F1 score of "yes" over all cells that are asked, of a scalar the mean squared error, else the share of
    /// right answers.
    fn score(&self) -> f64 {
        if self.kind != Kind::Mask {
            return self.right / self.asked;
        }
        let share = |of: f64| if of > 0.0 { self.right / of } else { 1.0 };
        let (precision, recall) = (share(self.right + self.false_yes), share(self.right + self.false_no));
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }
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
        ArrayData::F64(cells) => Cow::Borrowed(cells),
        ArrayData::F32(cells) => Cow::Owned(cells.iter().map(|&x| f64::from(x)).collect()),
        ArrayData::I64(cells) => Cow::Owned(cells.iter().map(|&x| x as f64).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::sampling::{FixedSet, Sampler, SamplerOptions};
    use crate::trajectory::Trajectory;

    /// Of every array the row of one step, of the samples that have it, and of those that are chosen.
    fn at(batch: &Batch, step: usize, chosen: &dyn Fn(usize) -> bool, keep_axis: bool) -> Batch {
        let samples: Vec<usize> =
            (0..batch.samples()).filter(|&sample| chosen(sample) && batch.lengths[sample] > step as f64).collect();
        let hints = batch.iter().filter(|(probe, _)| probe.stage == Stage::Hint);
        let row = |array: &Array| {
            let cells = cells(array);
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
    fn hints_added_batch_by_batch_are_scored_as_all_at_once() {
        for name in ["bfs", "bellman_ford", "articulation_points", "binary_search"] {
            let algorithm = Registry::builtin().find(name).expect("it is there");
            let drawn = |seed: u32| {
                FixedSet::new(Sampler::new(algorithm, 8, seed, &SamplerOptions::default()).expect("a sampler"), 6)
                    .expect("samples")
            };
            let (truth, guess) = (drawn(1), drawn(2));
            let longest = truth.trajectories().max_steps();
            let steps = truth.trajectories().max_steps().max(guess.trajectories().max_steps());
            let dense = |set: &FixedSet| Batch::new(&set.trajectories().iter().collect::<Vec<Trajectory<'_>>>(), steps);
            let (truth, mut guess) = (dense(&truth).expect("one size"), dense(&guess).expect("one size"));
            // Of a guess every step counts, whether or not its own run has it.
            guess.lengths.fill(f64::MAX);

            let all = |step: usize| at(&guess, step, &|_| true, false);
            let rows: Vec<Batch> = (1..longest).map(all).collect();
            let named = |batch: &Batch| -> Vec<(String, Array)> {
                batch.iter().map(|(probe, array)| (probe.name.to_string(), array.clone())).collect()
            };
            let rows: Vec<Vec<(String, Array)>> = rows.iter().map(named).collect();
            let predicted: Vec<Vec<(&str, &Array)>> =
                rows.iter().map(|row| row.iter().map(|(name, array)| (&**name, array)).collect()).collect();
            let whole = evaluate_hints(&truth, &predicted).expect("scores");

            let mut scorer = HintScorer::default();
            for part in [0..2usize, 2..6] {
                for step in 1..longest {
                    let chosen = |sample: usize| part.contains(&sample) && truth.lengths[sample] > step as f64;
                    let (truth, guess) = (at(&truth, step, &chosen, true), at(&guess, step, &chosen, false));
                    if truth.samples() > 0 {
                        let guess = named(&guess);
                        let guess: Vec<(&str, &Array)> = guess.iter().map(|(name, array)| (&**name, array)).collect();
                        scorer.add(step, &truth, &guess).expect("of the right shape");
                    }
                }
            }
            for (whole, parts) in whole.iter().zip(scorer.finish()) {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-12 || a.is_nan() && b.is_nan();
                assert!(near(whole.score, parts.score), "{name}: {whole:?}, {parts:?}");
                assert!(whole.per_step.iter().zip(&parts.per_step).all(|(a, b)| near(*a, *b)), "{name} {whole:?}");
            }
        }
    }
}
