//! Logits of pointers.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Isa, Scratch, edge_pointers as edge_kernel, pointers as kernel};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::parameters::Linear;
use crate::exec::weights::FoldedWeight;
use clrs::Location;

/// The layer from a vector to a logit.
struct Last {
    weight: WeightRef,
    bias: WeightRef,
}

impl Last {
    fn new(ctx: &ForwardContext, layer: Linear) -> Last {
        let [weight, bias] = [layer.weight, layer.bias].map(|handle| ctx.weight_ref(FoldedWeight::Parameter(handle)));
        Last { weight, bias }
    }

    fn add_bias(&self, logits: &mut [f32]) {
        let bias = self.bias.matrix.values()[0];
        for logit in logits {
            *logit += bias;
        }
    }

    fn bias_backward(&self, d_logits: &[f32]) {
        self.bias.grad.add(1, |sum| sum[0] += d_logits.iter().sum::<f32>());
    }
}

/// Logits of pointers from nodes to nodes, `[B, N, N]`, of both, `[B * N, H]`, their edges and the layer over these, the last layer,
/// and what else edges add, `[B * N * N, H]`. Edges are seen from the node pointed at.
pub(crate) fn pointers(
    ctx: &ForwardContext,
    from: Tensor<2>,
    to: Tensor<2>,
    edges: Tensor<4>,
    edge: Linear,
    last: Linear,
    state: Option<Tensor<2>>,
) -> Tensor<3> {
    let ([_, hidden], [samples, nodes, _, channels]) = (from.dims(), edges.dims());
    let edge = ctx.weight_ref(FoldedWeight::Layer(edge, Location::Edge));
    let operation = Pointers { samples, nodes, hidden, channels, has_state: state.is_some(), edge, last: Last::new(ctx, last) };
    let inputs = [input(from), input(to), input(edges)];
    compute(ctx, operation, inputs.into_iter().chain(state.map(input)).collect())
}

struct Pointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
    channels: usize,
    has_state: bool,
    edge: WeightRef,
    last: Last,
}

impl Pointers {
    fn inputs<'a>(&'a self, &[from, to, edges, state, ..]: &Slices<'a>, sample: usize) -> kernel::Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        kernel::Inputs {
            source: &from[sample * rows..][..rows],
            target: &to[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            output_weight: self.last.weight.matrix.values(),
            edge_hidden: self.has_state.then(|| &state[sample * pairs * self.hidden..][..pairs * self.hidden]),
        }
    }
}

impl FusedOp for Pointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> SavedState {
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.nodes).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        self.last.add_bias(out);
        Arc::new(())
    }

    fn backward(
        &self,
        BackwardInput { inputs: slices, d_out, wanted, .. }: BackwardInput<'_>,
        scratch: &mut Scratch,
    ) -> InputGradients {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        let (mut from, mut to) = (vec![0.0; self.samples * rows], vec![0.0; self.samples * rows]);
        let mut edges = wanted[2].then(|| vec![0.0; self.samples * pairs * self.channels]);
        let mut state = self.has_state.then(|| vec![0.0; self.samples * pairs * self.hidden]);
        self.edge.grad.add(self.channels * self.hidden, |edge| {
            self.last.weight.grad.add(self.hidden, |last| {
                for (sample, d_out) in d_out.chunks_exact(pairs).enumerate() {
                    let into = kernel::Gradients {
                        source: &mut from[sample * rows..][..rows],
                        target: &mut to[sample * rows..][..rows],
                        edge_features: edges
                            .as_mut()
                            .map(|edges| &mut edges[sample * pairs * self.channels..][..pairs * self.channels]),
                        edge_weight: edge,
                        output_weight: last,
                        edge_hidden: state
                            .as_mut()
                            .map(|state| &mut state[sample * pairs * self.hidden..][..pairs * self.hidden]),
                    };
                    kernel::backward(Isa::best(), &self.inputs(&slices, sample), d_out, into, scratch);
                }
            });
        });
        self.last.bias_backward(d_out);
        [Some(from), Some(to), edges, state, None, None, None]
    }
}

/// Logits of pointers from pairs of nodes to nodes, `[B, N * N, N]`, of pairs `[B, N, N, H]`, nodes `[B * N, H]` and the last layer.
pub(crate) fn edge_pointers(ctx: &ForwardContext, pairs: Tensor<4>, to: Tensor<2>, last: Linear) -> Tensor<3> {
    let [samples, nodes, _, hidden] = pairs.dims();
    let operation = EdgePointers { samples, nodes, hidden, last: Last::new(ctx, last) };
    compute(ctx, operation, vec![input(pairs), input(to)])
}

struct EdgePointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
    last: Last,
}

impl EdgePointers {
    fn inputs<'a>(&'a self, &[pairs, to, ..]: &Slices<'a>, sample: usize) -> edge_kernel::Inputs<'a> {
        let (rows, all) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        let last = self.last.weight.matrix.values();
        edge_kernel::Inputs {
            edge_hidden: &pairs[sample * all..][..all],
            target: &to[sample * rows..][..rows],
            output_weight: last,
        }
    }
}

impl FusedOp for EdgePointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes * self.nodes, self.nodes]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> SavedState {
        for (sample, out) in out.chunks_exact_mut(self.nodes.pow(3)).enumerate() {
            edge_kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        self.last.add_bias(out);
        Arc::new(())
    }

    fn backward(&self, BackwardInput { inputs: slices, d_out, .. }: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let (rows, all) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        let (mut d_pairs, mut d_to) = (vec![0.0; self.samples * all], vec![0.0; self.samples * rows]);
        self.last.weight.grad.add(self.hidden, |last| {
            for (sample, d_out) in d_out.chunks_exact(self.nodes.pow(3)).enumerate() {
                let into = edge_kernel::Gradients {
                    edge_hidden: &mut d_pairs[sample * all..][..all],
                    target: &mut d_to[sample * rows..][..rows],
                    output_weight: last,
                };
                edge_kernel::backward(Isa::best(), &self.inputs(&slices, sample), d_out, into, scratch);
            }
        });
        self.last.bias_backward(d_out);
        [Some(d_pairs), Some(d_to), None, None, None, None, None]
    }
}
