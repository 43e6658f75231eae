//! The encode-process-decode network over the specs of one or more algorithms.
//!
//! All algorithms share the processor; each has its own encoders and decoders. [`rollout`](super::rollout) runs the network
//! over the steps of a batch, [`losses`](super::losses) computes the training loss.

use std::sync::Arc;

use burn::backend::DispatchDevice;
use clrs::random::RandomState;
use clrs::{Kind, Spec, Stage};

use super::decoders::{Decoder, DecoderCache, DecoderInput, Decoders, SINKHORN_DECODER, log_sinkhorn};
use super::encoders::Encoders;
use super::lstm::{Lstm, LstmState};
use super::noise::{dropout, gumbel};
use super::processors::dispatch;
use super::processors::{Processor, ProcessorInput, ProcessorRegistry, UnknownProcessor};
use super::raw_features::RawFeatures;
use super::task_modules::TaskModules;
use crate::config::model::{ConfigError, ModelConfig};
use crate::exec::adjacency::Adjacency;
use crate::exec::context::ForwardContext;
use crate::exec::features::{EdgeFeatures, GraphFeatures, NodeFeatures};
use crate::exec::parameters::{Owner, ParameterBuilder, Parameters};
use crate::exec::tensor::Tensor;
use crate::exec::weights::{self, FoldedGradients, Weights};

/// An algorithm that a network is built for.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// Name of the algorithm, which prefixes the names of its parameters.
    pub name: String,
    /// Probes that are encoded and decoded, after all transforms.
    pub spec: Spec,
}

/// A network. Its layers are indices into a list of [`Parameters`], which are stored separately.
///
/// ```
/// use clrs_nn::{ModelConfig, Network, Task};
///
/// let bfs = clrs::Registry::builtin().find("bfs")?;
/// let task = Task { name: "bfs".into(), spec: bfs.spec().into() };
/// let (network, parameters) = Network::new(vec![task], &ModelConfig::default(), 42)?;
/// assert_eq!(network.tasks()[0].name, "bfs");
/// assert!(parameters.count() > 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Network {
    config: ModelConfig,
    tasks: Vec<Task>,
    modules: Vec<TaskModules>,
    processor: Box<dyn Processor>,
    lstm: Option<Lstm>,
    /// Whether fused kernels are used on the CPU.
    pub fused: bool,
}

/// Why a network cannot be built.
#[derive(Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum BuildError {
    #[error(transparent)]
    Processor(#[from] UnknownProcessor),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("a network needs at least one algorithm")]
    NoTask,
    #[error("the spec of {0} has no output")]
    NoOutput(String),
    #[error("two parameters are named `{0}`; the layers of a processor need different names")]
    DuplicateParameter(String),
}

/// Whether a rollout belongs to training or to evaluation.
#[non_exhaustive]
pub enum Mode<'r> {
    /// Hints may be teacher-forced. Without a random stream, dropout, noise and fractional teacher forcing are off.
    Train(Option<&'r mut RandomState>),
    /// Only predicted hints are fed back.
    Evaluate,
}

/// Logits `[B, R, K]` of probes by their index in the spec.
pub type ProbeLogits = Vec<(usize, Tensor<3>)>;

impl Network {
    /// Builds a network with a built-in processor, and initial parameters from a seed.
    ///
    /// # Errors
    /// If there is no task, the processor is unknown, or the configuration is out of range.
    pub fn new(tasks: Vec<Task>, config: &ModelConfig, seed: u32) -> Result<(Network, Parameters), BuildError> {
        Network::with_processors(tasks, config, &ProcessorRegistry::builtin(), seed)
    }

    /// Builds a network whose processor is looked up in a registry.
    ///
    /// # Errors
    /// As [`Network::new`].
    pub fn with_processors(
        tasks: Vec<Task>,
        config: &ModelConfig,
        processors: &ProcessorRegistry,
        seed: u32,
    ) -> Result<(Network, Parameters), BuildError> {
        config.validate()?;
        if tasks.is_empty() {
            return Err(BuildError::NoTask);
        }
        let has_output = |task: &Task| task.spec.iter().any(|probe| probe.stage == Stage::Output);
        if let Some(task) = tasks.iter().find(|task| !has_output(task)) {
            return Err(BuildError::NoOutput(task.name.clone()));
        }
        let mut builder = ParameterBuilder::new(seed);
        let network = Network::build(tasks, config, processors, &mut builder)?;
        if let Some(name) = builder.duplicate() {
            return Err(BuildError::DuplicateParameter(name.into()));
        }
        Ok((network, builder.finish()))
    }

    /// Number of scalar parameters that a network would have, without creating them.
    pub fn count_parameters(
        tasks: Vec<Task>,
        config: &ModelConfig,
        processors: &ProcessorRegistry,
    ) -> Result<usize, UnknownProcessor> {
        let mut builder = ParameterBuilder::counting();
        Network::build(tasks, config, processors, &mut builder)?;
        Ok(builder.count())
    }

    fn build(
        tasks: Vec<Task>,
        config: &ModelConfig,
        processors: &ProcessorRegistry,
        builder: &mut ParameterBuilder,
    ) -> Result<Network, UnknownProcessor> {
        let entry = processors.find(&config.processor)?;
        let dm_clrs_prefix = entry.dm_clrs_module.map(|module| format!("net/{module}/"));
        builder.scope(Owner::Processor, "processor/", dm_clrs_prefix.as_deref());
        let processor = entry.build(config, builder);
        builder.scope(Owner::Lstm, "lstm/", "net/processor_lstm/");
        let lstm = config.lstm.then(|| Lstm::new(config.hidden, builder));
        let modules = tasks.iter().enumerate().map(|(index, Task { name, spec })| {
            let encoders = Encoders::new(name, index, spec, config, builder);
            let decoders = Decoders::new(name, index, spec, processor.has_edge_state(), config, builder);
            TaskModules::new(encoders, decoders)
        });
        let modules = modules.collect();
        Ok(Network { config: config.clone(), tasks, modules, processor, lstm, fused: true })
    }

    /// Configuration that the network was built from.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Algorithms that the network was built for.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The processor.
    pub fn processor(&self) -> &dyn Processor {
        &*self.processor
    }

    /// Starts a forward pass for one task.
    ///
    /// # Panics
    /// If the network has no task with this index.
    pub fn context(&self, weights: &Weights, task: usize) -> ForwardContext {
        let on_cpu = matches!(weights.device().inner().as_dispatch(), DispatchDevice::Flex(_));
        let layers = Arc::clone(&self.modules[task].layers);
        ForwardContext::new(weights, task, layers, self.config.hidden, self.fused && on_cpu)
    }

    /// Computes the folded weights that the first training step of a task has read.
    pub(crate) fn prepare(&self, weights: &Weights, task: usize) {
        let TaskModules { layers, used_weights, .. } = &self.modules[task];
        if let Some(used) = used_weights.get() {
            weights.prepare(task, layers, used);
        }
    }

    /// Records the folded weights that a training step has read, for [`Network::prepare`].
    pub(crate) fn record_used(&self, weights: &Weights, task: usize) {
        self.modules[task].used_weights.get_or_init(|| weights.used());
    }

    /// Gradients of parameters, from the gradients of folded weights that forward passes of a task accumulated.
    pub(crate) fn gradients(&self, parameters: &Parameters, task: usize, folded: FoldedGradients) -> Vec<Option<Vec<f32>>> {
        weights::gradients(parameters, &self.modules[task].layers, folded)
    }

    /// Encoders of a task.
    pub(super) fn encoders(&self, task: usize) -> &Encoders {
        &self.modules[task].encoders
    }

    /// Raw features of the inputs, `value` giving `[B, R, K]` values of a probe by its index in the spec.
    pub(super) fn input_features(
        &self,
        ctx: &ForwardContext,
        samples: usize,
        nodes: usize,
        value: impl Fn(usize) -> Tensor<3>,
    ) -> RawFeatures {
        let task = ctx.task();
        let spec = &self.tasks[task].spec;
        let mut features = RawFeatures::default();
        if self.processor.reads_adjacency() || self.processor.masks_decoders() {
            features.adjacency = Some(Adjacency::self_loops(ctx, samples, nodes));
        }
        for encoder in self.encoders(task).of(spec, Stage::Input) {
            features.add(&spec[encoder.probe], nodes, value(encoder.probe), encoder);
        }
        features.join();
        features
    }

    /// One processor step: raw features of inputs and hints in, hidden states out. Returns the inputs of the decoders.
    pub(super) fn step<'c>(
        &self,
        ctx: &'c ForwardContext,
        mut features: RawFeatures,
        hints: &[(usize, Tensor<3>)],
        state: &RolloutState,
        mode: &mut Mode<'_>,
    ) -> (DecoderInput<'c>, Option<LstmState>) {
        let (task, samples, nodes) = (ctx.task(), features.samples(), features.nodes());
        let spec = &self.tasks[task].spec;
        for (encoder, (index, value)) in self.encoders(task).of(spec, Stage::Hint).zip(hints) {
            features.add(&spec[*index], nodes, value.clone(), encoder);
        }
        let adjacency = features.adjacency.take();
        let (raw_nodes, raw_edges, raw_graph) = features.into_channels(ctx);
        let mut input = ProcessorInput {
            nodes: NodeFeatures { ctx, samples, nodes, raw: raw_nodes, hidden: state.hidden.clone() },
            edges: EdgeFeatures { ctx, raw: raw_edges },
            graph: GraphFeatures { ctx, raw: raw_graph },
            adjacency,
        };
        let before = input.nodes.clone();
        let mut output = dispatch::step(&*self.processor, ctx, &input);
        for _ in 1..self.config.message_steps {
            input.nodes.hidden = Some(output.hidden);
            output = dispatch::step(&*self.processor, ctx, &input);
        }
        let mut next = output.hidden;
        if let Mode::Train(Some(random)) = mode
            && self.config.dropout > 0.0
        {
            next = dropout(ctx, next, self.config.dropout, random);
        }
        let lstm = self.lstm.as_ref().map(|lstm| {
            let state = lstm.step(ctx, next.clone(), state.lstm.clone());
            next = state.hidden.clone();
            state
        });
        let allowed = input.adjacency.filter(|_| self.processor.masks_decoders());
        let ProcessorInput { edges, graph, .. } = input;
        let cache = DecoderCache::default();
        (DecoderInput { nodes: before, next, edges, edge_state: output.edges, graph, allowed, cache }, lstm)
    }

    /// Logits of all probes of a stage.
    pub(super) fn decode(
        &self,
        ctx: &ForwardContext,
        input: &DecoderInput<'_>,
        stage: Stage,
        mode: &mut Mode<'_>,
    ) -> ProbeLogits {
        let task = ctx.task();
        let spec = &self.tasks[task].spec;
        let logits = |decoder: &Decoder| {
            let probe = &spec[decoder.probe];
            let mut logits = decoder.logits(probe, ctx, input);
            if matches!(probe.kind, Kind::Permutation | Kind::CyclicPermutation) {
                if let Mode::Train(Some(random)) = mode {
                    logits = logits.clone() + gumbel(ctx, logits.dims(), random);
                }
                logits = log_sinkhorn(ctx, logits, SINKHORN_DECODER);
            }
            (decoder.probe, logits)
        };
        self.modules[task].decoders.of(spec, stage).map(logits).collect()
    }
}

/// State that a rollout carries from step to step.
#[derive(Default)]
pub(super) struct RolloutState {
    /// Hidden states `[B * N, H]`; `None` where all are zero.
    pub(super) hidden: Option<Tensor<2>>,
    pub(super) lstm: Option<LstmState>,
    /// Logits of the hints that the last step predicted.
    pub(super) hints: Option<ProbeLogits>,
}
