//! Message passing: every node hears from some nodes, and keeps the largest, the mean or the sum of what it hears.
//!
//! The message from `x` to `y` is a small network over both nodes, their edge and the graph. With all nodes as senders this is
//! the MPNN of Gilmer et al. (2017), with neighbours the PGN of Veličković et al. (2020), with a node alone Deep Sets of Zaheer
//! et al. (2017). Triplets are those of Dudzik and Veličković (2022),
//! triplets with the maximum and the gate those of Ibarz et al. (2022).

use burn::tensor::Tensor;
use burn::tensor::activation::{relu, sigmoid};

use super::{LayerNorm, Output, Processor};
use crate::exec::features::{Affine, Input, ForwardContext};
use crate::exec::fused::{self, Layers};
use crate::exec::parameters::{ParameterBuilder, Linear, Init};
use crate::config::model::{Aggregation, ModelConfig};

/// From whom a node hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Senders {
    All,
    Neighbours,
    Itself,
}

/// What sets the members of the family apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) senders: Senders,
    pub(super) triplets: bool,
    pub(super) gated: bool,
    pub(super) masks: bool,
}

impl Shape {
    pub(super) fn new(senders: Senders) -> Shape {
        Shape { senders, triplets: false, gated: false, masks: false }
    }
}

pub(super) struct MessagePassing {
    shape: Shape,
    aggregation: Aggregation,
    receiver: Linear,
    sender: Linear,
    edge: Linear,
    graph: Linear,
    message: [Linear; 2],
    skip: Linear,
    update: Linear,
    triplets: Option<Triplets>,
    norm: Option<LayerNorm>,
    gate: Option<[Linear; 3]>,
}

impl MessagePassing {
    pub(super) fn new(shape: Shape, settings: &ModelConfig, builder: &mut ParameterBuilder) -> MessagePassing {
        let h = settings.hidden;
        let mut next = 0;
        // The reference numbers its layers as they are made.
        let mut number = || {
            next += 1;
            if next == 1 { "linear".to_string() } else { format!("linear_{}", next - 1) }
        };
        let mut layer = |name: &str, inputs, outputs| builder.linear(name, &number(), inputs, outputs);
        let receiver = layer("receiver", 2 * h, h);
        let sender = layer("sender", 2 * h, h);
        let edge = layer("edge", h, h);
        let graph = layer("graph", h, h);
        let skip = layer("skip", 2 * h, h);
        let update = layer("update", h, h);
        let triplets = shape.triplets.then(|| {
            let t = settings.triplet_features;
            let nodes = ["first", "second", "third"].map(|name| layer(&format!("triplet/{name}"), 2 * h, t));
            let edges = ["first_second", "first_third", "second_third"].map(|name| layer(&format!("triplet/{name}"), h, t));
            Triplets { nodes, edges, graph: layer("triplet/graph", h, t), update: layer("triplet/update", t, h) }
        });
        let gates = shape.gated.then(|| [number(), number(), number()]);
        let message = [0, 1].map(|i| builder.linear(&format!("message/{i}"), &format!("mlp/~/linear_{i}"), h, h));
        let norm = settings.layer_norm.then(|| LayerNorm::new(h, builder));
        let gate = gates.map(|[node, update, last]| {
            let start = Init::Normal { deviation: 1.0 / (h as f64).sqrt() };
            [
                builder.linear("gate/node", &node, 2 * h, h),
                builder.linear("gate/update", &update, h, h),
                builder.linear_from("gate/last", &last, h, h, start, -3.0), // closed at first
            ]
        });
        let aggregation = settings.aggregation;
        MessagePassing { shape, aggregation, receiver, sender, edge, graph, message, skip, update, triplets, norm, gate }
    }

    /// What every node hears, put together, `[B * N, H]`.
    fn aggregate(&self, pass: &ForwardContext, input: &Input<'_>) -> Tensor<2> {
        let (b, n, h) = (input.samples(), input.count(), pass.hidden);
        // What does not depend on the sender is added to the receiver's part, which is smaller.
        let receivers = input.sum().nodes(&input.nodes, self.receiver).graph(&input.graph, self.graph).edge_bias(self.edge);
        let (receivers, senders) = (receivers.rows(), input.nodes.rows(self.sender));
        if pass.fused && self.aggregation == Aggregation::Max {
            let from = match self.shape.senders {
                Senders::All => fused::Senders::All,
                Senders::Itself => fused::Senders::Itself,
                Senders::Neighbours => fused::Senders::Neighbours(input.neighbour_mask()),
            };
            let [middle, last] = self.message;
            return fused::messages(pass, input, receivers, senders, Layers { edge: self.edge, middle, last }, from);
        }
        let inner = |messages: Tensor<2>| relu(pass.linear(self.message[0], relu(messages)));
        let [weight, bias] = [self.message[1].weight, self.message[1].bias].map(|handle| pass.get(handle));

        if self.shape.senders == Senders::Itself {
            let own = input.edges.product_with_itself(self.edge).reshape([b * n, h]) + receivers + senders;
            return inner(own).matmul(weight) + bias;
        }
        let messages = input.edges.product(self.edge) + receivers.reshape([b, 1, n, h]) + senders.reshape([b, n, 1, h]);
        let messages = inner(messages.reshape([b * n * n, h])).matmul(weight);
        match self.aggregation {
            Aggregation::Max => {
                let mut messages = messages.reshape([b, n, n, h]);
                if self.shape.senders == Senders::Neighbours {
                    let non_neighbours = input.neighbours().bool_not().reshape([b, n, n, 1]).expand([b, n, n, h]);
                    messages = messages.mask_fill(non_neighbours, MASK_VALUE);
                }
                // Every node hears itself at least, so the bias can wait.
                messages.max_dim(1).reshape([b * n, h]) + bias
            }
            Aggregation::Mean | Aggregation::Sum => {
                let mut messages = (messages + bias).reshape([b, n, n, h]);
                let mut aggregated = Tensor::full([1, n, 1], n as f32, &messages.device());
                if self.shape.senders == Senders::Neighbours {
                    let neighbours = input.neighbours().float();
                    messages = messages * neighbours.clone().reshape([b, n, n, 1]);
                    aggregated = neighbours.sum_dim(2); // of the sender, as in the reference: graphs are symmetric there
                }
                let sum = messages.sum_dim(1).reshape([b, n, h]);
                (if self.aggregation == Aggregation::Mean { sum / aggregated } else { sum }).reshape([b * n, h])
            }
        }
    }
}

/// What the reference takes for no message.
const MASK_VALUE: f32 = -1e6;

impl Processor for MessagePassing {
    fn step(&self, pass: &ForwardContext, input: &Input<'_>) -> Output {
        let aggregated = self.aggregate(pass, input);
        let mut hidden = input.sum().nodes(&input.nodes, self.skip).over(self.update, aggregated.clone()).relu();
        if let Some(norm) = &self.norm {
            hidden = norm.apply(pass, hidden);
        }
        if let Some([node, update, last]) = self.gate {
            let inner = input.sum().nodes(&input.nodes, node).over(update, aggregated).relu();
            let open = sigmoid(pass.linear(last, inner));
            hidden = match &input.nodes.hidden {
                None => hidden * open,
                Some(before) => hidden * open.clone() + before.clone() * (open.neg() + 1.0),
            };
        }
        let edges = self.triplets.as_ref().map(|triplets| triplets.state(pass, input));
        Output { hidden, edges }
    }

    fn reads_adjacency(&self) -> bool {
        self.shape.senders == Senders::Neighbours
    }

    fn has_edge_state(&self) -> bool {
        self.triplets.is_some()
    }

    fn masks_decoders(&self) -> bool {
        self.shape.masks
    }
}

/// A state of the pair `j, k`: the largest over `i` of features of the triplet `i, j, k`, each the sum of three nodes, three
/// edges and the graph (Dudzik and Veličković, 2022).
struct Triplets {
    nodes: [Linear; 3],
    edges: [Linear; 3],
    graph: Linear,
    update: Linear,
}

impl Triplets {
    fn state(&self, pass: &ForwardContext, input: &Input<'_>) -> Tensor<4> {
        let (b, n, t) = (input.samples(), input.count(), self.graph.outputs);
        let [i, j, k] = self.nodes.map(|layer| input.nodes.project(layer));
        let [ij, ik, jk] = self.edges.map(|layer| input.edges.product(layer));
        let bias = self.edges.iter().map(|&layer| input.edges.bias(layer)).reduce(|sum, bias| sum + bias).expect("three");
        // Only what depends on `i` is part of the maximum.
        let ij = ij + i.reshape([b, n, 1, t]);
        let max_pool = if pass.fused {
            fused::triplets(pass, ij, ik)
        } else {
            (ij.reshape([b, n, n, 1, t]) + ik.reshape([b, n, 1, n, t])).max_dim(1).reshape([b, n, n, t])
        };
        let graph = input.graph.project(self.graph) + bias;
        let rest = jk + (j.reshape([b, n, 1, t]) + graph.reshape([b, 1, 1, t])) + k.reshape([b, 1, n, t]);
        let rows = (max_pool + rest).reshape([b * n * n, t]);
        Affine::new(pass, b * n * n, 1).over(self.update, rows).relu().reshape([b, n, n, pass.hidden])
    }
}
