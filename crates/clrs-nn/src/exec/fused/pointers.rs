//! Logits of pointers from nodes, and from pairs of nodes, to nodes.

use clrs::Location;
use clrs_kernels::{Isa, Scratch, edge_pointers as edge_kernel, pointers as kernel};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
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
    let op = Pointers { nodes, hidden, channels, edge, output: OutputLayer::new(ctx, output) };
    let inputs = [source.view(), target.view(), edges.view()];
    apply(ctx, op, inputs.into_iter().chain(edge_hidden.map(Tensor::view)).collect(), [samples, nodes, nodes])
}

struct Pointers {
    nodes: usize,
    hidden: usize,
    channels: usize,
    edge: WeightRef,
    output: OutputLayer,
}

impl Pointers {
    fn inputs<'a>(&'a self, inputs: Inputs<'a>, sample: usize) -> kernel::Inputs<'a> {
        let [source, target, edges] = inputs.values();
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        kernel::Inputs {
            source: &source[sample * rows..][..rows],
            target: &target[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            output_weight: self.output.weight.matrix.values(),
            edge_hidden: (inputs.len() > 3).then(|| &inputs.get(3)[sample * pairs * self.hidden..][..pairs * self.hidden]),
        }
    }
}

impl Op for Pointers {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> Saved {
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.nodes).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(inputs, sample), out, scratch);
        }
        self.output.add_bias(out);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        let zeros = |index: usize| vec![0.0; back.inputs.get(index).len()];
        let (mut d_source, mut d_target) = (zeros(0), zeros(1));
        let mut d_edges = back.needs_grad(2).then(|| zeros(2));
        let mut d_edge_hidden = (back.inputs.len() > 3).then(|| zeros(3));
        self.edge.grad.add(self.channels * self.hidden, |d_edge_weight| {
            self.output.weight.grad.add(self.hidden, |d_output_weight| {
                for (sample, d_out) in back.d_out.chunks_exact(pairs).enumerate() {
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
                    kernel::backward(Isa::best(), &self.inputs(back.inputs, sample), d_out, gradients, scratch);
                }
            });
        });
        self.output.bias_backward(&back.d_out);
        for (index, gradient) in [Some(d_source), Some(d_target), d_edges, d_edge_hidden].into_iter().enumerate() {
            if let Some(gradient) = gradient {
                back.add(index, gradient);
            }
        }
    }
}

/// Logits of pointers from the pair of nodes `i`, `j` to node `k`, `[B, N * N, N]`: `output(max(edge_hidden[i, j], target[k]))`,
/// elementwise maximum. `edge_hidden` is `[B, N, N, H]`, `target` is `[B * N, H]`.
pub(crate) fn edge_pointers(ctx: &ForwardContext, edge_hidden: Tensor<4>, target: Tensor<2>, output: Linear) -> Tensor<3> {
    let [samples, nodes, _, hidden] = edge_hidden.dims();
    let op = EdgePointers { nodes, hidden, output: OutputLayer::new(ctx, output) };
    apply(ctx, op, vec![edge_hidden.view(), target.view()], [samples, nodes * nodes, nodes])
}

struct EdgePointers {
    nodes: usize,
    hidden: usize,
    output: OutputLayer,
}

impl EdgePointers {
    fn inputs<'a>(&'a self, inputs: Inputs<'a>, sample: usize) -> edge_kernel::Inputs<'a> {
        let [edge_hidden, target] = inputs.values();
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        edge_kernel::Inputs {
            edge_hidden: &edge_hidden[sample * pairs..][..pairs],
            target: &target[sample * rows..][..rows],
            output_weight: self.output.weight.matrix.values(),
        }
    }
}

impl Op for EdgePointers {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> Saved {
        for (sample, out) in out.chunks_exact_mut(self.nodes.pow(3)).enumerate() {
            edge_kernel::forward(Isa::best(), &self.inputs(inputs, sample), out, scratch);
        }
        self.output.add_bias(out);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        let [mut d_edge_hidden, mut d_target] = back.inputs.values().map(|input: &[f32]| vec![0.0; input.len()]);
        self.output.weight.grad.add(self.hidden, |d_output_weight| {
            for (sample, d_out) in back.d_out.chunks_exact(self.nodes.pow(3)).enumerate() {
                let gradients = edge_kernel::Gradients {
                    edge_hidden: &mut d_edge_hidden[sample * pairs..][..pairs],
                    target: &mut d_target[sample * rows..][..rows],
                    output_weight: d_output_weight,
                };
                edge_kernel::backward(Isa::best(), &self.inputs(back.inputs, sample), d_out, gradients, scratch);
            }
        });
        self.output.bias_backward(&back.d_out);
        back.add(0, d_edge_hidden);
        back.add(1, d_target);
    }
}
