//! Logits of pointers, and the largest over the first nodes of triplets.

use std::any::Any;
use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Isa, Scratch, edge_pointers as edge_kernel, pointers as kernel, triplets as triplet_kernel};

use super::{InputGradients, Kept, Operation, Slices, compute, input};

/// Logits of pointers from nodes to nodes, `[B, N, N]`, of both `[B, N, H]`, raw channels `[B, N, N, channels]` and their matrix
/// `[channels, H]`, the last layer `[H, 1]`, and what else edges add, `[B, N, N, H]`. Edges are seen from the node pointed at.
pub(crate) fn pointers(
    from: Tensor<3>,
    to: Tensor<3>,
    raw: Tensor<4>,
    edge: Tensor<2>,
    last: Tensor<2>,
    state: Option<Tensor<4>>,
) -> Tensor<3> {
    let ([samples, nodes, hidden], [_, _, _, channels]) = (from.dims(), raw.dims());
    let operation = Pointers { samples, nodes, hidden, channels, has_state: state.is_some() };
    let inputs = [input(from), input(to), input(raw), input(edge), input(last)];
    compute(operation, inputs.into_iter().chain(state.map(input)).collect())
}

#[derive(Debug)]
struct Pointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
    channels: usize,
    has_state: bool,
}

impl Pointers {
    fn inputs<'a>(&self, &[from, to, edges, edge, last, state, _]: &Slices<'a>, sample: usize) -> kernel::Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        kernel::Inputs {
            from: &from[sample * rows..][..rows],
            to: &to[sample * rows..][..rows],
            edges: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge,
            last,
            state: self.has_state.then(|| &state[sample * pairs * self.hidden..][..pairs * self.hidden]),
        }
    }
}

impl Operation for Pointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> Kept {
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.nodes).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        Arc::new(())
    }

    fn backward(&self, slices: &Slices<'_>, _: &Kept, d_out: &[f32], scratch: &mut Scratch) -> InputGradients {
        let mut gradients = slices.map(|input| vec![0.0; input.len()]);
        let [from, to, edges, edge, last, state, _] = &mut gradients;
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        for (sample, d_out) in d_out.chunks_exact(pairs).enumerate() {
            let into = kernel::Gradients {
                from: &mut from[sample * rows..][..rows],
                to: &mut to[sample * rows..][..rows],
                edges: Some(&mut edges[sample * pairs * self.channels..][..pairs * self.channels]),
                edge,
                last,
                state: self.has_state.then(|| &mut state[sample * pairs * self.hidden..][..pairs * self.hidden]),
            };
            kernel::backward(Isa::best(), &self.inputs(slices, sample), d_out, into, scratch);
        }
        let [from, to, edges, edge, last, state, _] = gradients;
        [Some(from), Some(to), Some(edges), Some(edge), Some(last), self.has_state.then_some(state), None]
    }
}

/// Logits of pointers from pairs of nodes to nodes, `[B, N * N, N]`, of pairs `[B, N, N, H]`, nodes `[B, N, H]` and the last layer
/// `[H, 1]`.
pub(crate) fn edge_pointers(pairs: Tensor<4>, to: Tensor<3>, last: Tensor<2>) -> Tensor<3> {
    let [samples, nodes, hidden] = to.dims();
    let operation = EdgePointers { samples, nodes, hidden };
    compute(operation, vec![input(pairs), input(to), input(last)])
}

#[derive(Debug)]
struct EdgePointers {
    samples: usize,
    nodes: usize,
    hidden: usize,
}

impl EdgePointers {
    fn inputs<'a>(&self, &[pairs, to, last, ..]: &Slices<'a>, sample: usize) -> edge_kernel::Inputs<'a> {
        let (rows, all) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        edge_kernel::Inputs { pairs: &pairs[sample * all..][..all], to: &to[sample * rows..][..rows], last }
    }
}

impl Operation for EdgePointers {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes * self.nodes, self.nodes]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, scratch: &mut Scratch) -> Kept {
        for (sample, out) in out.chunks_exact_mut(self.nodes.pow(3)).enumerate() {
            edge_kernel::forward(Isa::best(), &self.inputs(slices, sample), out, scratch);
        }
        Arc::new(())
    }

    fn backward(&self, slices: &Slices<'_>, _: &Kept, d_out: &[f32], scratch: &mut Scratch) -> InputGradients {
        let [pairs, to, last, ..] = slices;
        let [mut d_pairs, mut d_to, mut d_last] = [pairs, to, last].map(|input| vec![0.0; input.len()]);
        let (rows, all) = (self.nodes * self.hidden, self.nodes * self.nodes * self.hidden);
        for (sample, d_out) in d_out.chunks_exact(self.nodes.pow(3)).enumerate() {
            let into = edge_kernel::Gradients {
                pairs: &mut d_pairs[sample * all..][..all],
                to: &mut d_to[sample * rows..][..rows],
                last: &mut d_last,
            };
            edge_kernel::backward(Isa::best(), &self.inputs(slices, sample), d_out, into, scratch);
        }
        [Some(d_pairs), Some(d_to), Some(d_last), None, None, None, None]
    }
}

/// The largest over `i` of `a[i, j] + b[i, k]`, `[B, N, N, features]` as both are.
pub(crate) fn triplets(a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    let [samples, nodes, _, features] = a.dims();
    compute(Triplets { samples, nodes, features }, vec![input(a), input(b)])
}

#[derive(Debug)]
struct Triplets {
    samples: usize,
    nodes: usize,
    features: usize,
}

impl Operation for Triplets {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes, self.features]
    }

    fn forward(&self, &[a, b, ..]: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> Kept {
        let all = self.nodes * self.nodes * self.features;
        let mut winners = vec![0u16; if keep { out.len() } else { 0 }];
        for (sample, out) in out.chunks_exact_mut(all).enumerate() {
            let range = sample * all..(sample + 1) * all;
            let winners = keep.then(|| &mut winners[range.clone()]);
            let size = (self.nodes, self.features);
            triplet_kernel::forward(Isa::best(), size, &a[range.clone()], &b[range], out, winners, scratch);
        }
        Arc::new(winners)
    }

    fn backward(&self, _: &Slices<'_>, kept: &Kept, d_out: &[f32], _: &mut Scratch) -> InputGradients {
        let kept: &(dyn Any + Send + Sync) = &**kept;
        let winners: &Vec<u16> = kept.downcast_ref().expect("what forward kept");
        let all = self.nodes * self.nodes * self.features;
        let (mut d_a, mut d_b) = (vec![0.0; d_out.len()], vec![0.0; d_out.len()]);
        let parts = d_out.chunks_exact(all).zip(winners.chunks_exact(all));
        for (((d_out, winners), d_a), d_b) in parts.zip(d_a.chunks_exact_mut(all)).zip(d_b.chunks_exact_mut(all)) {
            triplet_kernel::backward((self.nodes, self.features), winners, d_out, d_a, d_b);
        }
        [Some(d_a), Some(d_b), None, None, None, None, None]
    }
}
