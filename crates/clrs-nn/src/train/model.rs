//! A network in training: its parameters and the optimizer. [`Trainer`](super::trainer::Trainer) supplies it with data.

use std::sync::OnceLock;

use burn::tensor::Device;
use clrs::Spec;
use clrs::random::RandomState;

use super::gradients::{Gradients, chunk_gradients, gradients};
use super::optimizer::{Adam, AdamConfig};
use crate::data::batch::{MICRO_BATCH, ModelBatch};
use crate::data::chunk::Chunk;
use crate::eval::metrics::EvalError;
use crate::eval::predict::{PredictOptions, Prediction, predict_with};
use crate::exec::parallel;
use crate::exec::parameters::Parameters;
use crate::exec::weights::Weights;
use crate::model::losses::RecurrentState;
use crate::model::network::Network;
use crate::run::checkpoint::OptimizerState;

/// A network with parameters and optimizer.
///
/// ```
/// use clrs::sampling::{Sampler, SamplerOptions, Stream};
/// use clrs_nn::eval::predict::PredictOptions;
/// use clrs_nn::exec::device::Device;
/// use clrs_nn::train::{model::TrainableModel, optimizer::AdamConfig, update_streams};
/// use clrs_nn::{ModelBatch, ModelConfig, Network, Task};
///
/// let bfs = clrs::Registry::builtin().find("bfs")?;
/// let batch = ModelBatch::new(&Stream::new(Sampler::new(bfs, 5, 1, &SamplerOptions::default())?).next(3)?);
/// let task = Task { name: "bfs".into(), spec: bfs.spec().into() };
/// let (network, parameters) = Network::new(vec![task], &ModelConfig { hidden: 8, ..ModelConfig::default() }, 42)?;
/// let adam = AdamConfig { learning_rate: 1e-2, grad_clip: 1.0, freeze_processor: false };
/// let mut model = TrainableModel::new(network, parameters, adam, &Device::flex());
/// let (loss, gradients) = model.gradients(0, &batch, update_streams(42, 1))?;
/// model.update(&gradients, 0);
/// assert!(model.gradients(0, &batch, update_streams(42, 2))?.0 < loss);
/// let prediction = model.predict(0, &batch, PredictOptions::default())?;
/// assert_eq!(prediction.outputs[0].shape, [3, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TrainableModel {
    network: Network,
    parameters: Parameters,
    adam: Adam,
    config: AdamConfig,
    device: Device,
    /// Folded weights of the current parameters, for predictions.
    weights: OnceLock<Weights>,
}

/// Why a network cannot process a batch or a chunk.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum ModelError {
    #[error("task {task} does not exist: the network has {tasks}")]
    NoTask { task: usize, tasks: usize },
    #[error("the batch does not have the probes of {0}")]
    OtherSpec(String),
    #[error("a sample has {nodes} nodes; the processor takes at most {max}")]
    TooManyNodes { nodes: usize, max: usize },
    #[error("a batch without outputs and all hints has no loss")]
    NotSupervised,
    #[error("the recurrent state is of another number of lanes, nodes or hidden values")]
    RecurrentState,
    #[error("the state of the optimizer is of other parameters: `{0}` differs in size")]
    OptimizerState(String),
    #[error(transparent)]
    Evaluate(#[from] EvalError),
}

impl TrainableModel {
    /// A model before its first update.
    pub fn new(network: Network, parameters: Parameters, config: AdamConfig, device: &Device) -> TrainableModel {
        let adam = Adam::new(&parameters);
        TrainableModel { network, parameters, adam, config, device: device.clone(), weights: OnceLock::new() }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The current parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The parameters, to be changed. The state of the optimizer stays.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        self.weights.take();
        &mut self.parameters
    }

    /// State of the optimizer.
    pub fn optimizer(&self) -> &OptimizerState {
        self.adam.state()
    }

    /// Continues from a state of the optimizer.
    ///
    /// # Errors
    /// If it is of other parameters.
    pub fn set_optimizer(&mut self, state: OptimizerState) -> Result<(), ModelError> {
        for moments in [&state.first, &state.second] {
            for (index, (parameter, values)) in self.parameters.list().iter().zip(self.parameters.values()).enumerate() {
                if moments.get(index).map(Vec::len) != Some(values.len()) {
                    return Err(ModelError::OptimizerState(parameter.name.clone()));
                }
            }
        }
        self.adam = Adam::from_state(state);
        Ok(())
    }

    /// Weights for evaluation.
    pub fn weights(&self) -> &Weights {
        self.weights.get_or_init(|| Weights::no_grad(&self.parameters, &self.device))
    }

    /// Loss of a batch and its gradients; see [`gradients`].
    ///
    /// # Errors
    /// If the batch is not one of the task, or not supervised.
    pub fn gradients(
        &self,
        task: usize,
        batch: &ModelBatch,
        random: impl Fn(usize) -> Option<RandomState> + Sync,
    ) -> Result<Gradients, ModelError> {
        self.ensure_fits(task, batch.spec(), batch.nodes())?;
        ensure_supervised(batch)?;
        Ok(gradients(&self.network, &self.parameters, task, batch, &self.device, random))
    }

    /// Loss of a chunk and its gradients. Replaces the recurrent states of its micro-batches; there are none before the first chunk.
    ///
    /// # Errors
    /// If the chunk is not one of the task, or the states are those of other lanes.
    pub fn chunk_gradients(
        &self,
        task: usize,
        chunk: &Chunk,
        states: &mut Vec<RecurrentState>,
        random: impl Fn(usize) -> Option<RandomState> + Sync,
    ) -> Result<Gradients, ModelError> {
        self.ensure_fits(task, &chunk.spec, chunk.nodes)?;
        let (cells, micro_batches) = (chunk.supervised_cells(), chunk.micro_batches(MICRO_BATCH));
        let as_many = states.is_empty() || states.len() == micro_batches.len();
        if !as_many || !micro_batches.iter().zip(&*states).all(|(chunk, state)| self.network.fits(chunk, state)) {
            return Err(ModelError::RecurrentState);
        }
        Ok(chunk_gradients(&self.network, &self.parameters, task, (micro_batches, &cells), states, &self.device, random))
    }

    /// Loss of every supervised probe, by its index in the spec of the task, in training mode but without gradients.
    ///
    /// # Errors
    /// As [`TrainableModel::gradients`].
    pub fn losses(
        &self,
        task: usize,
        batch: &ModelBatch,
        random: impl Fn(usize) -> Option<RandomState> + Sync,
    ) -> Result<Vec<(usize, f64)>, ModelError> {
        self.ensure_fits(task, batch.spec(), batch.nodes())?;
        ensure_supervised(batch)?;
        let cells = batch.supervised_cells();
        let of_micro_batch = |(index, micro_batch): (usize, ModelBatch)| {
            let ctx = self.network.context(self.weights(), task);
            self.network.probe_losses(&ctx, &micro_batch, &cells, random(index).as_mut())
        };
        let micro_batches = batch.micro_batches(MICRO_BATCH).into_iter().enumerate().collect();
        let mut sums: Vec<Option<f64>> = vec![None; cells.len()];
        for (index, loss) in parallel::map(micro_batches, of_micro_batch).into_iter().flatten() {
            *sums[index].get_or_insert_default() += loss;
        }
        Ok(sums.into_iter().enumerate().filter_map(|(index, sum)| Some((index, sum?))).collect())
    }

    /// Updates the parameters that all tasks share and those of one task, or of all tasks, and returns the global gradient norm; see
    /// [`Adam::update`].
    pub fn update(&mut self, gradients: &[Option<Vec<f32>>], task: impl Into<Option<usize>>) -> f32 {
        // Weights share the values of the parameters, which would be copied otherwise.
        self.weights.take();
        self.adam.update(&mut self.parameters, gradients, task, self.config)
    }

    /// Predicts with the true number of steps; see [`predict_with`].
    ///
    /// # Errors
    /// If the batch is not one of the task, or a logit is not finite.
    pub fn predict(&self, task: usize, batch: &ModelBatch, options: PredictOptions) -> Result<Prediction, ModelError> {
        self.ensure_fits(task, batch.spec(), batch.nodes())?;
        Ok(predict_with(&self.network, self.weights(), task, batch, options)?)
    }

    fn ensure_fits(&self, task: usize, spec: &Spec, nodes: usize) -> Result<(), ModelError> {
        let tasks = self.network.tasks();
        let expected = tasks.get(task).ok_or(ModelError::NoTask { task, tasks: tasks.len() })?;
        let same = spec.iter().zip(expected.spec.iter()).all(|(probe, expected)| {
            (&probe.name, probe.stage, probe.location, probe.kind)
                == (&expected.name, expected.stage, expected.location, expected.kind)
        });
        if spec.len() != expected.spec.len() || !same {
            return Err(ModelError::OtherSpec(expected.name.clone()));
        }
        match self.network.processor().max_nodes() {
            Some(max) if nodes > max => Err(ModelError::TooManyNodes { nodes, max }),
            _ => Ok(()),
        }
    }
}

fn ensure_supervised(batch: &ModelBatch) -> Result<(), ModelError> {
    if batch.is_supervised() { Ok(()) } else { Err(ModelError::NotSupervised) }
}
