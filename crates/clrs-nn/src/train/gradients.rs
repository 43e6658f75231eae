//! Loss and gradients of a batch, computed in micro-batches on all threads.

use std::collections::BTreeMap;

use burn::tensor::Device;
use clrs::random::RandomState;

use crate::data::batch::{MICRO_BATCH, ModelBatch};
use crate::data::chunk::Chunk;
use crate::exec::context::{self, ForwardContext};
use crate::exec::parallel;
use crate::exec::parameters::Parameters;
use crate::exec::tensor::Tensor;
use crate::exec::weights::{FoldedGradients, FoldedWeight, Weights};
use crate::model::losses::RecurrentState;
use crate::model::network::Network;

/// A loss, and its gradient for each parameter that it depends on.
pub type Gradients = (f32, Vec<Option<Vec<f32>>>);

/// Loss of a batch and its gradients.
///
/// A batch is computed in micro-batches, in parallel, each on a single thread. Their gradients are summed in order: neither the
/// micro-batches nor the order depends on the number of threads. `random` returns the random stream of a micro-batch.
pub fn gradients(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    batch: &ModelBatch,
    device: &Device,
    random: impl Fn(usize) -> Option<RandomState> + Sync,
) -> Gradients {
    let cells = batch.supervised_cells();
    let micro_batches = batch.micro_batches(MICRO_BATCH);
    let (gradients, _) = accumulate(network, parameters, task, device, micro_batches, |index, batch, ctx| {
        (network.loss(ctx, &batch, &cells, random(index).as_mut()), ())
    });
    gradients
}

/// Loss of the micro-batches of a chunk and its gradients. Replaces the recurrent states.
pub(super) fn chunk_gradients(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    (micro_batches, cells): (Vec<Chunk>, &[f64]),
    states: &mut Vec<RecurrentState>,
    device: &Device,
    random: impl Fn(usize) -> Option<RandomState> + Sync,
) -> Gradients {
    let (gradients, next) = accumulate(network, parameters, task, device, micro_batches, |index, chunk, ctx| {
        network.chunk_loss(ctx, &chunk, states.get(index), cells, random(index).as_mut())
    });
    *states = next;
    gradients
}

/// Loss and gradients of all micro-batches, summed in order, and the other results of each.
fn accumulate<M: Send, T: Send>(
    network: &Network,
    parameters: &Parameters,
    task: usize,
    device: &Device,
    micro_batches: Vec<M>,
    loss: impl Fn(usize, M, &ForwardContext) -> (Tensor<1>, T) + Sync,
) -> (Gradients, Vec<T>) {
    let weights = Weights::with_grad(parameters, device);
    let compute = |(index, micro_batch): (usize, M)| {
        let ctx = network.context(&weights, task);
        let (loss, other) = loss(index, micro_batch, &ctx);
        let gradients = ctx.backward(loss.clone());
        ((loss.into_scalar(), gradients), other)
    };
    let computed = parallel::map(micro_batches.into_iter().enumerate().collect(), compute);
    let (results, others): (Vec<_>, Vec<T>) = computed.into_iter().unzip();
    let (losses, gradients): (Vec<f32>, Vec<FoldedGradients>) = results.into_iter().unzip();
    let mut by_weight: BTreeMap<FoldedWeight, Vec<Vec<f32>>> = BTreeMap::new();
    for (weight, gradient) in gradients.into_iter().flatten() {
        by_weight.entry(weight).or_default().push(gradient);
    }
    let sum = |(weight, gradients): (FoldedWeight, Vec<Vec<f32>>)| {
        let mut sum = Vec::new();
        for gradient in gradients {
            context::accumulate(&mut sum, gradient);
        }
        (weight, sum)
    };
    let sums = parallel::map_elements(parameters.count(), by_weight.into_iter().collect(), sum);
    ((losses.iter().sum(), network.gradients(parameters, task, sums.into_iter().collect())), others)
}
