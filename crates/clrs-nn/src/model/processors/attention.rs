//! Graph attention: GAT of Veličković et al. (2018) and `GATv2` of Brody et al. (2022), with edges and the graph in the scores.

use burn::tensor::Tensor as BurnTensor;
use burn::tensor::activation::{leaky_relu, softmax};
use clrs::Location;
use clrs_kernels::attention::{LEAKY_RELU_SLOPE, MASK_VALUE};

use super::{LayerNorm, Processor, ProcessorInput, ProcessorOutput};
use crate::config::model::ModelConfig;
use crate::exec::context::ForwardContext;
use crate::exec::fused::{self, AttentionInput};
use crate::exec::parameters::{Linear, ParameterBuilder};
use crate::exec::tensor::Tensor;
use crate::exec::weights::FoldedWeight;

/// How attention scores are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scoring {
    /// GAT: a leaky `ReLU` over a sum of one value per node and head.
    V1,
    /// `GATv2`: a leaky `ReLU` over a sum of one vector per node, and a layer per head on top.
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

impl Attention {
    pub(super) fn new(scoring: Scoring, full: bool, config: &ModelConfig, builder: &mut ParameterBuilder) -> Attention {
        let (h, heads) = (config.hidden, config.heads);
        let width = if scoring == Scoring::V1 { heads } else { h };
        let value = builder.linear(("value", "linear"), 2 * h, h);
        let skip = builder.linear(("skip", "linear_1"), 2 * h, h);
        // dm-clrs applies its first attention layer to the queries in GAT, and to the keys in GATv2.
        let (query, key) = match scoring {
            Scoring::V1 => ("linear_2", "linear_3"),
            Scoring::V2 => ("linear_3", "linear_2"),
        };
        let query = builder.linear(("query", query), 2 * h, width);
        let key = builder.linear(("key", key), 2 * h, width);
        let edge = builder.linear(("edge", "linear_4"), h, width);
        let graph = builder.linear(("graph", "linear_5"), h, width);
        let scores = match scoring {
            Scoring::V1 => Vec::new(),
            Scoring::V2 => (0..heads)
                .map(|head| builder.linear((&*format!("score/{head}"), &*format!("linear_{}", 6 + head)), h / heads, 1))
                .collect(),
        };
        let norm = config.layer_norm.then(|| LayerNorm::new("norm", h, builder));
        Attention { full, heads, value, skip, query, key, edge, graph, scores, norm }
    }

    /// Queries and keys, `[B * N, width]` each. Terms of the graph and biases are added to the queries.
    fn query_and_key(&self, input: &ProcessorInput<'_>) -> [Tensor<2>; 2] {
        let query = input.affine().nodes(&input.nodes, self.query).graph(&input.graph, self.graph).edge_bias(self.edge);
        [query.rows(), input.nodes.rows(self.key)]
    }

    /// Attention-weighted values, `[B * N, H]`.
    fn attend(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> Tensor<2> {
        let (b, n, h) = (input.samples(), input.node_count(), ctx.hidden);
        let values = input.nodes.rows(self.value);
        if ctx.fused {
            let [query, key] = self.query_and_key(input);
            // A softmax does not depend on the bias of its logits.
            let scores = self.scores.iter().map(|layer| FoldedWeight::Parameter(layer.weight)).collect();
            let (raw, edge) = (input.edges.raw.clone(), FoldedWeight::Layer(self.edge, Location::Edge));
            let neighbors = (!self.full).then(|| input.adjacency().host());
            return fused::attention(ctx, AttentionInput { query, key, raw, edge, values, scores }, self.heads, neighbors);
        }
        let mut scores = self.scores(ctx, input).permute([0, 3, 1, 2]); // [B, heads, N, N]
        if !self.full {
            let non_neighbors = input.neighbors().bool_not().float() * MASK_VALUE;
            scores = scores + non_neighbors.reshape([b, 1, n, n]);
        }
        let values = values.burn().reshape([b, n, self.heads, h / self.heads]).swap_dims(1, 2);
        softmax(scores, 3).matmul(values).swap_dims(1, 2).reshape([b * n, h]).into()
    }

    /// Attention scores, `[B, N, N, heads]`, query first.
    fn scores(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> BurnTensor<4> {
        let (b, n, width) = (input.samples(), input.node_count(), self.edge.outputs);
        let [query, key] = self.query_and_key(input).map(Tensor::burn);
        let sum = input.edges.product(self.edge).burn() + query.reshape([b, n, 1, width]) + key.reshape([b, 1, n, width]);
        let sum = leaky_relu(sum, f64::from(LEAKY_RELU_SLOPE));
        if self.scores.is_empty() {
            return sum;
        }
        let size = width / self.heads;
        let score = |(index, &layer): (usize, &Linear)| {
            let head = sum.clone().slice([0..b, 0..n, 0..n, index * size..(index + 1) * size]);
            ctx.linear(layer, head.reshape([b * n * n, size]).into()).burn().reshape([b, n, n, 1])
        };
        BurnTensor::cat(self.scores.iter().enumerate().map(score).collect(), 3)
    }
}

impl Processor for Attention {
    fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
        let mut hidden = (self.attend(ctx, input) + input.nodes.rows(self.skip)).relu();
        if let Some(norm) = &self.norm {
            hidden = norm.apply(ctx, hidden);
        }
        ProcessorOutput { hidden, edges: None }
    }

    fn reads_adjacency(&self) -> bool {
        !self.full
    }

    fn has_fused_step(&self) -> bool {
        true
    }
}
