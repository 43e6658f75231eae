//! Encode, process, decode: a network over the specs of some algorithms.
//!
//! All algorithms share the processor; each has encoders and decoders of its own. A pass runs over the steps of a batch. Step
//! `i` reads hint `i` (the first is always the true one) and predicts hint `i + 1`. Samples that have ended are dropped, and
//! outputs are decoded once, where a sample ends: the reference computes everything and masks, and gets the same numbers.

use std::sync::Arc;

use burn::backend::DispatchDevice;
use burn::tensor::{Bool, Device, Tensor, TensorData};
use clrs::random::RandomState;
use clrs::{Kind, Spec, Stage};

use crate::data::batch::Batch;
use crate::model::decoders::{Decoder, Decoders, Once, Read, log_sinkhorn};
use crate::model::encoders::Encoders;
use crate::exec::features::{Edges, Graph, Input, Nodes, ForwardContext};
use crate::model::feedback::{self, DECODED, FED_BACK};
use crate::model::task_modules::TaskModules;
use crate::model::loss::add_loss;
use crate::model::lstm::{Lstm, LstmState};
use crate::exec::parameters::{ParameterBuilder, Owner, Parameters};
use crate::model::processors::{self, Processor};
use crate::model::raw_features::{RawFeatures, first};
use crate::config::model::{Feedback, ModelConfig};
use crate::exec::weights::{self, FoldedGradients, Weights};

/// An algorithm that a network is made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name, for the names of parameters.
    pub name: String,
    /// Its probes.
    pub spec: Spec,
}

/// A network: parameters, and what they are for.
pub struct Network {
    settings: ModelConfig,
    tasks: Vec<Task>,
    pub(crate) heads: Vec<Arc<TaskModules>>,
    processor: Box<dyn Processor>,
    lstm: Option<Lstm>,
    /// Whether fused kernels are used on the CPU.
    pub fused: bool,
}

/// Why a network cannot be made.
#[derive(Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BuildError {
    #[error("there is no processor `{name}`{}", clrs::suggest::did_you_mean(suggestion.as_deref()))]
    Processor { name: String, suggestion: Option<String> },
    #[error("`{name}` is {value}: {rule}")]
    Setting { name: &'static str, value: String, rule: &'static str },
    #[error("a network for no algorithm")]
    NoTask,
}

/// How a pass treats randomness and feedback.
pub enum Mode<'r> {
    /// Truth may be fed; chance has a source, or nothing is left to chance (no noise, no dropout, no coin).
    Train(Option<&'r mut RandomState>),
    /// Only predictions are fed.
    Evaluate,
}

/// What a step shows to those who watch.
pub struct StepView<'s> {
    /// Its number, from 0.
    pub step: usize,
    /// The samples that are alive, by their places in the batch.
    pub active: &'s [usize],
    /// Their hidden states after it, `[alive * N, H]`.
    pub hidden: &'s Tensor<2>,
    /// The logits of their hints, by places in the spec.
    pub hints: &'s [(usize, Tensor<3>)],
}

impl Network {
    /// A network and its first parameters.
    pub fn new(tasks: Vec<Task>, settings: &ModelConfig, seed: u32) -> Result<(Network, Parameters), BuildError> {
        validate(&tasks, settings)?;
        let recipe = processors::find(&settings.processor).ok_or_else(|| {
            let names = processors::RECIPES.iter().map(|recipe| recipe.name);
            let suggestion = clrs::suggest::nearest(&settings.processor, names).map(str::to_string);
            BuildError::Processor { name: settings.processor.clone(), suggestion }
        })?;
        let mut builder = ParameterBuilder::new(seed);
        builder.begin(Owner::Processor, "processor/", format!("net/{}/", recipe.reference));
        let processor = recipe.build(settings, &mut builder);
        builder.begin(Owner::Processor, "lstm/", "net/processor_lstm/");
        let lstm = settings.lstm.then(|| Lstm::new(settings.hidden, &mut builder));
        let heads = tasks.iter().enumerate().map(|(index, Task { name, spec })| {
            let encoders = Encoders::new(name, index, spec, settings, &mut builder);
            let decoders = Decoders::new(name, index, spec, processor.has_edge_state(), settings, &mut builder);
            Arc::new(TaskModules { encoders, decoders })
        });
        let heads = heads.collect();
        Ok((Network { settings: settings.clone(), tasks, heads, processor, lstm, fused: true }, builder.finish()))
    }

    /// The encoders of an algorithm.
    pub(crate) fn encoders(&self, task: usize) -> &Encoders {
        &self.heads[task].encoders
    }

    /// The most nodes of a sample, if the processor has a bound.
    pub(crate) fn max_nodes(&self) -> Option<usize> {
        self.processor.max_nodes()
    }

    /// What it is made of.
    pub fn settings(&self) -> &ModelConfig {
        &self.settings
    }

    /// The algorithms it is made for.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Begins a pass through the network for one of its algorithms.
    pub fn pass(&self, weights: &Weights, task: usize) -> ForwardContext {
        let on_cpu = matches!(weights.device().inner().as_dispatch(), DispatchDevice::Flex(_));
        ForwardContext::new(weights, task, &self.heads[task], self.settings.hidden, self.fused && on_cpu)
    }

    /// Gradients of parameters from those that passes found.
    pub(crate) fn gradients(&self, parameters: &Parameters, task: usize, found: FoldedGradients) -> Vec<Option<Vec<f32>>> {
        weights::gradients(parameters, &self.heads[task], found)
    }

    /// The loss of a batch of an algorithm, `[1]`: of its outputs, and of its hints where these are judged. `cells` says of
    /// each probe how many cells its loss is a mean over: [`Batch::judged_cells`] of the batch that this one is a part of.
    pub fn loss(&self, pass: &ForwardContext, batch: &Batch, cells: &[f64], random: Option<&mut RandomState>) -> Tensor<1> {
        let spec = batch.spec();
        let judged = self.settings.hint_mode.is_supervised();
        let mut sum: Option<Tensor<1>> = None;
        let outputs = self.unroll(pass, batch, Mode::Train(random), &mut |step, place, logits| {
            let samples = batch.judged(step);
            if !judged || samples == 0 {
                return;
            }
            let logits = first(logits, samples);
            let truth = batch.values(place, step + 1, samples);
            sum = Some(add_loss(sum.take(), pass, &spec[place], logits, truth, cells[place]));
        });
        for (place, logits) in outputs {
            let truth = batch.values(place, 0, batch.samples());
            sum = Some(add_loss(sum, pass, &spec[place], logits, truth, cells[place]));
        }
        sum.expect("an algorithm has an output")
    }

    /// Runs over the steps of a batch and returns the logits of every output by its place in the spec, samples in the batch's
    /// order. Every step shows the logits of its hints, of all samples that are alive.
    pub fn unroll(
        &self,
        pass: &ForwardContext,
        batch: &Batch,
        mode: Mode<'_>,
        on_hint: &mut dyn FnMut(usize, usize, &Tensor<3>),
    ) -> Vec<(usize, Tensor<3>)> {
        self.watch(pass, batch, mode, &mut |shown| {
            shown.hints.iter().for_each(|(place, logits)| on_hint(shown.step, *place, logits));
        })
    }

    /// The same, but a step shows all there is to see of it.
    pub fn watch(
        &self,
        pass: &ForwardContext,
        batch: &Batch,
        mut mode: Mode<'_>,
        watch: &mut dyn FnMut(&StepView<'_>),
    ) -> Vec<(usize, Tensor<3>)> {
        let (task, device) = (pass.task, pass.device());
        let inputs = self.inputs(task, batch, &device);
        let mut state = State::default();
        let mut ended = Vec::new();
        let places: Vec<usize> = (0..batch.samples()).collect();
        for step in 0..batch.steps() {
            let (now, next) = (batch.live(step), batch.live(step + 1));
            let hints = self.hints(pass, batch, step, now, state.hints.take(), &mut mode);
            let (read, lstm) = self.step(pass, &inputs, &hints, now, &state, &mut mode);
            let logits = self.decode(pass, &read, Stage::Hint, &mut mode);
            watch(&StepView { step, active: &places[..now], hidden: &read.next, hints: &logits });
            if next < now {
                ended.push(read.slice(next..now));
            }
            if next > 0 {
                let keep = |rows: Tensor<2>| if next < now { rows.slice([0..next * batch.nodes()]) } else { rows };
                state = State {
                    hidden: Some(keep(read.next)),
                    lstm: lstm.map(|state| state.map(keep)),
                    hints: self.settings.hint_mode.decodes().then_some(logits),
                };
            }
        }
        // The longest samples end last and are first in the batch.
        ended.reverse();
        let read = Read::concatenate(ended);
        self.decode(pass, &read, Stage::Output, &mut mode)
    }

    /// What does not change from step to step.
    pub(crate) fn inputs(&self, task: usize, batch: &Batch, device: &Device) -> RawFeatures {
        let samples = batch.samples();
        self.said(task, samples, batch.nodes(), device, |place| batch.tensor(place, 0, samples, device))
    }

    /// What inputs say.
    pub(crate) fn said(
        &self,
        task: usize,
        samples: usize,
        nodes: usize,
        device: &Device,
        value: impl Fn(usize) -> Tensor<3>,
    ) -> RawFeatures {
        let spec = &self.tasks[task].spec;
        let mut said = RawFeatures::default();
        if self.processor.reads_adjacency() || self.processor.masks_decoders() {
            let itself = Tensor::<2>::eye(nodes, device).greater_scalar(0.5).reshape([1, nodes, nodes]);
            said.neighbours = Some(itself.expand([samples, nodes, nodes]));
        }
        for encoder in self.heads[task].encoders.of(spec, Stage::Input) {
            said.add(&spec[encoder.probe], nodes, value(encoder.probe), encoder);
        }
        said.join();
        said
    }

    /// The hints that a step reads, by their places in the spec: the truth, or what was predicted.
    pub(crate) fn hints(
        &self,
        pass: &ForwardContext,
        batch: &Batch,
        step: usize,
        samples: usize,
        predicted: Option<Vec<(usize, Tensor<3>)>>,
        mode: &mut Mode<'_>,
    ) -> Vec<(usize, Tensor<3>)> {
        let (spec, device) = (batch.spec(), pass.device());
        let read = self.heads[pass.task].encoders.of(spec, Stage::Hint);
        let truth = |place: usize| batch.tensor(place, step, samples, &device);
        let Some(predicted) = predicted else {
            return read.map(|encoder| (encoder.probe, truth(encoder.probe))).collect();
        };
        let forced: Option<Vec<bool>> = match mode {
            Mode::Evaluate => None,
            Mode::Train(random) => force(self.settings.teacher_forcing, samples, random.as_deref_mut()),
        };
        let feed = |place: usize| {
            let logits = &predicted.iter().find(|(of, _)| *of == place).expect("what is read is predicted").1;
            let logits = first(logits, samples);
            let fed = self.feed(pass, spec[place].kind, logits, matches!(mode, Mode::Evaluate));
            match &forced {
                None => fed,
                Some(forced) => choose(forced, fed, || truth(place)),
            }
        };
        read.map(|encoder| (encoder.probe, feed(encoder.probe))).collect()
    }

    /// What is fed back of the logits of a hint.
    pub(crate) fn feed(&self, pass: &ForwardContext, kind: Kind, logits: Tensor<3>, evaluating: bool) -> Tensor<3> {
        let hard = match self.settings.feedback {
            Feedback::Soft => false,
            Feedback::Hard | Feedback::Hard2022 => true,
            Feedback::HardOnEval => evaluating,
        };
        match (hard, kind) {
            (true, Kind::Scalar) if self.settings.feedback == Feedback::Hard2022 => logits,
            (true, _) => feedback::hard(kind, logits, FED_BACK),
            (false, _) => feedback::soft(pass, kind, logits),
        }
    }

    /// One step of the algorithm: features, messages, and what decoders read of them.
    pub(crate) fn step<'p>(
        &self,
        pass: &'p ForwardContext,
        inputs: &RawFeatures,
        hints: &[(usize, Tensor<3>)],
        samples: usize,
        state: &State,
        mode: &mut Mode<'_>,
    ) -> (Read<'p>, Option<LstmState>) {
        let (task, nodes) = (pass.task, inputs.nodes_count());
        let spec = &self.tasks[task].spec;
        let mut said = inputs.slice(samples);
        for (encoder, (place, value)) in self.heads[task].encoders.of(spec, Stage::Hint).zip(hints) {
            said.add(&spec[*place], nodes, value.clone(), encoder);
        }
        let (raw_nodes, raw_edges, raw_graph) = said.channels(samples, nodes, &pass.device());
        let mut input = Input {
            nodes: Nodes { pass, samples, count: nodes, raw: raw_nodes, hidden: state.hidden.clone() },
            edges: Edges { pass, raw: raw_edges },
            graph: Graph { pass, raw: raw_graph },
            adjacency: said.neighbours,
        };
        let before = input.nodes.clone();
        let mut output = self.processor.step(pass, &input);
        for _ in 1..self.settings.message_steps {
            input.nodes.hidden = Some(output.hidden);
            output = self.processor.step(pass, &input);
        }
        let mut next = output.hidden;
        if let Mode::Train(Some(random)) = mode
            && self.settings.dropout > 0.0
        {
            next = dropout(next, self.settings.dropout, random);
        }
        let lstm = self.lstm.as_ref().map(|lstm| {
            let state = lstm.step(pass, next.clone(), state.lstm.clone());
            next = state.hidden.clone();
            state
        });
        let allowed = input.adjacency.filter(|_| self.processor.masks_decoders());
        let Input { edges, graph, .. } = input;
        (Read { nodes: before, next, edges, edge_state: output.edges, graph, allowed, once: Once::default() }, lstm)
    }

    /// The logits of all probes of a stage, by their places in the spec.
    pub(crate) fn decode(&self, pass: &ForwardContext, read: &Read<'_>, stage: Stage, mode: &mut Mode<'_>) -> Vec<(usize, Tensor<3>)> {
        let task = pass.task;
        let spec = &self.tasks[task].spec;
        let logits = |decoder: &Decoder| {
            let probe = &spec[decoder.probe];
            let mut logits = decoder.logits(probe, pass, read);
            if matches!(probe.kind, Kind::Permutation | Kind::CyclicPermutation) {
                if let Mode::Train(Some(random)) = mode {
                    logits = logits.clone() + gumbel(logits.dims(), random, &logits.device());
                }
                logits = log_sinkhorn(pass, logits, DECODED);
            }
            (decoder.probe, logits)
        };
        self.heads[task].decoders.of(spec, stage).map(logits).collect()
    }
}

/// What goes from step to step.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) hidden: Option<Tensor<2>>,
    pub(crate) lstm: Option<LstmState>,
    pub(crate) hints: Option<Vec<(usize, Tensor<3>)>>,
}

/// The truth for some samples, and what is fed back for the others.
pub(crate) fn choose(forced: &[bool], fed: Tensor<3>, truth: impl Fn() -> Tensor<3>) -> Tensor<3> {
    if forced.iter().all(|forced| *forced) {
        return truth();
    }
    let device = fed.device();
    let marks = Tensor::<3, Bool>::from_data(TensorData::new(forced.to_vec(), [forced.len(), 1, 1]), &device);
    let shape = fed.dims();
    fed.mask_where(marks.expand(shape), truth())
}

/// Which samples are fed the truth; none if no one can be.
pub(crate) fn force(chance: f64, samples: usize, random: Option<&mut RandomState>) -> Option<Vec<bool>> {
    match random {
        _ if chance >= 1.0 => Some(vec![true; samples]),
        Some(random) if chance > 0.0 => Some((0..samples).map(|_| random.double() < chance).collect()),
        _ => None,
    }
}

/// Some values are dropped, the others made larger, so that their sum is expected to stay.
fn dropout(rows: Tensor<2>, chance: f64, random: &mut RandomState) -> Tensor<2> {
    let (shape, device) = (rows.dims(), rows.device());
    #[expect(clippy::cast_possible_truncation, reason = "a factor")]
    let factor = (1.0 / (1.0 - chance)) as f32;
    let kept = (0..shape[0] * shape[1]).map(|_| if random.double() < chance { 0.0 } else { factor }).collect();
    rows * Tensor::from_data(TensorData::new::<f32, _>(kept, shape), &device)
}

/// Gumbel's noise makes a choice by the largest a draw by chances.
fn gumbel(shape: [usize; 3], random: &mut RandomState, device: &Device) -> Tensor<3> {
    #[expect(clippy::cast_possible_truncation, reason = "noise")]
    let one = |()| -libm::log(-libm::log(random.double() + 1e-12) + 1e-12) as f32;
    let noise = std::iter::repeat_n((), shape.iter().product()).map(one).collect();
    Tensor::from_data(TensorData::new::<f32, _>(noise, shape), device)
}

/// The most numbers of a hidden vector, and features of a triplet.
const MOST_HIDDEN: usize = 1 << 14;

fn validate(tasks: &[Task], settings: &ModelConfig) -> Result<(), BuildError> {
    let wrong = |name: &'static str, value: &dyn std::fmt::Display, rule: &'static str| {
        Err(BuildError::Setting { name, value: value.to_string(), rule })
    };
    if tasks.is_empty() {
        return Err(BuildError::NoTask);
    }
    if settings.hidden == 0 {
        return wrong("hidden", &0, "a hidden vector has one number at least");
    }
    if settings.hidden > MOST_HIDDEN {
        return wrong("hidden", &settings.hidden, "so many numbers for every node do not fit");
    }
    if settings.message_steps == 0 {
        return wrong("message_steps", &0, "a step of the algorithm takes one step of message passing at least");
    }
    if settings.heads == 0 || !settings.hidden.is_multiple_of(settings.heads) {
        return wrong("heads", &settings.heads, "heads must divide `hidden`");
    }
    if settings.triplet_features == 0 {
        return wrong("triplet_features", &0, "a triplet has one feature at least");
    }
    if settings.triplet_features > MOST_HIDDEN {
        return wrong("triplet_features", &settings.triplet_features, "so many features for every triplet do not fit");
    }
    if !(0.0..=1.0).contains(&settings.teacher_forcing) {
        return wrong("teacher_forcing", &settings.teacher_forcing, "a chance is from 0 to 1");
    }
    if !(0.0..1.0).contains(&settings.dropout) {
        return wrong("dropout", &settings.dropout, "a chance is from 0 to 1, and something must be kept");
    }
    Ok(())
}
