//! Attention: every node takes a mean of what others offer, weighted by how well they match.
//!
//! GAT of Veličković et al. (2018) and `GATv2` of Brody et al. (2022), with edges and the graph in the scores.

use burn::tensor::Tensor;
use burn::tensor::activation::{leaky_relu, relu, softmax};

use super::{LayerNorm, Output, Processor};
use crate::model::encoders::Place;
use crate::exec::features::{Input, ForwardContext};
use crate::exec::fused::{self, Matched};
use crate::exec::parameters::{ParameterBuilder, Linear};
use crate::config::model::ModelConfig;
use crate::exec::weights::FoldedWeight;

/// How two nodes are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scoring {
    /// A number per node and head, summed.
    V1,
    /// A vector per node, summed, and a layer per head on top.
    V2,
}

pub(super) struct Attention {
    full: bool,
    heads: usize,
    value: Linear,
    skip: Linear,
    query: Linear,
    key: Linear,
    edge: Linear,
    graph: Linear,
    /// With [`Scoring::V2`], one layer per head.
    scores: Vec<Linear>,
    norm: Option<LayerNorm>,
}

/// The slope of the reference's leaky rectifier.
const SLOPE: f64 = 0.01;
/// Added to the score of a node that is no neighbour.
const MASK_VALUE: f32 = -1e9;

impl Attention {
    pub(super) fn new(scoring: Scoring, full: bool, settings: &ModelConfig, builder: &mut ParameterBuilder) -> Attention {
        let (h, heads) = (settings.hidden, settings.heads);
        let width = if scoring == Scoring::V1 { heads } else { h };
        let value = builder.linear("value", "linear", 2 * h, h);
        let skip = builder.linear("skip", "linear_1", 2 * h, h);
        // The reference's first layer belongs to the asking node in GAT, and to the asked one in GATv2.
        let (query, key) = match scoring {
            Scoring::V1 => ("linear_2", "linear_3"),
            Scoring::V2 => ("linear_3", "linear_2"),
        };
        let query = builder.linear("asking", query, 2 * h, width);
        let key = builder.linear("asked", key, 2 * h, width);
        let edge = builder.linear("edge", "linear_4", h, width);
        let graph = builder.linear("graph", "linear_5", h, width);
        let scores = match scoring {
            Scoring::V1 => Vec::new(),
            Scoring::V2 => (0..heads)
                .map(|head| builder.linear(&format!("score/{head}"), &format!("linear_{}", 6 + head), h / heads, 1))
                .collect(),
        };
        let norm = settings.layer_norm.then(|| LayerNorm::new(h, builder));
        Attention { full, heads, value, skip, query, key, edge, graph, scores, norm }
    }

    /// The sides of scores, `[B * N, width]` each; what does not depend on the edge is in the first.
    fn sides(&self, input: &Input<'_>) -> [Tensor<2>; 2] {
        let query = input.sum().nodes(&input.nodes, self.query).graph(&input.graph, self.graph).edge_bias(self.edge);
        [query.rows(), input.nodes.rows(self.key)]
    }

    /// What every node takes, `[B * N, H]`.
    fn take(&self, pass: &ForwardContext, input: &Input<'_>) -> Tensor<2> {
        let (b, n, h) = (input.samples(), input.count(), pass.hidden);
        let values = input.nodes.rows(self.value);
        if pass.fused {
            let [query, key] = self.sides(input);
            // A bias does not change a softmax: the layers of scores are their weights.
            let scores = self.scores.iter().map(|layer| FoldedWeight::Whole(layer.weight)).collect();
            let (raw, edge) = (input.edges.raw.clone(), FoldedWeight::Layer(self.edge, Place::Edges));
            let neighbours = (!self.full).then(|| input.neighbour_mask());
            return fused::attention(pass, Matched { query, key, raw, edge, values, scores }, self.heads, neighbours);
        }
        let mut scores = self.scores(pass, input).permute([0, 3, 1, 2]); // [B, heads, N, N]
        if !self.full {
            let non_neighbours = input.neighbours().bool_not().float() * MASK_VALUE;
            scores = scores + non_neighbours.reshape([b, 1, n, n]);
        }
        let values = values.reshape([b, n, self.heads, h / self.heads]).swap_dims(1, 2);
        softmax(scores, 3).matmul(values).swap_dims(1, 2).reshape([b * n, h])
    }

    /// How much each node asks of each other, `[B, N, N, heads]`.
    fn scores(&self, pass: &ForwardContext, input: &Input<'_>) -> Tensor<4> {
        let (b, n, width) = (input.samples(), input.count(), self.edge.outputs);
        let [query, key] = self.sides(input);
        let sum = input.edges.product(self.edge) + query.reshape([b, n, 1, width]) + key.reshape([b, 1, n, width]);
        let sum = leaky_relu(sum, SLOPE);
        if self.scores.is_empty() {
            return sum;
        }
        let size = width / self.heads;
        let score = |(head, &layer): (usize, &Linear)| {
            let part = sum.clone().slice([0..b, 0..n, 0..n, head * size..(head + 1) * size]);
            pass.linear(layer, part.reshape([b * n * n, size])).reshape([b, n, n, 1])
        };
        Tensor::cat(self.scores.iter().enumerate().map(score).collect(), 3)
    }
}

impl Processor for Attention {
    fn step(&self, pass: &ForwardContext, input: &Input<'_>) -> Output {
        let mut hidden = relu(self.take(pass, input) + input.nodes.rows(self.skip));
        if let Some(norm) = &self.norm {
            hidden = norm.apply(pass, hidden);
        }
        Output { hidden, edges: None }
    }

    fn reads_adjacency(&self) -> bool {
        !self.full
    }
}
