//! Logits of pointers from nodes, and from pairs of nodes, to nodes.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs::Location;
use clrs_kernels::{Isa, Scratch, edge_pointers as edge_kernel, pointers as kernel};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::Linear;
use crate::exec::weights::FoldedWeight;

/// The layer from a hidden vector to a logit.
struct OutputLayer {
    weight: WeightRef,
    bias: WeightRef,
}

impl OutputLayer {
    fn new(ctx: &ForwardContext, layer: Linear) -> OutputLayer {
        let [weight, bias] = [layer.weight, layer.bias].map(|id| ctx.weight_ref(FoldedWeight::Parameter(id)));
        OutputLayer { weight, bias }
    }

    /// Adds the bias, which the kernels leave out.
    fn add_bias(&self, logits: &mut [f32]) {
        let bias = self.bias.matrix.values()[0];
        for logit in logits {
            *logit += bias;
        }
    }

    /// Adds to the gradient of the bias.
    fn bias_backward(&self, d_logits: &[f32]) {
        self.bias.grad.add(1, |sum| sum[0] += d_logits.iter().sum::<f32>());
    }
}

/// Logits of pointers from node `i` to node `j`, `[B, N, N]`:
/// `output(max(source[i], target[j] + edge(edges[j, i]) + edge_hidden[j, i]))`, elementwise maximum.
///
/// `source` and `target` are `[B * N, H]`, `edges` are raw channels, `[B, N, N, channels]`, and `edge_hidden` is `[B * N * N, H]`.
/// The bias of the layer `edge` is not added: it is part of `target`.
pub(crate) fn pointers(
    ctx: &ForwardContext,
    source: Tensor<2>,
    target: Tensor<2>,
    edges: Tensor<4>,
    edge: Linear,
    output: Linear,
    edge_hidden: Option<Tensor<2>>,
) -> Tensor<3> {
    let ([_, hidden], [samples, nodes, _, channels]) = (source.dims(), edges.dims());
    let edge = ctx.weight_ref(FoldedWeight::Layer(edge, Location::Edge));
    let op = Pointers {
        samples,
        nodes,
        hidden,
        channels,
        has_edge_hidden: edge_hidden.is_some(),
        edge,
        output: OutputLayer::new(ctx, output),
    };
    let inputs = [input(source), input(target), input(edges)];
    apply(ctx, op, inputs.into_iter().chain(edge_hidden.map(input)).collect())
}

struct Pointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
    channels: usize,
    has_edge_hidden: bool,
    edge: WeightRef,
    output: OutputLayer,
}

impl Pointers {
    fn inputs<'a>(&'a self, &[source, target, edges, edge_hidden, ..]: &InputSlices<'a>, sample: usize) -> kernel::Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        kernel::Inputs {
            source: &source[sample * rows..][..rows],
            target: &target[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            output_weight: self.output.weight.matrix.values(),
            edge_hidden: self.has_edge_hidden.then(|| &edge_hidden[sample * pairs * self.hidden..][..pairs * self.hidden]),
        }
    }
}

impl FusedOp for Pointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes]
    }

    fn forward(&self, slices: &InputSlices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> SavedState {
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.nodes).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        self.output.add_bias(out);
        Arc::new(())
    }

    fn backward(
        &self,
        BackwardInput { inputs: slices, d_out, needs_input_grad, .. }: BackwardInput<'_>,
        scratch: &mut Scratch,
    ) -> InputGradients {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        let (mut d_source, mut d_target) = (vec![0.0; self.samples * rows], vec![0.0; self.samples * rows]);
        let mut d_edges = needs_input_grad[2].then(|| vec![0.0; self.samples * pairs * self.channels]);
        let mut d_edge_hidden = self.has_edge_hidden.then(|| vec![0.0; self.samples * pairs * self.hidden]);
        self.edge.grad.add(self.channels * self.hidden, |d_edge_weight| {
            self.output.weight.grad.add(self.hidden, |d_output_weight| {
                for (sample, d_out) in d_out.chunks_exact(pairs).enumerate() {
                    let gradients = kernel::Gradients {
                        source: &mut d_source[sample * rows..][..rows],
                        target: &mut d_target[sample * rows..][..rows],
                        edge_features: d_edges
                            .as_mut()
                            .map(|d_edges| &mut d_edges[sample * pairs * self.channels..][..pairs * self.channels]),
                        edge_weight: d_edge_weight,
                        output_weight: d_output_weight,
                        edge_hidden: d_edge_hidden
                            .as_mut()
                            .map(|d_edge_hidden| &mut d_edge_hidden[sample * pairs * self.hidden..][..pairs * self.hidden]),
                    };
                    kernel::backward(Isa::best(), &self.inputs(&slices, sample), d_out, gradients, scratch);
                }
            });
        });
        self.output.bias_backward(d_out);
        [Some(d_source), Some(d_target), d_edges, d_edge_hidden, None, None, None]
    }
}

/// Logits of pointers from the pair of nodes `i`, `j` to node `k`, `[B, N * N, N]`: `output(max(edge_hidden[i, j], target[k]))`,
/// elementwise maximum. `edge_hidden` is `[B, N, N, H]`, `target` is `[B * N, H]`.
pub(crate) fn edge_pointers(ctx: &ForwardContext, edge_hidden: Tensor<4>, target: Tensor<2>, output: Linear) -> Tensor<3> {
    let [samples, nodes, _, hidden] = edge_hidden.dims();
    let op = EdgePointers { samples, nodes, hidden, output: OutputLayer::new(ctx, output) };
    apply(ctx, op, vec![input(edge_hidden), input(target)])
}

struct EdgePointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
    output: OutputLayer,
}

impl EdgePointers {
    fn inputs<'a>(&'a self, &[edge_hidden, target, ..]: &InputSlices<'a>, sample: usize) -> edge_kernel::Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        edge_kernel::Inputs {
            edge_hidden: &edge_hidden[sample * pairs..][..pairs],
            target: &target[sample * rows..][..rows],
            output_weight: self.output.weight.matrix.values(),
        }
    }
}

impl FusedOp for EdgePointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes * self.nodes, self.nodes]
    }

    fn forward(&self, slices: &InputSlices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> SavedState {
        for (sample, out) in out.chunks_exact_mut(self.nodes.pow(3)).enumerate() {
            edge_kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        self.output.add_bias(out);
        Arc::new(())
    }

    fn backward(&self, BackwardInput { inputs: slices, d_out, .. }: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        let (mut d_edge_hidden, mut d_target) = (vec![0.0; self.samples * pairs], vec![0.0; self.samples * rows]);
        self.output.weight.grad.add(self.hidden, |d_output_weight| {
            for (sample, d_out) in d_out.chunks_exact(self.nodes.pow(3)).enumerate() {
                let gradients = edge_kernel::Gradients {
                    edge_hidden: &mut d_edge_hidden[sample * pairs..][..pairs],
                    target: &mut d_target[sample * rows..][..rows],
                    output_weight: d_output_weight,
                };
                edge_kernel::backward(Isa::best(), &self.inputs(&slices, sample), d_out, gradients, scratch);
            }
        });
        self.output.bias_backward(d_out);
        [Some(d_edge_hidden), Some(d_target), None, None, None, None, None]
    }
}
