//! A processor that averages messages from all nodes.

use burn::tensor::activation::relu;
use clrs_nn::ModelConfig;
use clrs_nn::exec::context::ForwardContext;
use clrs_nn::exec::parameters::{Linear, ParameterBuilder};
use clrs_nn::model::processors::{LayerNorm, Processor, ProcessorEntry, ProcessorInput, ProcessorOutput};

/// The entry for a registry.
pub const MEAN: ProcessorEntry =
    ProcessorEntry::new("mean", "mean of messages from all nodes", |config, builder| Box::new(Mean::new(config, builder)));

struct Mean {
    sender: Linear,
    edge: Linear,
    graph: Linear,
    skip: Linear,
    norm: Option<LayerNorm>,
}

impl Mean {
    fn new(config: &ModelConfig, builder: &mut ParameterBuilder) -> Mean {
        let h = config.hidden;
        Mean {
            // A layer over nodes reads encodings and hidden states, one over edges or the graph encodings alone.
            sender: builder.linear("sender", 2 * h, h),
            edge: builder.linear("edge", h, h),
            graph: builder.linear("graph", h, h),
            skip: builder.linear("skip", 2 * h, h),
            norm: config.layer_norm.then(|| LayerNorm::new("norm", h, builder)),
        }
    }
}

impl Processor for Mean {
    fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
        let (b, n, h) = (input.samples(), input.node_count(), ctx.hidden);
        let senders = input.nodes.project(self.sender).burn().reshape([b, n, 1, h]);
        let edges = input.edges.product(self.edge).burn() + input.edges.bias(self.edge).burn().reshape([1, 1, 1, h]);
        let messages = relu(edges + senders); // [B, N, N, H], sender first
        let mean = messages.mean_dim(1).reshape([b, n, h]) + input.graph.project(self.graph).burn().reshape([b, 1, h]);
        let mut hidden = relu(input.nodes.rows(self.skip).burn() + mean.reshape([b * n, h])).into();
        if let Some(norm) = &self.norm {
            hidden = norm.apply(ctx, hidden);
        }
        ProcessorOutput { hidden, edges: None }
    }

    fn reads_adjacency(&self) -> bool {
        false
    }
}
