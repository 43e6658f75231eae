//! Interface of the policies that decide when the samples of a rollout end.

use super::decoders::DecoderInput;
use super::network::{Network, ProbeLogits};
use super::raw_features::RawFeatures;
use crate::data::batch::ModelBatch;
use crate::exec::context::ForwardContext;
use crate::exec::tensor::Tensor;

/// Supplies the samples of a rollout step by step and decides when they end.
pub(super) trait EndPolicy<'c> {
    /// Samples that take the next step; empty ends the rollout.
    fn active(&self) -> &[usize];
    /// Raw input features of the active samples.
    fn inputs(&mut self) -> RawFeatures;
    /// True value of a hint before the step, of the active samples.
    fn true_hint(&self, index: usize) -> Tensor<3>;
    /// Which active samples start here, where samples follow one another: their state is reset. `None` if all start at step 0.
    fn restarts(&self) -> Option<&[bool]> {
        None
    }
    /// Whether outputs are decoded at every step.
    fn decodes_outputs(&self) -> bool;
    /// Receives the results of a step; returns the samples that continue, as positions among the active ones.
    fn advance(&mut self, step: StepResult<'c, '_>) -> Remaining;
}

/// Results of one step, passed to the [`EndPolicy`].
pub(super) struct StepResult<'c, 's> {
    pub(super) decoder_input: &'s DecoderInput<'c>,
    pub(super) hints: &'s ProbeLogits,
    pub(super) outputs: Option<&'s ProbeLogits>,
}

/// Samples that continue after a step.
pub(super) enum Remaining {
    All,
    First(usize),
    Subset(Vec<usize>),
    None,
}

/// Values of a probe of the first samples of a batch, `[samples, R, K]`.
pub(super) fn probe_values(ctx: &ForwardContext, batch: &ModelBatch, index: usize, step: usize, samples: usize) -> Tensor<3> {
    ctx.tensor(batch.values(index, step, samples), batch.shape(index, samples))
}

/// Raw input features of all samples of a batch, which do not change from step to step.
pub(super) fn batch_inputs(network: &Network, ctx: &ForwardContext, batch: &ModelBatch) -> RawFeatures {
    let samples = batch.samples();
    network.input_features(ctx, samples, batch.nodes(), |index| probe_values(ctx, batch, index, 0, samples))
}
