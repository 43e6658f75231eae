//! The rollout: the network is applied once per step of the algorithm, until every sample has ended.
//!
//! Step `t` reads hint `t` (the first is always the true one) and predicts hint `t + 1`. One loop serves training, evaluation
//! and chunks; *when a sample ends* is an `EndPolicy`. Samples that have ended are dropped from the batch. dm-clrs computes all
//! steps for all samples and masks; the results are the same.

use clrs::{Kind, Stage, cancel};

use super::decoders::DecoderInput;
use super::end_policy::{EndPolicy, Remaining, StepResult, batch_inputs, probe_values};
use super::feedback::{self, SINKHORN_FEEDBACK};
use super::fixpoint::Fixpoint;
use super::network::{Mode, Network, ProbeLogits, RolloutState};
use super::noise::{force, teacher_forcing};
use super::raw_features::{RawFeatures, first};
use crate::config::model::Feedback;
use crate::data::batch::ModelBatch;
use crate::exec::context::ForwardContext;
use crate::exec::tensor::Tensor;

/// When the samples of a rollout end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Termination {
    /// After as many steps as the algorithm took.
    TrueLength,
    /// After the same number of steps for every sample, at least one. Lengths are not read.
    Fixed(usize),
    /// As soon as a step makes the same decisions on all outputs and hints as the step before it, or after `max_steps`. Scalars
    /// are not compared. Lengths are not read.
    Fixpoint {
        /// Upper bound on the number of steps.
        max_steps: usize,
    },
}

/// One step of a rollout, as observers see it.
pub struct StepView<'s> {
    /// Number of the step, from 0.
    pub step: usize,
    /// Samples that took the step, as indices into the batch.
    pub active: &'s [usize],
    /// Hidden states after the step, `[active * N, H]`.
    pub hidden: &'s Tensor<2>,
    /// Logits of the hints that the step predicts.
    pub hints: &'s [(usize, Tensor<3>)],
    /// Logits of the outputs, if the rollout decodes them at every step.
    pub outputs: Option<&'s [(usize, Tensor<3>)]>,
}

impl Network {
    /// Unrolls a batch and returns the logits of every output, samples in the order of the batch.
    ///
    /// `observe` is called after every step.
    pub fn unroll(
        &self,
        ctx: &ForwardContext,
        batch: &ModelBatch,
        termination: Termination,
        mut mode: Mode<'_>,
        observe: &mut dyn FnMut(&StepView<'_>),
    ) -> ProbeLogits {
        let fixed;
        let batch = match termination {
            Termination::Fixed(steps) => {
                fixed = batch.clone().with_steps(steps);
                &fixed
            }
            Termination::TrueLength | Termination::Fixpoint { .. } => batch,
        };
        if let Termination::Fixpoint { max_steps } = termination {
            let mut policy = Fixpoint::new(self, ctx, batch, max_steps);
            self.roll(ctx, &mut policy, RolloutState::default(), &mut mode, observe);
            return policy.outputs();
        }
        let mut policy = ByLength::new(self, ctx, batch);
        self.roll(ctx, &mut policy, RolloutState::default(), &mut mode, observe);
        self.decode(ctx, &policy.decoder_input(), Stage::Output, &mut mode)
    }

    /// Unrolls all samples of a batch for the same number of steps, at least one, without teacher forcing. Decodes the outputs at
    /// every step, for `observe`.
    pub fn unroll_all_steps(
        &self,
        ctx: &ForwardContext,
        batch: &ModelBatch,
        steps: usize,
        observe: &mut dyn FnMut(&StepView<'_>),
    ) {
        let batch = batch.clone().with_steps(steps);
        let mut policy = ByLength { decodes_outputs: true, ..ByLength::new(self, ctx, &batch) };
        self.roll(ctx, &mut policy, RolloutState::default(), &mut Mode::Evaluate, observe);
    }

    /// The loop over steps. Returns the state after the last one.
    pub(super) fn roll<'c>(
        &self,
        ctx: &'c ForwardContext,
        policy: &mut dyn EndPolicy<'c>,
        mut state: RolloutState,
        mode: &mut Mode<'_>,
        observe: &mut dyn FnMut(&StepView<'_>),
    ) -> RolloutState {
        for step in 0.. {
            cancel::check();
            if policy.active().is_empty() {
                break;
            }
            let features = policy.inputs();
            let nodes = features.nodes();
            let hints = self.read_hints(ctx, policy, state.hints.as_ref(), mode);
            if let Some(restarts) = policy.restarts() {
                state.reset(ctx, restarts, nodes);
            }
            let (decoder_input, lstm) = self.step(ctx, features, &hints, &state, mode);
            let hints = self.decode(ctx, &decoder_input, Stage::Hint, mode);
            let outputs = policy.decodes_outputs().then(|| self.decode(ctx, &decoder_input, Stage::Output, mode));
            observe(&StepView {
                step,
                active: policy.active(),
                hidden: &decoder_input.next,
                hints: &hints,
                outputs: outputs.as_deref(),
            });
            let remaining =
                policy.advance(StepResult { decoder_input: &decoder_input, hints: &hints, outputs: outputs.as_ref() });
            let hints = self.config().hint_mode.decodes().then_some(hints);
            state = RolloutState { hidden: Some(decoder_input.next), lstm, hints }.retain(&remaining, nodes);
        }
        state
    }

    /// The hints that a step reads: the true ones where no prediction exists or teacher forcing decides so, else the predicted ones.
    fn read_hints(
        &self,
        ctx: &ForwardContext,
        policy: &dyn EndPolicy<'_>,
        predicted: Option<&ProbeLogits>,
        mode: &mut Mode<'_>,
    ) -> ProbeLogits {
        let spec = &self.tasks()[ctx.task()].spec;
        let samples = policy.active().len();
        let mut forced = vec![false; samples];
        if (predicted.is_some() || policy.restarts().is_some())
            && let Mode::Train(random) = mode
            && let Some(draws) = teacher_forcing(self.config().teacher_forcing, samples, random.as_deref_mut())
        {
            forced = draws;
        }
        for (forced, restarts) in forced.iter_mut().zip(policy.restarts().into_iter().flatten()) {
            *forced |= restarts;
        }
        let is_evaluation = matches!(mode, Mode::Evaluate);
        let read = |index: usize| match predicted.and_then(|predicted| predicted.iter().find(|(of, _)| *of == index)) {
            None => policy.true_hint(index),
            Some((_, logits)) => {
                let fed_back = self.feed_back(ctx, spec[index].kind, logits.clone(), is_evaluation);
                force(ctx, &forced, fed_back, || policy.true_hint(index))
            }
        };
        self.encoders(ctx.task()).of(spec, Stage::Hint).map(|encoder| (encoder.probe, read(encoder.probe))).collect()
    }

    /// Values of a predicted hint as the next step reads them.
    fn feed_back(&self, ctx: &ForwardContext, kind: Kind, logits: Tensor<3>, is_evaluation: bool) -> Tensor<3> {
        let hard = match self.config().feedback {
            Feedback::Soft => false,
            Feedback::Hard | Feedback::Hard2022 => true,
            Feedback::HardOnEval => is_evaluation,
        };
        match (hard, kind) {
            (true, Kind::Scalar) if self.config().feedback == Feedback::Hard2022 => logits,
            (true, _) => feedback::hard(ctx, kind, logits, SINKHORN_FEEDBACK),
            (false, _) => feedback::soft(ctx, kind, logits),
        }
    }
}

impl RolloutState {
    /// Zeroes the hidden states of samples that start.
    fn reset(&mut self, ctx: &ForwardContext, restarts: &[bool], nodes: usize) {
        if !restarts.contains(&true) {
            return;
        }
        let factors: Vec<f32> = restarts.iter().flat_map(|&restarts| vec![f32::from(!restarts); nodes]).collect();
        let mask = |rows: Tensor<2>| rows * ctx.tensor(factors.clone(), [restarts.len() * nodes, 1]);
        self.hidden = self.hidden.take().map(mask);
        self.lstm = self.lstm.take().map(|lstm| lstm.map(mask));
    }

    /// Selects the samples that continue.
    fn retain(self, remaining: &Remaining, nodes: usize) -> RolloutState {
        let RolloutState { hidden, lstm, hints } = self;
        let map = |hints: Option<ProbeLogits>, change: &dyn Fn(Tensor<3>) -> Tensor<3>| {
            hints.map(|hints| hints.into_iter().map(|(index, logits)| (index, change(logits))).collect())
        };
        match remaining {
            Remaining::All => RolloutState { hidden, lstm, hints },
            Remaining::None => RolloutState::default(),
            Remaining::First(samples) => {
                let rows = |rows: Tensor<2>| rows.rows(0..samples * nodes);
                let hints = map(hints, &|logits| first(&logits, *samples));
                RolloutState { hidden: hidden.map(rows), lstm: lstm.map(|lstm| lstm.map(rows)), hints }
            }
            Remaining::Subset(samples) => {
                let indices: Vec<usize> = samples.iter().flat_map(|sample| sample * nodes..(sample + 1) * nodes).collect();
                let rows = |rows: Tensor<2>| rows.index_select(&indices);
                let hints = map(hints, &|logits| logits.index_select(samples));
                RolloutState { hidden: hidden.map(rows), lstm: lstm.map(|lstm| lstm.map(rows)), hints }
            }
        }
    }
}

/// Samples end after the number of steps that their lengths give. A batch has its longest samples first, so the active ones are a
/// prefix, and outputs are decoded once, when all samples have ended.
struct ByLength<'c, 'b> {
    batch: &'b ModelBatch,
    ctx: &'c ForwardContext,
    inputs: RawFeatures,
    samples: Vec<usize>,
    step: usize,
    /// Decoder inputs of samples that have ended, the shortest first.
    ended: Vec<DecoderInput<'c>>,
    /// Whether outputs are decoded at every step, too.
    decodes_outputs: bool,
}

impl<'c, 'b> ByLength<'c, 'b> {
    fn new(network: &Network, ctx: &'c ForwardContext, batch: &'b ModelBatch) -> ByLength<'c, 'b> {
        let inputs = batch_inputs(network, ctx, batch);
        let samples = (0..batch.active(0)).collect();
        ByLength { batch, ctx, inputs, samples, step: 0, ended: Vec::new(), decodes_outputs: false }
    }

    /// Decoder inputs of all samples, in the order of the batch.
    fn decoder_input(mut self) -> DecoderInput<'c> {
        self.ended.reverse();
        DecoderInput::concatenate(self.ended)
    }
}

impl<'c> EndPolicy<'c> for ByLength<'c, '_> {
    fn active(&self) -> &[usize] {
        &self.samples
    }

    fn inputs(&mut self) -> RawFeatures {
        self.inputs.slice(self.samples.len())
    }

    fn true_hint(&self, index: usize) -> Tensor<3> {
        probe_values(self.ctx, self.batch, index, self.step, self.samples.len())
    }

    fn decodes_outputs(&self) -> bool {
        self.decodes_outputs
    }

    fn advance(&mut self, StepResult { decoder_input, .. }: StepResult<'c, '_>) -> Remaining {
        self.step += 1;
        let (now, next) = (self.samples.len(), self.batch.active(self.step));
        if next == now {
            return Remaining::All;
        }
        self.ended.push(decoder_input.slice(next..now));
        self.samples.truncate(next);
        if next == 0 { Remaining::None } else { Remaining::First(next) }
    }
}
