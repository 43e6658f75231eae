//! Message passing: every node aggregates messages by maximum, mean or sum.
//!
//! The message from `x` to `y` is an MLP over both nodes, their edge and the graph. Messages from all nodes give the MPNN of
//! Gilmer et al. (2017), from neighbors the PGN of Veličković et al. (2020), from the node itself the Deep Sets of Zaheer et al.
//! (2017). Triplet reasoning is that of Dudzik and Veličković (2022); with the maximum and the gate, that of Ibarz et al. (2022).

use burn::tensor::Tensor as BurnTensor;
use burn::tensor::activation::relu;
use clrs_kernels::messages::MASK_VALUE;

use super::structure::{Senders, Structure};
use super::{LayerNorm, Processor, ProcessorInput, ProcessorOutput};
use crate::config::model::{AbsentEdges, Aggregation, ModelConfig};
use crate::exec::context::ForwardContext;
use crate::exec::features::Affine;
use crate::exec::fused::{self, MessageLayers};
use crate::exec::parameters::{Init, Linear, ParameterBuilder};
use crate::exec::tensor::Tensor;

pub(super) struct MessagePassing {
    structure: Structure,
    aggregation: Aggregation,
    absent_edges: AbsentEdges,
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
    pub(super) fn new(structure: Structure, config: &ModelConfig, builder: &mut ParameterBuilder) -> MessagePassing {
        let h = config.hidden;
        let mut next = 0;
        // Haiku numbers layers in the order of their creation.
        let mut number = || {
            next += 1;
            if next == 1 { "linear".to_string() } else { format!("linear_{}", next - 1) }
        };
        let mut layer = |name: &str, inputs, outputs| builder.linear((name, &*number()), inputs, outputs);
        let receiver = layer("receiver", 2 * h, h);
        let sender = layer("sender", 2 * h, h);
        let edge = layer("edge", h, h);
        let graph = layer("graph", h, h);
        let skip = layer("skip", 2 * h, h);
        let update = layer("update", h, h);
        let triplets = structure.triplets.then(|| {
            let t = config.triplet_features;
            let nodes = ["first", "second", "third"].map(|name| layer(&format!("triplet/{name}"), 2 * h, t));
            let edges = ["first_second", "first_third", "second_third"].map(|name| layer(&format!("triplet/{name}"), h, t));
            Triplets { nodes, edges, graph: layer("triplet/graph", h, t), update: layer("triplet/update", t, h) }
        });
        let gates = structure.gated.then(|| [number(), number(), number()]);
        let message = [0, 1].map(|i| builder.linear((&*format!("message/{i}"), &*format!("mlp/~/linear_{i}")), h, h));
        let norm = config.layer_norm.then(|| LayerNorm::new("norm", h, builder));
        let gate = gates.map(|[node, update, last]| {
            let init = Init::TruncatedNormal { stddev: 1.0 / (h as f64).sqrt() };
            [
                builder.linear(("gate/node", &*node), 2 * h, h),
                builder.linear(("gate/update", &*update), h, h),
                builder.linear_with(("gate/last", &*last), [h, h], init, GATE_BIAS),
            ]
        });
        let ModelConfig { aggregation, absent_edges, .. } = *config;
        MessagePassing {
            structure,
            aggregation,
            absent_edges,
            receiver,
            sender,
            edge,
            graph,
            message,
            skip,
            update,
            triplets,
            norm,
            gate,
        }
    }

    /// Aggregated messages to every node, `[B * N, H]`.
    fn aggregate(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> Tensor<2> {
        let (b, n, h) = (input.samples(), input.node_count(), ctx.hidden);
        // Terms that do not depend on the sender are added to the receiver's, which are fewer than those of pairs.
        let receivers = input.affine().nodes(&input.nodes, self.receiver).graph(&input.graph, self.graph).edge_bias(self.edge);
        let (receivers, senders) = (receivers.rows(), input.nodes.rows(self.sender));
        if ctx.fused && self.aggregation == Aggregation::Max {
            let from = match self.structure.senders {
                Senders::All => fused::Senders::All,
                Senders::Itself => fused::Senders::Itself,
                Senders::Neighbors => fused::Senders::Neighbors(input.adjacency().host()),
            };
            let [hidden, output] = self.message;
            let layers = MessageLayers { edge: self.edge, hidden, output };
            let max = fused::messages(ctx, receivers, senders, input.edges.raw.clone(), layers, from);
            return if self.absent_edges == AbsentEdges::Zero { self.max_with_zeros(ctx, input, max) } else { max };
        }
        let (receivers, senders) = (receivers.burn(), senders.burn());
        let inner = |messages: BurnTensor<2>| relu(ctx.linear(self.message[0], relu(messages).into()).burn());
        let [weight, bias] = [self.message[1].weight, self.message[1].bias].map(|id| ctx.parameter(id));

        if self.structure.senders == Senders::Itself {
            let own = input.edges.self_loop_product(self.edge).reshape([b * n, h]) + receivers + senders;
            let own = inner(own).matmul(weight) + bias;
            let with_zeros = self.absent_edges == AbsentEdges::Zero && self.aggregation == Aggregation::Max && n > 1;
            return if with_zeros { relu(own) } else { own }.into();
        }
        let messages = input.edges.product(self.edge).burn() + receivers.reshape([b, 1, n, h]) + senders.reshape([b, n, 1, h]);
        let messages = inner(messages.reshape([b * n * n, h])).matmul(weight);
        match self.aggregation {
            Aggregation::Max if self.absent_edges == AbsentEdges::Zero && self.structure.senders == Senders::Neighbors => {
                let neighbors = input.neighbors().float().reshape([b, n, n, 1]);
                let messages = (messages + bias).reshape([b, n, n, h]) * neighbors;
                messages.max_dim(1).reshape([b * n, h]).into()
            }
            Aggregation::Max => {
                let mut messages = messages.reshape([b, n, n, h]);
                if self.structure.senders == Senders::Neighbors {
                    let non_neighbors = input.neighbors().bool_not().reshape([b, n, n, 1]).expand([b, n, n, h]);
                    messages = messages.mask_fill(non_neighbors, MASK_VALUE);
                }
                // Every node has at least its own message, so the bias can be added after the maximum.
                (messages.max_dim(1).reshape([b * n, h]) + bias).into()
            }
            Aggregation::Mean | Aggregation::Sum => {
                let mut messages = (messages + bias).reshape([b, n, n, h]);
                let mut degree = BurnTensor::full([1, n, 1], n as f32, &messages.device());
                if self.structure.senders == Senders::Neighbors {
                    let neighbors = input.neighbors().float();
                    messages = messages * neighbors.clone().reshape([b, n, n, 1]);
                    degree = neighbors.sum_dim(2); // of the sender, as in dm-clrs, where adjacency is symmetric
                }
                let sum = messages.sum_dim(1).reshape([b, n, h]);
                (if self.aggregation == Aggregation::Mean { sum / degree } else { sum }).reshape([b * n, h]).into()
            }
        }
    }

    /// The maximum over the messages of senders, and over 0 for nodes that do not receive from all others.
    fn max_with_zeros(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>, max: Tensor<2>) -> Tensor<2> {
        let n = input.node_count();
        let lacks_edges: Vec<f32> = match self.structure.senders {
            Senders::All => return max,
            Senders::Itself => return if n > 1 { max.relu() } else { max },
            // Symmetric, so a row has the senders of a node.
            Senders::Neighbors => input.adjacency().host().chunks_exact(n).map(|row| f32::from(row.contains(&false))).collect(),
        };
        let lacks_edges = ctx.tensor(lacks_edges, [input.samples() * n, 1]);
        max.clone().relu() * lacks_edges.clone() + max * lacks_edges.scale(-1.0, 1.0)
    }
}

/// Initial bias of the gate: nearly closed.
const GATE_BIAS: f32 = -3.0;

impl Processor for MessagePassing {
    fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
        let aggregated = self.aggregate(ctx, input);
        let mut hidden = input.affine().nodes(&input.nodes, self.skip).over(self.update, aggregated.clone()).relu();
        if let Some(norm) = &self.norm {
            hidden = norm.apply(ctx, hidden);
        }
        if let Some([node, update, last]) = self.gate {
            let inner = input.affine().nodes(&input.nodes, node).over(update, aggregated).relu();
            let open = ctx.linear(last, inner).sigmoid();
            hidden = match &input.nodes.hidden {
                None => hidden * open,
                Some(before) => hidden * open.clone() + before.clone() * open.scale(-1.0, 1.0),
            };
        }
        let edges = self.triplets.as_ref().map(|triplets| triplets.edge_states(ctx, input));
        ProcessorOutput { hidden, edges }
    }

    fn reads_adjacency(&self) -> bool {
        self.structure.senders == Senders::Neighbors
    }

    fn has_edge_state(&self) -> bool {
        self.triplets.is_some()
    }

    fn masks_decoders(&self) -> bool {
        self.structure.masks
    }

    fn has_fused_step(&self) -> bool {
        self.aggregation == Aggregation::Max
    }

    fn message_passing(&self) -> Option<Structure> {
        Some(self.structure)
    }
}

/// Triplet reasoning: the state of the edge `j, k` is the maximum over `i` of features of the triplet `i, j, k`, each a sum over three
/// nodes, three edges and the graph (Dudzik and Veličković, 2022).
struct Triplets {
    nodes: [Linear; 3],
    edges: [Linear; 3],
    graph: Linear,
    update: Linear,
}

impl Triplets {
    fn edge_states(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> Tensor<4> {
        let (b, n, t) = (input.samples(), input.node_count(), self.graph.outputs);
        let [i, j, k] = self.nodes.map(|layer| input.nodes.project(layer));
        let [ij, ik, jk] = self.edges.map(|layer| input.edges.product(layer));
        let bias = self.edges.iter().map(|&layer| input.edges.bias(layer)).reduce(|sum, bias| sum + bias).expect("three");
        // The maximum is over `i`, so terms that do not depend on it are added afterwards.
        let ij = ij + i.reshape([b, n, 1, t]);
        let max = if ctx.fused {
            fused::triplets(ctx, ij, ik)
        } else {
            let (ij, ik) = (ij.burn().reshape([b, n, n, 1, t]), ik.burn().reshape([b, n, 1, n, t]));
            (ij + ik).max_dim(1).reshape([b, n, n, t]).into()
        };
        let graph = input.graph.project(self.graph) + bias;
        let rest = jk + (j.reshape([b, n, 1, t]) + graph.reshape([b, 1, 1, t])) + k.reshape([b, 1, n, t]);
        let rows = (max + rest).reshape([b * n * n, t]);
        Affine::new(ctx, b * n * n, 1).over(self.update, rows).relu().reshape([b, n, n, ctx.hidden])
    }
}
