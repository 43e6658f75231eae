//! Termination without knowing the number of steps: a sample ends when the network's decisions repeat.

use clrs::{Kind, Spec};

use super::end_policy::{EndPolicy, Remaining, StepResult, batch_inputs, probe_values};
use super::feedback::{self, SINKHORN_SCORED};
use super::network::{Network, ProbeLogits};
use super::raw_features::RawFeatures;
use crate::data::batch::ModelBatch;
use crate::exec::context::ForwardContext;
use crate::exec::tensor::Tensor;

/// Ends a sample when a step decides as the step before it did, or after `max_steps`.
pub(super) struct Fixpoint<'c, 'b> {
    batch: &'b ModelBatch,
    ctx: &'c ForwardContext,
    max_steps: usize,
    inputs: RawFeatures,
    active: Vec<usize>,
    step: usize,
    /// Decisions of the previous step on the active samples.
    previous: Option<Decisions>,
    /// Output logits of samples that have ended, `[B, R, K]`.
    outputs: Vec<(usize, Vec<f32>)>,
}

impl<'c, 'b> Fixpoint<'c, 'b> {
    pub(super) fn new(network: &Network, ctx: &'c ForwardContext, batch: &'b ModelBatch, max_steps: usize) -> Fixpoint<'c, 'b> {
        let (inputs, active) = (batch_inputs(network, ctx, batch), (0..batch.samples()).collect());
        Fixpoint { batch, ctx, max_steps, inputs, active, step: 0, previous: None, outputs: Vec::new() }
    }

    /// Output logits of all samples, in the order of the batch.
    pub(super) fn outputs(self) -> ProbeLogits {
        let (batch, ctx) = (self.batch, self.ctx);
        let tensor = |(index, values)| (index, ctx.tensor(values, batch.shape(index, batch.samples())));
        self.outputs.into_iter().map(tensor).collect()
    }

    /// Stores the outputs of samples that have ended.
    fn store(&mut self, outputs: &ProbeLogits, ended: &[usize]) {
        for (number, (index, logits)) in outputs.iter().enumerate() {
            let width: usize = self.batch.shape(*index, 1).iter().product();
            if number == self.outputs.len() {
                self.outputs.push((*index, vec![0.0; self.batch.samples() * width]));
            }
            if ended.is_empty() {
                continue;
            }
            let logits = logits.clone().into_vec();
            let stored = &mut self.outputs[number].1;
            for &position in ended {
                stored[self.active[position] * width..][..width].copy_from_slice(&logits[position * width..][..width]);
            }
        }
    }
}

impl<'c> EndPolicy<'c> for Fixpoint<'c, '_> {
    fn active(&self) -> &[usize] {
        &self.active
    }

    fn inputs(&mut self) -> RawFeatures {
        self.inputs.clone()
    }

    fn true_hint(&self, index: usize) -> Tensor<3> {
        probe_values(self.ctx, self.batch, index, self.step, self.active.len())
    }

    fn decodes_outputs(&self) -> bool {
        true
    }

    fn advance(&mut self, StepResult { hints, outputs, .. }: StepResult<'c, '_>) -> Remaining {
        let outputs = outputs.expect("outputs are decoded at every step");
        let decisions = Decisions::new(self.batch.spec(), outputs.iter().chain(hints));
        self.step += 1;
        let is_last = self.step >= self.max_steps;
        let repeats = |position: usize| self.previous.as_ref().is_some_and(|previous| decisions.repeat(previous, position));
        let (ended, continuing): (Vec<usize>, Vec<usize>) =
            (0..self.active.len()).partition(|&position| is_last || repeats(position));
        self.store(outputs, &ended);
        if ended.is_empty() {
            self.previous = Some(decisions);
            return Remaining::All;
        }
        self.active = continuing.iter().map(|&position| self.active[position]).collect();
        if continuing.is_empty() {
            return Remaining::None;
        }
        self.inputs = self.inputs.index_select(&continuing);
        self.previous = Some(decisions.select(&continuing));
        Remaining::Subset(continuing)
    }
}

/// Hard decisions of a step: for each probe, the values of all samples and the number of values per sample.
struct Decisions(Vec<(Vec<f32>, usize)>);

impl Decisions {
    fn new<'l>(spec: &Spec, logits: impl Iterator<Item = &'l (usize, Tensor<3>)>) -> Decisions {
        let is_decision = |(index, _): &&(usize, Tensor<3>)| spec[*index].kind != Kind::Scalar;
        let decide = |(index, logits): &(usize, Tensor<3>)| {
            let shape = logits.dims();
            let mut decided = logits.clone().into_vec();
            feedback::decide(spec[*index].kind, &mut decided, shape, SINKHORN_SCORED);
            (decided, shape[1] * shape[2])
        };
        Decisions(logits.filter(is_decision).map(decide).collect())
    }

    /// Whether a sample has decisions and all are as before.
    fn repeat(&self, previous: &Decisions, position: usize) -> bool {
        !self.0.is_empty() && self.of(position).eq(previous.of(position))
    }

    fn of(&self, position: usize) -> impl Iterator<Item = &[f32]> {
        self.0.iter().map(move |(values, width)| &values[position * width..][..*width])
    }

    fn select(&self, positions: &[usize]) -> Decisions {
        let select = |(values, width): &(Vec<f32>, usize)| {
            (positions.iter().flat_map(|at| &values[at * width..][..*width]).copied().collect(), *width)
        };
        Decisions(self.0.iter().map(select).collect())
    }
}
