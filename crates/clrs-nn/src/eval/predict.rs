//! Predictions on a batch: decisions and logits, at the end or at every step.

use clrs::{Array, ArrayData, Probe};

use super::dump;
use super::metrics::EvalError;
use super::predictions::decide;
use crate::data::batch::{ModelBatch, eval_micro_batch};
use crate::exec::parallel;
use crate::exec::weights::Weights;
use crate::model::network::{Mode, Network};
use crate::model::rollout::{StepView, Termination};

/// What is returned beside the decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PredictOptions {
    /// Whether the outputs of every step are returned, not only those of a sample's last step.
    pub all_outputs: bool,
    /// Whether the logits of hints are returned.
    pub hints: bool,
    /// Whether hidden states are returned.
    pub hidden: bool,
    /// Number of steps that are returned. All samples take them, but outputs do not change after a sample's last step. At least
    /// as many as the longest sample has.
    pub steps: usize,
}

impl PredictOptions {
    /// Sets [`PredictOptions::all_outputs`].
    #[must_use]
    pub fn all_outputs(self, all_outputs: bool) -> PredictOptions {
        PredictOptions { all_outputs, ..self }
    }

    /// Sets [`PredictOptions::hints`].
    #[must_use]
    pub fn hints(self, hints: bool) -> PredictOptions {
        PredictOptions { hints, ..self }
    }

    /// Sets [`PredictOptions::hidden`].
    #[must_use]
    pub fn hidden(self, hidden: bool) -> PredictOptions {
        PredictOptions { hidden, ..self }
    }

    /// Sets [`PredictOptions::steps`].
    #[must_use]
    pub fn steps(self, steps: usize) -> PredictOptions {
        PredictOptions { steps, ..self }
    }
}

/// Predictions of a network on a batch, samples in the order of the dense batch. All arrays are f32.
///
/// `...` is `[N]` for nodes, `[N, N]` for edges and nothing for the graph, with one more axis for the classes of a categorical and,
/// in logits, for the candidate nodes of a pointer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Decisions on every output, `[B, ...]`; those of every step, `[S, B, ...]`, if requested.
    pub outputs: Vec<Array>,
    /// Logits of the outputs.
    pub output_logits: Vec<Array>,
    /// Logits of the hints that every step predicts, `[S, B, ...]`, by index in the spec, if requested.
    pub hints: Vec<(usize, Array)>,
    /// Hidden states after every step, `[S, B, N, H]`, if requested.
    pub hidden: Option<Array>,
}

/// Decisions of a network on a batch with the true number of steps: a dense array per output, in the order of the dense batch. Runs in
/// micro-batches, in parallel.
///
/// # Errors
/// If a logit is not finite.
pub fn predict(network: &Network, weights: &Weights, task: usize, batch: &ModelBatch) -> Result<Vec<Array>, EvalError> {
    Ok(predict_with(network, weights, task, batch, PredictOptions::default())?.outputs)
}

/// [`predict`] with more results.
///
/// # Errors
/// As [`predict`].
pub fn predict_with(
    network: &Network,
    weights: &Weights,
    task: usize,
    batch: &ModelBatch,
    options: PredictOptions,
) -> Result<Prediction, EvalError> {
    let PredictOptions { all_outputs, hints, hidden, steps } = options;
    let steps = if all_outputs || hints || hidden { Some(steps.max(batch.steps())) } else { None };
    let collect = |micro_batch: ModelBatch| {
        let ctx = network.context(weights, task);
        let mut collected = Collected::default();
        if let Some(steps) = steps {
            network.unroll_all_steps(&ctx, &micro_batch, steps, &mut |view| collected.observe(view, &micro_batch, options));
        } else {
            let logits = network.unroll(&ctx, &micro_batch, Termination::TrueLength, Mode::Evaluate, &mut |_| {});
            collected.outputs = logits.into_iter().map(|(index, logits)| (index, logits.into_vec())).collect();
        }
        let decide =
            |(index, logits): &(usize, Vec<f32>)| Ok((*index, decide(&batch.spec()[*index], batch.nodes(), logits.clone())?));
        collected.decided = collected.outputs.iter().map(decide).collect::<Result<_, EvalError>>()?;
        Ok((micro_batch.order().to_vec(), collected))
    };
    let parts = parallel::map(batch.micro_batches(eval_micro_batch(batch.nodes())), collect);
    let parts = parts.into_iter().collect::<Result<Vec<_>, EvalError>>()?;

    let rows = |of_all_steps: bool| steps.filter(|_| of_all_steps);
    let probe = |index: usize| &batch.spec()[index];
    let dense_shape = |probe: &Probe| clrs::batch::row_shape(probe, batch.nodes());
    let logit_shape = |probe: &Probe| dump::shape(probe, batch.nodes());
    let gathered = |of: fn(&Collected) -> &Values, rows, shape: &dyn Fn(&Probe) -> Vec<usize>| -> Vec<(usize, Array)> {
        let count = parts.first().map_or(0, |(_, part)| of(part).len());
        let gather = |number: usize| {
            let index = of(&parts[0].1)[number].0;
            let parts = parts.iter().map(|(order, part)| (&order[..], &of(part)[number].1[..]));
            (index, gather(parts, rows, batch.samples(), &shape(probe(index))))
        };
        (0..count).map(gather).collect()
    };
    let arrays = |arrays: Vec<(usize, Array)>| arrays.into_iter().map(|(_, array)| array).collect();
    let size = network.config().hidden;
    Ok(Prediction {
        outputs: arrays(gathered(|part| &part.decided, rows(all_outputs), &dense_shape)),
        output_logits: arrays(gathered(|part| &part.outputs, rows(all_outputs), &logit_shape)),
        hints: gathered(|part| &part.hints, rows(hints), &logit_shape),
        hidden: hidden.then(|| {
            let parts = parts.iter().map(|(order, part)| (&order[..], &part.hidden[..]));
            gather(parts, rows(true), batch.samples(), &[batch.nodes(), size])
        }),
    })
}

/// Values of probes by index in the spec, `[S, b, ...]` or `[b, ...]`.
type Values = Vec<(usize, Vec<f32>)>;

/// What is collected from the `b` samples of a micro-batch.
#[derive(Default)]
struct Collected {
    decided: Values,
    outputs: Values,
    hints: Values,
    hidden: Vec<f32>,
}

impl Collected {
    fn observe(&mut self, view: &StepView<'_>, batch: &ModelBatch, options: PredictOptions) {
        if options.hidden {
            self.hidden.extend(view.hidden.clone().into_vec());
        }
        if options.hints {
            for (number, (index, logits)) in view.hints.iter().enumerate() {
                if number == self.hints.len() {
                    self.hints.push((*index, Vec::new()));
                }
                self.hints[number].1.extend(logits.clone().into_vec());
            }
        }
        // The longest samples are first.
        let active = batch.active(view.step);
        for (number, (index, logits)) in view.outputs.into_iter().flatten().enumerate() {
            let logits = logits.clone().into_vec();
            if number == self.outputs.len() {
                self.outputs.push((*index, logits));
                continue;
            }
            let all = &mut self.outputs[number].1;
            let (last, active) = (all.len() - logits.len(), active * logits.len() / batch.samples());
            if options.all_outputs {
                all.extend_from_within(last..);
                all[last + logits.len()..][..active].copy_from_slice(&logits[..active]);
            } else {
                all[..active].copy_from_slice(&logits[..active]);
            }
        }
    }
}

/// Joins the values of micro-batches, each with the indices of its samples. `rows` is the length of the axis of steps, if there is one.
fn gather<'p>(
    parts: impl Iterator<Item = (&'p [usize], &'p [f32])>,
    rows: Option<usize>,
    samples: usize,
    shape: &[usize],
) -> Array {
    let width: usize = shape.iter().product();
    let mut values = vec![0.0; rows.unwrap_or(1) * samples * width];
    for (order, part) in parts {
        for (row, part) in values.chunks_exact_mut(samples * width).zip(part.chunks_exact(order.len() * width)) {
            for (sample, values) in order.iter().zip(part.chunks_exact(width)) {
                row[sample * width..][..width].copy_from_slice(values);
            }
        }
    }
    let shape = rows.into_iter().chain([samples]).chain(shape.iter().copied()).collect();
    Array { shape, data: ArrayData::F32(values) }
}
