//! Loss and gradients of a batch, computed in micro-batches on all threads.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Random stream of every micro-batch of an update. Those of other updates do not matter.
pub fn update_streams(seed: u32, update: u64) -> impl Fn(usize) -> Option<RandomState> + Sync {
    move |index| Some(RandomState::of_sample(seed, (update << 16) | index as u64))
}

/// Mean of gradients, such as those of several tasks: the sum of each parameter's, divided by the number of those that are not zero
/// everywhere.
pub fn average(gradients: &[Vec<Option<Vec<f32>>>]) -> Vec<Option<Vec<f32>>> {
    let count = gradients.iter().map(Vec::len).max().unwrap_or(0);
    let mean = |parameter: usize| {
        let of_parameter = gradients.iter().filter_map(|gradients| gradients.get(parameter)?.as_ref());
        let (mut sum, mut terms) = (Vec::new(), 0u16);
        for gradient in of_parameter.filter(|gradient| gradient.iter().any(|value| *value != 0.0)) {
            context::accumulate(&mut sum, gradient.clone());
            terms += 1;
        }
        for value in &mut sum {
            *value /= f32::from(terms);
        }
        (terms > 0).then_some(sum)
    };
    (0..count).map(mean).collect()
}

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
    if micro_batches.len() > 1 {
        network.prepare(&weights, task);
    }
    let sum = OrderedSum::default();
    let compute = |(index, micro_batch): (usize, M)| {
        let ctx = network.context(&weights, task);
        let (loss, other) = loss(index, micro_batch, &ctx);
        sum.add(index, ctx.backward(loss.clone()));
        (loss.into_scalar(), other)
    };
    let computed = parallel::map(micro_batches.into_iter().enumerate().collect(), compute);
    network.record_used(&weights, task);
    let (losses, others): (Vec<f32>, Vec<T>) = computed.into_iter().unzip();
    let gradients = network.gradients(parameters, task, sum.finish(parameters.count()));
    ((losses.iter().sum(), gradients), others)
}

/// Sums gradients in the order of micro-batches, in whatever order these end.
///
/// A gradient has the size of all parameters, so few are kept: as soon as there are as many as threads, they are added to the
/// sum, as far as their turn has come. With as many threads as micro-batches, all wait, and their sum is computed in parallel.
#[derive(Default)]
struct OrderedSum(Mutex<PartialSum>);

#[derive(Default)]
struct PartialSum {
    /// Sum of the first gradients, without those that a thread is about to add.
    sum: FoldedGradients,
    /// Number of gradients in the sum.
    count: usize,
    /// Whether a thread has taken the sum to add to it.
    is_taken: bool,
    /// Gradients of later micro-batches.
    waiting: BTreeMap<usize, FoldedGradients>,
}

impl OrderedSum {
    /// Adds the gradients of a micro-batch.
    fn add(&self, index: usize, gradients: FoldedGradients) {
        let mut state = self.lock();
        state.waiting.insert(index, gradients);
        while !state.is_taken && state.waiting.len() >= rayon::current_num_threads() {
            let next = state.count;
            let Some(gradients) = state.waiting.remove(&next) else { return };
            let mut sum = std::mem::take(&mut state.sum);
            state.is_taken = true;
            drop(state);
            for (weight, gradient) in gradients {
                context::accumulate(sum.entry(weight).or_default(), gradient);
            }
            state = self.lock();
            (state.sum, state.count, state.is_taken) = (sum, next + 1, false);
        }
    }

    /// The sum of all gradients. `elements` is the number of their elements.
    fn finish(self, elements: usize) -> FoldedGradients {
        let PartialSum { sum, waiting, .. } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut by_weight: BTreeMap<FoldedWeight, Vec<Vec<f32>>> = BTreeMap::new();
        for (weight, gradient) in std::iter::once(sum).chain(waiting.into_values()).flatten() {
            by_weight.entry(weight).or_default().push(gradient);
        }
        let sum = |(weight, gradients): (FoldedWeight, Vec<Vec<f32>>)| {
            let mut sum = Vec::new();
            for gradient in gradients {
                context::accumulate(&mut sum, gradient);
            }
            (weight, sum)
        };
        parallel::map_elements(elements, by_weight.into_iter().collect(), sum).into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, PartialSum> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::parameters::ParamId;

    #[test]
    fn the_sum_depends_neither_on_the_order_in_which_micro_batches_end_nor_on_threads() {
        // In another order, a small term would be lost in the sum with a large one.
        let terms = [1e8, -1e8, 1.0, 1e-8, 3.0];
        let expected = terms.iter().fold(0.0f32, |sum, term| sum + term);
        let weights = [0, 1].map(|index| FoldedWeight::Parameter(ParamId(index)));
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
            for threads in [1, 2, 3, 16] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
                let sums = pool.install(|| {
                    let sum = OrderedSum::default();
                    for index in order {
                        // Not every micro-batch has a gradient for every weight.
                        let used = &weights[usize::from(index == 3)..];
                        sum.add(index, used.iter().map(|&weight| (weight, vec![terms[index]; 3])).collect());
                    }
                    sum.finish(1)
                });
                assert_eq!(sums[&weights[1]], [expected; 3], "{order:?}, {threads} threads");
                assert_eq!(sums[&weights[0]], [4.0; 3], "{order:?}, {threads} threads");
            }
        }
    }
}
