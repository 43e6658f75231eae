//! Floating-point operations of a batch, for rates and for the share of a machine's peak.
//!
//! Counts the necessary work, from the shapes of a batch: the steps of active samples, matrix products, and operations on every pair and
//! triplet of nodes. A multiply-add counts as two. Elementwise work on nodes (activations, norms, losses), folding of weights, the
//! optimizer, and recomputation are not counted. Products of rows after a `ReLU` count in full, zeros included: kernels that skip zeros
//! (`sparse.rs` of `clrs-kernels`) can therefore exceed the machine's peak. The number of messages, and of those that have a gradient, does
//! not follow from shapes: the kernels count them.

use clrs::{Kind, Location, Probe, Stage};
use clrs_kernels::messages::MessageCounts;

use crate::config::model::{Aggregation, Feedback, ModelConfig};
use crate::data::batch::ModelBatch;
use crate::model::encoders::is_pointer;
use crate::model::network::Network;
use crate::model::processors::structure::Structure;

/// Floating-point operations of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Flops {
    /// From inputs to logits: a complete evaluation.
    pub forward: f64,
    /// From the loss to all gradients: the rest of a training step.
    pub backward: f64,
}

impl Flops {
    /// Counts the work of a batch, given the messages that the kernels counted. `None` for processors outside the message-passing family,
    /// and if no kernel counted.
    pub fn count(network: &Network, batch: &ModelBatch, messages: MessageCounts) -> Option<Flops> {
        let (structure, config) = (network.processor().message_passing()?, network.config());
        if config.aggregation != Aggregation::Max || messages.forward == 0 {
            return None;
        }
        let mut tally = Tally { structure, config, batch, channels: Channels::of(config, batch), flops: Flops::default() };
        tally.messages(messages);
        for step in 0..batch.steps() {
            tally.step(step);
        }
        let last = At { samples: batch.samples(), first: batch.steps() == 1 };
        tally.decode(Stage::Output, last);
        Some(tally.flops)
    }
}

/// Number of raw channels of nodes, edges and the graph, and whether fed-back predictions are among them.
#[derive(Clone, Copy, Debug, Default)]
struct Channels {
    nodes: usize,
    edges: usize,
    graph: usize,
    nodes_fed: bool,
    edges_fed: bool,
    graph_fed: bool,
}

impl Channels {
    fn of(config: &ModelConfig, batch: &ModelBatch) -> Channels {
        let mut channels = Channels::default();
        let soft = matches!(config.feedback, Feedback::Soft | Feedback::HardOnEval) && config.teacher_forcing < 1.0;
        let is_read = |probe: &&Probe| match probe.stage {
            Stage::Input => true,
            Stage::Hint => config.hint_mode.encodes(),
            Stage::Output => false,
        };
        for probe in batch.spec().iter().filter(is_read) {
            let (count, fed) = match (probe.location, is_pointer(probe.kind)) {
                (Location::Node, false) => (&mut channels.nodes, &mut channels.nodes_fed),
                (Location::Node, true) | (Location::Edge, _) => (&mut channels.edges, &mut channels.edges_fed),
                (Location::Graph, _) => (&mut channels.graph, &mut channels.graph_fed),
            };
            // An edge pointer has a channel for each end of the edge.
            *count += if probe.location == Location::Edge && is_pointer(probe.kind) { 2 } else { classes(probe) };
            *fed |= probe.stage == Stage::Hint && soft;
        }
        channels
    }
}

fn classes(probe: &Probe) -> usize {
    if let Kind::Categorical { classes } = probe.kind { classes } else { 1 }
}

/// Samples that are processed or decoded together. The first step has neither hidden states nor predictions.
#[derive(Clone, Copy, Debug)]
struct At {
    samples: usize,
    first: bool,
}

struct Tally<'b> {
    structure: Structure,
    config: &'b ModelConfig,
    batch: &'b ModelBatch,
    channels: Channels,
    flops: Flops,
}

impl Tally<'_> {
    fn add(&mut self, forward: usize, backward: usize) {
        self.flops.forward += forward as f64;
        self.flops.backward += backward as f64;
    }

    /// A matrix product. Backward has one for the weights, and one for the other factor if it has a gradient.
    fn product(&mut self, [rows, inputs, outputs]: [usize; 3], has_gradient: bool) {
        let once = 2 * rows * inputs * outputs;
        self.add(once, if has_gradient { 2 * once } else { once });
    }

    /// A layer over node channels and the hidden state before the step.
    fn nodes(&mut self, at: At, outputs: usize) {
        let hidden = if at.first { 0 } else { self.config.hidden };
        self.product([at.samples * self.batch.nodes(), self.channels.nodes + hidden, outputs], !at.first);
    }

    /// A layer over node channels and the hidden states before and after the step.
    fn nodes_after(&mut self, at: At, outputs: usize) {
        self.nodes(at, outputs);
        self.product([at.samples * self.batch.nodes(), self.config.hidden, outputs], true);
    }

    /// A layer over edge channels.
    fn edges(&mut self, at: At, outputs: usize) {
        let pairs = at.samples * self.batch.nodes().pow(2);
        self.product([pairs, self.channels.edges, outputs], self.channels.edges_fed && !at.first);
    }

    /// A decoder layer over the edge states of triplet reasoning.
    fn edge_state(&mut self, at: At, outputs: usize) {
        if self.structure.triplets {
            let pairs = at.samples * self.batch.nodes().pow(2);
            self.product([pairs, self.config.hidden, outputs], true);
            self.add(pairs * outputs, 0);
        }
    }

    fn graph(&mut self, at: At, outputs: usize) {
        self.product([at.samples, self.channels.graph, outputs], self.channels.graph_fed && !at.first);
    }

    /// All messages of all steps.
    fn messages(&mut self, MessageCounts { forward, backward }: MessageCounts) {
        let (h, c) = (self.config.hidden as f64, self.channels.edges as f64);
        let samples = |steps: std::ops::Range<usize>| steps.map(|step| self.batch.active(step)).sum::<usize>() as f64;
        let (all, later) = (samples(0..self.batch.steps()), samples(1..self.batch.steps()));
        let receivers = all * (self.batch.nodes() * self.config.message_steps) as f64;
        // The sum of both ends and the edge channels, then two layers.
        self.flops.forward += forward as f64 * (2.0 * (c + 1.0) * h + 4.0 * h * h);
        // A receiver has one argmax per hidden unit: a row of the output layer, and one of its gradient.
        self.flops.backward += receivers * 4.0 * h * h;
        // A message with a gradient has the hidden layer twice, both ends, the weights of the channels, and predicted channels.
        self.flops.backward += backward as f64 * (4.0 * h * h + 2.0 * h + 2.0 * c * h);
        if self.channels.edges_fed {
            self.flops.backward += backward as f64 * (later / all) * 2.0 * c * h;
        }
    }

    fn step(&mut self, step: usize) {
        let (n, h) = (self.batch.nodes(), self.config.hidden);
        let at = At { samples: self.batch.active(step), first: step == 0 };
        let rows = at.samples * n;
        for message_step in 0..self.config.message_steps {
            let at = At { first: at.first && message_step == 0, ..at };
            // Receiver, sender and skip connection; the update.
            (0..3).for_each(|_| self.nodes(at, h));
            self.product([rows, h, h], true);
            self.graph(at, h);
            if self.structure.gated {
                self.nodes(at, h);
                (0..2).for_each(|_| self.product([rows, h, h], true));
            }
            if self.structure.triplets {
                let (t, pairs) = (self.config.triplet_features, at.samples * n * n);
                (0..3).for_each(|_| self.nodes(at, t));
                (0..3).for_each(|_| self.edges(at, t));
                self.graph(at, t);
                // A sum and a comparison per triplet; backward, two sums per pair.
                self.add(2 * pairs * n * t, 2 * pairs * t);
                self.product([pairs, t, h], true);
            }
        }
        if self.config.lstm {
            self.product([rows, 2 * h, 4 * h], true);
        }
        if self.config.hint_mode.decodes() {
            self.decode(Stage::Hint, at);
        }
    }

    /// The decoders of a stage.
    fn decode(&mut self, stage: Stage, at: At) {
        let (n, h) = (self.batch.nodes(), self.config.hidden);
        let (rows, pairs) = (at.samples * n, at.samples * n * n);
        let batch = self.batch;
        for probe in batch.spec().iter().filter(|probe| probe.stage == stage) {
            let k = classes(probe);
            match (probe.location, is_pointer(probe.kind)) {
                (Location::Node, false) => self.nodes_after(at, k),
                (Location::Node, true) => {
                    (0..2).for_each(|_| self.nodes_after(at, h));
                    self.edges(at, h);
                    self.edge_state(at, h);
                    // The last layer; backward, its weight and the larger end.
                    self.add(2 * pairs * h, 4 * pairs * h);
                }
                (Location::Edge, false) => {
                    (0..2).for_each(|_| self.nodes_after(at, k));
                    self.edges(at, k);
                    self.edge_state(at, k);
                    self.add(2 * pairs * k, 2 * pairs * k);
                }
                (Location::Edge, true) => {
                    (0..3).for_each(|_| self.nodes_after(at, h));
                    self.edges(at, h);
                    self.edge_state(at, h);
                    self.add(2 * pairs * h, 2 * pairs * h);
                    // A multiply-add per triplet; backward, a sum to either end.
                    self.add(2 * pairs * n * h, 2 * pairs * n * h);
                }
                (Location::Graph, _) => {
                    self.product([rows, self.channels.nodes, h], self.channels.nodes_fed && !at.first);
                    self.product([at.samples, 3 * h, k], true);
                    self.graph(at, k);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clrs::{Array, ArrayData, DType, Kind, Location, Probe, Spec, Stage};
    use clrs_kernels::messages::MessageCounts;

    use super::Flops;
    use crate::config::model::ModelConfig;
    use crate::data::batch::ModelBatch;
    use crate::model::network::{Network, Task};

    const HIDDEN: usize = 16;
    const NODES: usize = 4;

    /// Two samples of four nodes, with three and two rows of hints: both take a step, one a second.
    fn batch() -> ModelBatch {
        let probe = |name: &'static str, stage, kind| Probe {
            name: name.into(),
            stage,
            location: Location::Node,
            kind,
            masked: false,
            dtype: DType::F32,
            description: "".into(),
        };
        let probes = vec![
            probe("key", Stage::Input, Kind::Scalar),
            probe("marked", Stage::Output, Kind::Mask),
            probe("pred_h", Stage::Hint, Kind::Pointer),
        ];
        let array = |shape: &[usize]| Array { shape: shape.to_vec(), data: ArrayData::F32(vec![0.0; shape.iter().product()]) };
        let arrays = vec![array(&[2, NODES]), array(&[2, NODES]), array(&[3, 2, NODES])];
        ModelBatch::new(&clrs::Batch { spec: Spec::new(probes).expect("names are unique"), arrays, lengths: vec![3.0, 2.0] })
    }

    fn network(processor: &str) -> Network {
        let config = ModelConfig { processor: processor.into(), hidden: HIDDEN, ..ModelConfig::default() };
        let task = Task { name: "test".into(), spec: batch().spec().clone() };
        Network::new(vec![task], &config, 0).expect("a network").0
    }

    /// 16 messages per sample and step; 30 of the 48 have a gradient.
    const MESSAGES: MessageCounts = MessageCounts { forward: 48, backward: 30 };

    #[test]
    fn flops_of_a_small_batch_equal_a_calculation_by_hand() {
        let forward = [
            3 * 2 * 8 * 16,                       // first step: receiver, sender and skip of 8 nodes with one channel
            2 * 8 * 16 * 16,                      // and the update
            3 * 2 * 4 * 17 * 16,                  // second step: 4 nodes, with hidden states
            2 * 4 * 16 * 16,                      // and the update
            48 * (2 * 16 + 2 * 16 + 2 * 2 * 256), // messages: a channel, two sums, two layers
            2 * (2 * 8 * 16 + 2 * 8 * 256),       // pointers of the first step: both ends before and after
            2 * 16 * 16 * (2 + 2),                // and 16 pairs of 2 samples: a channel, the last layer
            2 * (2 * 4 * 17 * 16 + 2 * 4 * 256),  // of the second step
            16 * 16 * (2 + 2),                    // and its pairs
            2 * 8 * 17 + 2 * 8 * 16,              // the mask of 8 nodes
        ];
        let backward = [
            3 * 2 * 8 * 16,      // inputs of the first step have no gradient
            2 * 2 * 8 * 16 * 16, // all other products have two
            2 * 3 * 2 * 4 * 17 * 16,
            2 * 2 * 4 * 16 * 16,
            12 * 2 * 2 * 256,                     // 12 receivers: the last layer and its input
            30 * (2 * 2 * 256 + 2 * 16 + 2 * 16), // messages with a gradient: the middle layer and its input, two ends, channel weights
            30 / 3 * 2 * 16,                      // the channel itself, in the second step: a third of all
            2 * (2 * 8 * 16 + 2 * 2 * 8 * 256),
            2 * 16 * 16 * (2 + 4), // pairs: weights of the channel; last layer and larger end
            2 * (2 * 2 * 4 * 17 * 16 + 2 * 2 * 4 * 256),
            16 * 16 * (2 + 2 + 4), // and the channel itself
            2 * (2 * 8 * 17 + 2 * 8 * 16),
        ];
        let [forward, backward] = [forward.iter().sum::<i32>(), backward.iter().sum()].map(f64::from);
        assert_eq!((forward, backward), (86_416.0, 111_328.0));
        assert_eq!(Flops::count(&network("mpnn"), &batch(), MESSAGES), Some(Flops { forward, backward }));
    }

    #[test]
    fn triplets_and_gates_add_their_layers() {
        let of = |processor| Flops::count(&network(processor), &batch(), MESSAGES).expect("of the family").forward;
        let gate = 2 * 8 * 16 + 2 * 4 * 17 * 16 + 2 * 2 * 12 * 256;
        assert_eq!(of("gmpnn") - of("mpnn"), f64::from(gate));
        let triplets = 3 * (2 * 8 * 8 + 2 * 4 * 17 * 8) // nodes
            + 3 * 2 * 48 * 8 // edges
            + 2 * 48 * 4 * 8 // triplets
            + 2 * 48 * 8 * 16 // update
            + 2 * 48 * 256 + 48 * 16; // pointers over edge states
        assert_eq!(of("triplet_mpnn") - of("mpnn"), f64::from(triplets));
        assert_eq!(of("triplet_gpgn_mask"), of("triplet_gmpnn"));
    }

    #[test]
    fn processors_without_counts_have_no_flops() {
        assert_eq!(Flops::count(&network("gat"), &batch(), MESSAGES), None);
        assert_eq!(Flops::count(&network("mpnn"), &batch(), MessageCounts::default()), None);
    }
}
