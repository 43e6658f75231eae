//! Scores of hints while a network runs: a step at a time, since all steps of a batch can take gigabytes.

use clrs::score::HintScorer;
use clrs::{Array, ArrayData, Batch as Dense, Cells, Probe, Spec, Stage, Trajectories, Trajectory};

use crate::answers::{undecided, write};
use crate::batch::Batch;
use crate::data::Changes;
use crate::evaluate::EvaluateError;
use crate::network::Shown;

/// Compares the hints that a batch of samples predicts with those they have. Changes are without random positions.
pub(crate) struct HintWatch<'w> {
    samples: &'w [Trajectory<'w>],
    changes: &'w Changes,
    batch: &'w Batch,
    scorer: &'w mut HintScorer,
    /// What was decided last on every hint, by its place in the spec. Of samples that have ended it stays.
    decided: Vec<(usize, Array)>,
    /// The step that is predicted next.
    next: usize,
    error: Option<EvaluateError>,
}

impl<'w> HintWatch<'w> {
    pub(crate) fn new(
        samples: &'w [Trajectory<'w>],
        changes: &'w Changes,
        batch: &'w Batch,
        scorer: &'w mut HintScorer,
    ) -> HintWatch<'w> {
        HintWatch { samples, changes, batch, scorer, decided: Vec::new(), next: 1, error: None }
    }

    pub(crate) fn see(&mut self, shown: &Shown<'_>) {
        let batch = self.batch;
        if self.decided.is_empty() {
            self.decided = shown.hints.iter().map(|(place, _)| (*place, undecided(&batch.spec()[*place], batch))).collect();
        }
        for ((place, logits), (_, array)) in shown.hints.iter().zip(&mut self.decided) {
            let places = shown.alive.iter().map(|&at| batch.order()[at]);
            write(&batch.spec()[*place], batch.nodes(), logits.clone(), places, array);
        }
        self.score();
    }

    /// Scores steps that the network did not take any more, too.
    pub(crate) fn finish(mut self) -> Result<(), EvaluateError> {
        let longest = self.samples.iter().map(Trajectory::steps).max().unwrap_or(0);
        while self.next < longest && !self.decided.is_empty() {
            self.score();
        }
        self.error.map_or(Ok(()), Err)
    }

    /// Scores the next step of the samples that have it.
    fn score(&mut self) {
        let step = self.next;
        self.next += 1;
        let longer: Vec<usize> = (0..self.samples.len()).filter(|&sample| self.samples[sample].steps() > step).collect();
        if longer.is_empty() || self.error.is_some() || self.decided.is_empty() {
            return;
        }
        let scored = || {
            let truth = self.changes.apply(row(self.samples, &longer, step)?, 0)?;
            let of = |(place, array): &(usize, Array)| (self.batch.spec()[*place].name.clone(), some(array, &longer));
            let predicted: Vec<_> = self.decided.iter().map(of).collect();
            let named: Vec<(&str, &Array)> = predicted.iter().map(|(name, array)| (&**name, array)).collect();
            Ok::<_, EvaluateError>(self.scorer.add(step, &truth, &named)?)
        };
        self.error = { scored }().err();
    }
}

/// One step of the hints of some samples.
fn row(samples: &[Trajectory<'_>], places: &[usize], step: usize) -> Result<Dense, EvaluateError> {
    let is_hint = |probe: &&Probe| probe.stage == Stage::Hint;
    let spec = samples[0].spec().iter().filter(is_hint).cloned().collect();
    let mut runs = Trajectories::new(Spec::new(spec).expect("names are taken once"));
    for sample in places.iter().map(|&place| &samples[place]) {
        let cells = sample.iter().filter(|(probe, _)| is_hint(probe)).map(|(probe, cells)| {
            let width = probe.width(sample.nodes());
            cells.slice(step * width..(step + 1) * width)
        });
        runs.push(sample.nodes(), 1, &cells.collect::<Vec<Cells<'_>>>()).expect("cells of a run of these probes");
    }
    Ok(Dense::new(&runs.iter().collect::<Vec<_>>(), 0)?)
}

/// Some samples of an array.
fn some(array: &Array, places: &[usize]) -> Array {
    let ArrayData::F64(values) = &array.data else { unreachable!("decisions are f64") };
    let row = values.len() / array.shape[0];
    let values = places.iter().flat_map(|&place| &values[place * row..][..row]).copied().collect();
    Array { shape: [&[places.len()], &array.shape[1..]].concat(), data: ArrayData::F64(values) }
}
