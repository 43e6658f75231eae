//! Hint scores, accumulated while the network runs: all steps of a batch can take gigabytes.

use clrs::score::HintScorer;
use clrs::{Array, ArrayData, Batch as DenseBatch, Cells, Probe, Spec, Stage, Trajectories, Trajectory};

use super::metrics::EvalError;
use super::predictions::{write, zeros};
use crate::data::batch::ModelBatch;
use crate::data::transform::BatchTransform;
use crate::model::rollout::StepView;

/// Compares the predicted hints of a batch with the true ones. The transform has no random positions.
pub(super) struct HintScoreObserver<'o> {
    samples: &'o [Trajectory<'o>],
    transform: &'o BatchTransform,
    batch: &'o ModelBatch,
    scorer: &'o mut HintScorer,
    /// Last decisions on every hint, by its index in the spec. Those on samples that have ended stay.
    decisions: Vec<(usize, Array)>,
    /// Step that is predicted next.
    next: usize,
    error: Option<EvalError>,
}

impl<'o> HintScoreObserver<'o> {
    pub(super) fn new(
        samples: &'o [Trajectory<'o>],
        transform: &'o BatchTransform,
        batch: &'o ModelBatch,
        scorer: &'o mut HintScorer,
    ) -> HintScoreObserver<'o> {
        HintScoreObserver { samples, transform, batch, scorer, decisions: Vec::new(), next: 1, error: None }
    }

    pub(super) fn observe(&mut self, view: &StepView<'_>) {
        let batch = self.batch;
        if self.decisions.is_empty() {
            self.decisions = view.hints.iter().map(|(index, _)| (*index, zeros(&batch.spec()[*index], batch))).collect();
        }
        for ((index, logits), (_, array)) in view.hints.iter().zip(&mut self.decisions) {
            let samples = view.active.iter().map(|&sample| batch.order()[sample]);
            if let Err(error) = write(&batch.spec()[*index], batch.nodes(), logits.clone(), samples, array) {
                self.error.get_or_insert(error);
            }
        }
        self.score();
    }

    /// Scores the remaining steps, which the network did not take.
    pub(super) fn finish(mut self) -> Result<(), EvalError> {
        let longest = self.samples.iter().map(Trajectory::steps).max().unwrap_or(0);
        while self.next < longest && !self.decisions.is_empty() {
            self.score();
        }
        self.error.map_or(Ok(()), Err)
    }

    /// Scores the next step of the samples that have it.
    fn score(&mut self) {
        let step = self.next;
        self.next += 1;
        let longer: Vec<usize> = (0..self.samples.len()).filter(|&sample| self.samples[sample].steps() > step).collect();
        if longer.is_empty() || self.error.is_some() || self.decisions.is_empty() {
            return;
        }
        let scored = || {
            let truth = self.transform.apply(hint_row(self.samples, &longer, step)?, 0)?;
            let select = |(index, array): &(usize, Array)| (self.batch.spec()[*index].name.clone(), select(array, &longer));
            let predicted: Vec<_> = self.decisions.iter().map(select).collect();
            let named: Vec<(&str, &Array)> = predicted.iter().map(|(name, array)| (&**name, array)).collect();
            Ok::<_, EvalError>(self.scorer.add(step, &truth, &named)?)
        };
        self.error = { scored }().err();
    }
}

/// One step of the hints of some samples.
fn hint_row(samples: &[Trajectory<'_>], indices: &[usize], step: usize) -> Result<DenseBatch, EvalError> {
    let is_hint = |probe: &&Probe| probe.stage == Stage::Hint;
    let spec = samples[0].spec().iter().filter(is_hint).cloned().collect();
    let mut rows = Trajectories::new(Spec::new(spec).expect("names are unique"));
    for sample in indices.iter().map(|&index| &samples[index]) {
        let cells = sample.iter().filter(|(probe, _)| is_hint(probe)).map(|(probe, cells)| {
            let width = probe.width(sample.nodes());
            cells.slice(step * width..(step + 1) * width)
        });
        rows.push(sample.nodes(), 1, &cells.collect::<Vec<Cells<'_>>>()).expect("a row of a sample of this spec");
    }
    Ok(DenseBatch::new(&rows.iter().collect::<Vec<_>>(), 0)?)
}

/// Samples of an array by index.
fn select(array: &Array, indices: &[usize]) -> Array {
    let ArrayData::F64(values) = &array.data else { unreachable!("decisions are f64") };
    let row = values.len() / array.shape[0];
    let values = indices.iter().flat_map(|&index| &values[index * row..][..row]).copied().collect();
    Array { shape: [&[indices.len()], &array.shape[1..]].concat(), data: ArrayData::F64(values) }
}
