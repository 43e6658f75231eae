//! The training loss of a batch and of a chunk: outputs, plus hints where these are supervised.

use clrs::random::RandomState;

use super::end_policy::{EndPolicy, Remaining, StepResult};
use super::loss::add_loss;
use super::lstm::LstmState;
use super::network::{Mode, Network, ProbeLogits, RolloutState};
use super::raw_features::{RawFeatures, first};
use super::rollout::Termination;
use crate::data::batch::{ModelBatch, row_shape, supervised_cells};
use crate::data::chunk::{Chunk, ChunkStep, select_lanes};
use crate::exec::context::ForwardContext;
use crate::exec::fused;
use crate::exec::tensor::Tensor;

/// Recurrent state that the lanes of a chunk carry to the next one. Values only: no gradient passes from chunk to chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecurrentState {
    /// Hidden states, `[lanes * N, H]`.
    pub hidden: Vec<f32>,
    /// Hidden and cell state of the LSTM, if there is one.
    pub lstm: Option<[Vec<f32>; 2]>,
    /// Logits of predicted hints by index in the spec, `[lanes, R, K]`.
    pub hints: Vec<(usize, Vec<f32>)>,
}

impl Network {
    /// Loss of a batch, `[1]`. `cells` is the number of supervised cells of each probe that its loss is a mean over:
    /// [`ModelBatch::supervised_cells`] of the batch that this micro-batch belongs to.
    pub fn loss(&self, ctx: &ForwardContext, batch: &ModelBatch, cells: &[f64], random: Option<&mut RandomState>) -> Tensor<1> {
        let mut total: Option<Tensor<1>> = None;
        self.supervise(ctx, batch, random, &mut |index, logits, truth| {
            total = Some(add_loss(total.take(), ctx, &batch.spec()[index], logits, truth, cells[index]));
        });
        total.expect("an algorithm has an output")
    }

    /// Loss of every supervised probe, by its index in the spec, without gradients. `cells` as for [`Network::loss`].
    pub fn probe_losses(
        &self,
        ctx: &ForwardContext,
        batch: &ModelBatch,
        cells: &[f64],
        random: Option<&mut RandomState>,
    ) -> Vec<(usize, f64)> {
        let mut sums: Vec<Option<f64>> = vec![None; cells.len()];
        self.supervise(ctx, batch, random, &mut |index, logits, truth| {
            let [_, _, classes] = logits.dims();
            *sums[index].get_or_insert_default() += fused::loss_sum(&batch.spec()[index], &logits.into_vec(), truth, classes);
        });
        let mean = |(index, sum): (usize, Option<f64>)| Some((index, sum? / cells[index].max(1.0)));
        sums.into_iter().enumerate().filter_map(mean).collect()
    }

    /// Unrolls a batch in training mode and passes the logits and true values of all supervised cells to a function: those of
    /// hints step by step, then those of outputs.
    fn supervise(
        &self,
        ctx: &ForwardContext,
        batch: &ModelBatch,
        random: Option<&mut RandomState>,
        add: &mut dyn FnMut(usize, Tensor<3>, Vec<f32>),
    ) {
        let supervises_hints = self.config().hint_mode.is_supervised();
        let outputs = self.unroll(ctx, batch, Termination::TrueLength, Mode::Train(random), &mut |view| {
            let samples = batch.supervised(view.step);
            if !supervises_hints || samples == 0 {
                return;
            }
            for (index, logits) in view.hints {
                add(*index, first(logits, samples), batch.values(*index, view.step + 1, samples));
            }
        });
        for (index, logits) in outputs {
            add(index, logits, batch.values(index, 0, batch.samples()));
        }
    }

    /// Loss of a chunk, `[1]`, and the state of its lanes after it. `cells` is [`Chunk::supervised_cells`] of the chunk that this one is
    /// a micro-batch of. The first chunk has no state: all its lanes start.
    pub fn chunk_loss(
        &self,
        ctx: &ForwardContext,
        chunk: &Chunk,
        state: Option<&RecurrentState>,
        cells: &[f64],
        random: Option<&mut RandomState>,
    ) -> (Tensor<1>, RecurrentState) {
        let supervises_hints = self.config().hint_mode.is_supervised();
        let state = state.map_or_else(RolloutState::default, |state| restore(ctx, state, chunk));
        // A chunk may contain no supervised cell.
        let mut total = ctx.zero_loss();
        let mut policy = ChunkLanes { network: self, ctx, chunk, active: (0..chunk.lanes).collect(), step: 0 };
        let state = self.roll(ctx, &mut policy, state, &mut Mode::Train(random), &mut |view| {
            let step = &chunk.steps[view.step];
            let mut add = |(index, logits): &(usize, Tensor<3>), truth: &[Vec<f32>], lanes: &[bool]| {
                if let Some(logits) = select(logits, lanes) {
                    let truth = select_lanes(&truth[*index], lanes);
                    total = add_loss(Some(total.clone()), ctx, &chunk.spec[*index], logits, truth, cells[*index]);
                }
            };
            if supervises_hints {
                view.hints.iter().for_each(|hint| add(hint, &step.next, &step.supervised));
            }
            view.outputs.into_iter().flatten().for_each(|output| add(output, &step.now, &step.ends));
        });
        (total, detach(state))
    }

    /// Whether a state has the shapes that the lanes of a chunk carry.
    pub(crate) fn fits(&self, chunk: &Chunk, state: &RecurrentState) -> bool {
        let rows = chunk.lanes * chunk.nodes * self.config().hidden;
        let hint_fits = |(index, values): &(usize, Vec<f32>)| {
            let size = |probe| row_shape(probe, chunk.nodes).iter().product::<usize>() * chunk.lanes;
            *index < chunk.spec.len() && values.len() == size(&chunk.spec[*index])
        };
        state.hidden.len() == rows
            && state.lstm.is_some() == self.config().lstm
            && state.lstm.iter().flatten().all(|values| values.len() == rows)
            && state.hints.iter().all(hint_fits)
    }
}

/// Loss of every hint, from the logits of all steps, `[S, B, R, K]` with samples in the order of the dense batch, by index in the
/// spec. Without steps that a sample takes, the loss is that of the steps that are given.
pub fn hint_losses(batch: &ModelBatch, logits: &[(usize, Vec<f32>)]) -> Vec<f64> {
    let loss = |(index, logits): &(usize, Vec<f32>)| {
        let [_, rows, classes] = batch.shape(*index, 1);
        let (width, count) = (rows * classes, batch.samples());
        let (mut sum, mut cells) = (0.0, 0.0);
        for (step, logits) in logits.chunks_exact(width * count).enumerate().take(batch.steps()) {
            let supervised = &batch.order()[..batch.supervised(step)];
            let logits: Vec<f32> = supervised.iter().flat_map(|sample| &logits[sample * width..][..width]).copied().collect();
            let truth = batch.values(*index, step + 1, supervised.len());
            cells += supervised_cells(&batch.spec()[*index], batch.nodes(), &truth);
            sum += fused::loss_sum(&batch.spec()[*index], &logits, truth, classes);
        }
        sum / cells.max(1.0)
    };
    logits.iter().map(loss).collect()
}

/// The lanes of a chunk: all take every step; samples start and end within it.
struct ChunkLanes<'c, 'k> {
    network: &'k Network,
    ctx: &'c ForwardContext,
    chunk: &'k Chunk,
    /// All lanes, and none after the last step.
    active: Vec<usize>,
    step: usize,
}

impl ChunkLanes<'_, '_> {
    fn current(&self) -> &ChunkStep {
        &self.chunk.steps[self.step]
    }

    fn tensor(&self, index: usize) -> Tensor<3> {
        let [rows, classes] = row_shape(&self.chunk.spec[index], self.chunk.nodes);
        self.ctx.tensor(self.current().now[index].clone(), [self.chunk.lanes, rows, classes])
    }
}

impl<'c> EndPolicy<'c> for ChunkLanes<'c, '_> {
    fn active(&self) -> &[usize] {
        &self.active
    }

    fn inputs(&mut self) -> RawFeatures {
        self.network.input_features(self.ctx, self.chunk.lanes, self.chunk.nodes, |index| self.tensor(index))
    }

    fn true_hint(&self, index: usize) -> Tensor<3> {
        self.tensor(index)
    }

    fn restarts(&self) -> Option<&[bool]> {
        Some(&self.current().starts)
    }

    fn decodes_outputs(&self) -> bool {
        true
    }

    fn advance(&mut self, _: StepResult<'c, '_>) -> Remaining {
        self.step += 1;
        if self.step == self.chunk.steps.len() {
            self.active.clear();
        }
        // All lanes carry their state to the next chunk.
        Remaining::All
    }
}

fn restore(ctx: &ForwardContext, state: &RecurrentState, chunk: &Chunk) -> RolloutState {
    let rows = |values: &Vec<f32>| ctx.tensor(values.clone(), [chunk.lanes * chunk.nodes, ctx.hidden]);
    let logits = |(index, values): &(usize, Vec<f32>)| {
        let [rows, classes] = row_shape(&chunk.spec[*index], chunk.nodes);
        (*index, ctx.tensor(values.clone(), [chunk.lanes, rows, classes]))
    };
    RolloutState {
        hidden: Some(rows(&state.hidden)),
        lstm: state.lstm.as_ref().map(|[hidden, cell]| LstmState { hidden: rows(hidden), cell: rows(cell) }),
        hints: Some(state.hints.iter().map(logits).collect()),
    }
}

fn detach(state: RolloutState) -> RecurrentState {
    let logits = |hints: ProbeLogits| hints.into_iter().map(|(index, logits)| (index, logits.into_vec())).collect();
    RecurrentState {
        hidden: state.hidden.map(Tensor::into_vec).unwrap_or_default(),
        lstm: state.lstm.map(|LstmState { hidden, cell }| [hidden.into_vec(), cell.into_vec()]),
        hints: state.hints.map(logits).unwrap_or_default(),
    }
}

/// The marked lanes of a tensor, if there are any.
fn select(logits: &Tensor<3>, marked: &[bool]) -> Option<Tensor<3>> {
    let lanes: Vec<usize> = (0..).zip(marked).filter(|(_, marked)| **marked).map(|(lane, _)| lane).collect();
    match lanes.len() {
        0 => None,
        count if count == marked.len() => Some(logits.clone()),
        _ => Some(logits.clone().index_select(&lanes)),
    }
}
