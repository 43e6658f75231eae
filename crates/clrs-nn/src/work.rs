//! How many floating-point operations a batch takes: what rates, and shares of what a machine can do, are made of.
//!
//! Counted is what has to be computed, from the shapes of a batch: the steps of samples that are alive, products of matrices,
//! what is done for every pair and triplet of nodes. A multiply-add counts two. Not counted are single numbers of nodes
//! (rectifiers, norms, losses), layers composed once per pass, the update of parameters, and what is computed a second time
//! instead of being kept. A product of rectified rows counts whole, zeros included, as others compute it: kernels that leave zeros
//! out (`sparse.rs` of `clrs-kernels`) can so do more than the machine's peak. How many messages there were, and how many of
//! them won something and have a gradient, no shape tells: the kernels count them.

use clrs::{Kind, Location, Probe, Stage};
use clrs_kernels::messages::Count;

use crate::batch::Batch;
use crate::encode::is_pointer;
use crate::settings::{Aggregation, Feedback, Settings};

/// Floating-point operations of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// From inputs to logits: all of an evaluation.
    pub forward: f64,
    /// From the loss to all gradients: the rest of a step of training.
    pub backward: f64,
}

impl Work {
    /// The work of fused kernels for a batch, whose messages they counted; nothing for processors outside the message-passing
    /// family, and where no kernel counted.
    pub fn count(settings: &Settings, batch: &Batch, messages: Count) -> Option<Work> {
        let family = Family::of(&settings.processor)?;
        if settings.aggregation != Aggregation::Max || messages.sent == 0 {
            return None;
        }
        let mut tally = Tally { family, settings, batch, channels: Channels::of(settings, batch), work: Work::default() };
        tally.messages(messages);
        for step in 0..batch.steps() {
            tally.step(step);
        }
        let last = At { samples: batch.samples(), first: batch.steps() == 1 };
        tally.decode(Stage::Output, last);
        Some(tally.work)
    }
}

/// Members of the message-passing family, as far as their work differs.
#[derive(Clone, Copy, Debug)]
struct Family {
    triplets: bool,
    gated: bool,
}

impl Family {
    fn of(processor: &str) -> Option<Family> {
        let triplets = processor.starts_with("triplet_");
        let name = processor.trim_start_matches("triplet_").trim_end_matches("_mask");
        match name {
            "mpnn" | "pgn" | "deepsets" => Some(Family { triplets, gated: false }),
            "gmpnn" | "gpgn" => Some(Family { triplets, gated: true }),
            _ => None,
        }
    }
}

/// Raw numbers that are read of a node, of a pair of nodes and of the graph, and whether predictions are among them.
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
    fn of(settings: &Settings, batch: &Batch) -> Channels {
        let mut channels = Channels::default();
        let soft = matches!(settings.feedback, Feedback::Soft | Feedback::HardOnEval) && settings.teacher_forcing < 1.0;
        let is_read = |probe: &&Probe| match probe.stage {
            Stage::Input => true,
            Stage::Hint => settings.hint_mode.encodes(),
            Stage::Output => false,
        };
        for probe in batch.spec().iter().filter(is_read) {
            let (count, fed) = match (probe.location, is_pointer(probe.kind)) {
                (Location::Node, false) => (&mut channels.nodes, &mut channels.nodes_fed),
                (Location::Node, true) | (Location::Edge, _) => (&mut channels.edges, &mut channels.edges_fed),
                (Location::Graph, _) => (&mut channels.graph, &mut channels.graph_fed),
            };
            // An edge's pointer is seen from both of its nodes.
            *count += if probe.location == Location::Edge && is_pointer(probe.kind) { 2 } else { classes(probe) };
            *fed |= probe.stage == Stage::Hint && soft;
        }
        channels
    }
}

fn classes(probe: &Probe) -> usize {
    if let Kind::Categorical { classes } = probe.kind { classes } else { 1 }
}

/// The samples that are decoded or processed together; in the first step there is no hidden state and nothing predicted.
#[derive(Clone, Copy, Debug)]
struct At {
    samples: usize,
    first: bool,
}

struct Tally<'b> {
    family: Family,
    settings: &'b Settings,
    batch: &'b Batch,
    channels: Channels,
    work: Work,
}

impl Tally<'_> {
    fn add(&mut self, forward: usize, backward: usize) {
        self.work.forward += forward as f64;
        self.work.backward += backward as f64;
    }

    /// A product of matrices. Backward is one for the weights, and one for what is multiplied with them if that has a gradient.
    fn product(&mut self, [rows, inputs, outputs]: [usize; 3], has_gradient: bool) {
        let once = 2 * rows * inputs * outputs;
        self.add(once, if has_gradient { 2 * once } else { once });
    }

    /// A layer over the channels of nodes and the hidden state before the step.
    fn nodes(&mut self, at: At, outputs: usize) {
        let hidden = if at.first { 0 } else { self.settings.hidden };
        self.product([at.samples * self.batch.nodes(), self.channels.nodes + hidden, outputs], !at.first);
    }

    /// The same, and over the hidden state after it.
    fn nodes_after(&mut self, at: At, outputs: usize) {
        self.nodes(at, outputs);
        self.product([at.samples * self.batch.nodes(), self.settings.hidden, outputs], true);
    }

    /// A layer over the channels of edges.
    fn edges(&mut self, at: At, outputs: usize) {
        let pairs = at.samples * self.batch.nodes().pow(2);
        self.product([pairs, self.channels.edges, outputs], self.channels.edges_fed && !at.first);
    }

    /// What decoders make of the state that triplets give an edge.
    fn edge_state(&mut self, at: At, outputs: usize) {
        if self.family.triplets {
            let pairs = at.samples * self.batch.nodes().pow(2);
            self.product([pairs, self.settings.hidden, outputs], true);
            self.add(pairs * outputs, 0);
        }
    }

    fn graph(&mut self, at: At, outputs: usize) {
        self.product([at.samples, self.channels.graph, outputs], self.channels.graph_fed && !at.first);
    }

    /// All messages of all steps.
    fn messages(&mut self, Count { sent, won }: Count) {
        let (h, c) = (self.settings.hidden as f64, self.channels.edges as f64);
        let samples = |steps: std::ops::Range<usize>| steps.map(|step| self.batch.live(step)).sum::<usize>() as f64;
        let (all, later) = (samples(0..self.batch.steps()), samples(1..self.batch.steps()));
        let receivers = all * (self.batch.nodes() * self.settings.message_steps) as f64;
        // The sum of both ends and the channels, then two layers.
        self.work.forward += sent as f64 * (2.0 * (c + 1.0) * h + 4.0 * h * h);
        // A receiver has a winner per channel: a row of the last layer, and one of its gradient.
        self.work.backward += receivers * 4.0 * h * h;
        // A winner has the middle layer, twice, both ends, the weights of channels, and channels where they were predicted.
        self.work.backward += won as f64 * (4.0 * h * h + 2.0 * h + 2.0 * c * h);
        if self.channels.edges_fed {
            self.work.backward += won as f64 * (later / all) * 2.0 * c * h;
        }
    }

    fn step(&mut self, step: usize) {
        let (n, h) = (self.batch.nodes(), self.settings.hidden);
        let at = At { samples: self.batch.live(step), first: step == 0 };
        let rows = at.samples * n;
        for message_step in 0..self.settings.message_steps {
            let at = At { first: at.first && message_step == 0, ..at };
            // Receiver, sender and what goes past the messages; what was heard.
            (0..3).for_each(|_| self.nodes(at, h));
            self.product([rows, h, h], true);
            self.graph(at, h);
            if self.family.gated {
                self.nodes(at, h);
                (0..2).for_each(|_| self.product([rows, h, h], true));
            }
            if self.family.triplets {
                let (t, pairs) = (self.settings.triplet_features, at.samples * n * n);
                (0..3).for_each(|_| self.nodes(at, t));
                (0..3).for_each(|_| self.edges(at, t));
                self.graph(at, t);
                // Of every triplet a sum and a comparison; backward, two sums of every pair.
                self.add(2 * pairs * n * t, 2 * pairs * t);
                self.product([pairs, t, h], true);
            }
        }
        if self.settings.lstm {
            self.product([rows, 2 * h, 4 * h], true);
        }
        if self.settings.hint_mode.decodes() {
            self.decode(Stage::Hint, at);
        }
    }

    /// The decoders of a stage.
    fn decode(&mut self, stage: Stage, at: At) {
        let (n, h) = (self.batch.nodes(), self.settings.hidden);
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
                    // The last layer; backward that of the layer, and of the larger end.
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
                    // Of every triplet a multiply-add; backward a sum to either end.
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
    use clrs_kernels::messages::Count;

    use super::Work;
    use crate::batch::Batch;
    use crate::settings::Settings;

    const HIDDEN: usize = 16;
    const NODES: usize = 4;

    /// Two samples of four nodes, with three rows of hints and with two: both take a step, one a second.
    fn batch() -> Batch {
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
        Batch::new(&clrs::Batch { spec: Spec::new(probes).expect("no name twice"), arrays, lengths: vec![3.0, 2.0] })
    }

    fn settings(processor: &str) -> Settings {
        Settings { processor: processor.into(), hidden: HIDDEN, ..Settings::default() }
    }

    /// Of every sample and step, 16 messages; of the 48 together, 30 won something.
    const MESSAGES: Count = Count { sent: 48, won: 30 };

    #[test]
    fn the_work_of_a_small_batch_is_what_a_calculation_by_hand_gives() {
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
            30 * (2 * 2 * 256 + 2 * 16 + 2 * 16), // winners: the middle layer and its input, two ends, weights of the channel
            30 / 3 * 2 * 16,                      // the channel itself, in the second step: a third of all
            2 * (2 * 8 * 16 + 2 * 2 * 8 * 256),
            2 * 16 * 16 * (2 + 4), // pairs: weights of the channel; last layer and larger end
            2 * (2 * 2 * 4 * 17 * 16 + 2 * 2 * 4 * 256),
            16 * 16 * (2 + 2 + 4), // and the channel itself
            2 * (2 * 8 * 17 + 2 * 8 * 16),
        ];
        let [forward, backward] = [forward.iter().sum::<i32>(), backward.iter().sum()].map(f64::from);
        assert_eq!((forward, backward), (86_416.0, 111_328.0));
        assert_eq!(Work::count(&settings("mpnn"), &batch(), MESSAGES), Some(Work { forward, backward }));
    }

    #[test]
    fn triplets_and_gates_add_their_layers() {
        let of = |processor| Work::count(&settings(processor), &batch(), MESSAGES).expect("of the family").forward;
        let gate = 2 * 8 * 16 + 2 * 4 * 17 * 16 + 2 * 2 * 12 * 256;
        assert_eq!(of("gmpnn") - of("mpnn"), f64::from(gate));
        let triplets = 3 * (2 * 8 * 8 + 2 * 4 * 17 * 8) // nodes
            + 3 * 2 * 48 * 8 // edges
            + 2 * 48 * 4 * 8 // triplets
            + 2 * 48 * 8 * 16 // update
            + 2 * 48 * 256 + 48 * 16; // what pointers read of it
        assert_eq!(of("triplet_mpnn") - of("mpnn"), f64::from(triplets));
        assert_eq!(of("triplet_gpgn_mask"), of("triplet_gmpnn"));
    }

    #[test]
    fn what_is_not_counted_is_not_guessed() {
        assert_eq!(Work::count(&settings("gat"), &batch(), MESSAGES), None);
        assert_eq!(Work::count(&settings("mpnn"), &batch(), Count::default()), None);
    }
}
