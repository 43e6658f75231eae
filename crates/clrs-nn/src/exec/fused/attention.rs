//! Graph attention: scores, their softmax, and the weighted mean of values.

use std::rc::Rc;

use clrs_kernels::attention::{self as kernel, Gradients, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::weights::{FoldedWeight, add};

/// Inputs of [`attention`]. `D` is the width of queries and keys.
pub(crate) struct AttentionInput {
    /// `[B * N, D]`
    pub(crate) query: Tensor<2>,
    /// `[B * N, D]`
    pub(crate) key: Tensor<2>,
    /// Raw edge channels, `[B, N, N, channels]`, query first.
    pub(crate) raw: Tensor<4>,
    /// The layer over edges, `[channels, D]`.
    pub(crate) edge: FoldedWeight,
    /// `[B * N, H]`
    pub(crate) values: Tensor<2>,
    /// The layer from a vector to a score, `[D / heads, 1]` for each head; empty for GAT, where vectors have one element per head.
    pub(crate) scores: Vec<FoldedWeight>,
}

/// Attention-weighted values of every node, `[B * N, H]`. Nodes attend to `neighbors`, `[B, N, N]`, query first, or to all nodes.
pub(crate) fn attention(
    ctx: &ForwardContext,
    inputs: AttentionInput,
    heads: usize,
    neighbors: Option<Rc<Vec<bool>>>,
) -> Tensor<2> {
    let AttentionInput { query, key, raw, edge, values, scores } = inputs;
    let ([_, width], [samples, nodes, _, channels], [_, hidden]) = (query.dims(), raw.dims(), values.dims());
    let scores: Vec<WeightRef> = scores.into_iter().map(|weight| ctx.weight_ref(weight)).collect();
    let score_weight = scores.iter().flat_map(|head| head.matrix.values()).copied().collect();
    let edge = ctx.weight_ref(edge);
    let op = Attention { nodes, width, channels, hidden, heads, neighbors, edge, scores, score_weight };
    apply(ctx, op, vec![query.view(), key.view(), raw.view(), values.view()], [samples * nodes, hidden])
}

struct Attention {
    nodes: usize,
    width: usize,
    channels: usize,
    hidden: usize,
    heads: usize,
    neighbors: Option<Rc<Vec<bool>>>,
    edge: WeightRef,
    scores: Vec<WeightRef>,
    /// `scores` of all heads, concatenated.
    score_weight: Vec<f32>,
}

impl Attention {
    fn inputs<'a>(&'a self, inputs: Inputs<'a>, sample: usize) -> kernel::Inputs<'a> {
        let [query, key, edges, values] = inputs.values();
        let (rows, pairs, values_len) = (self.nodes * self.width, self.nodes * self.nodes, self.nodes * self.hidden);
        kernel::Inputs {
            nodes: self.nodes,
            heads: self.heads,
            query: &query[sample * rows..][..rows],
            key: &key[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            score_weight: (!self.score_weight.is_empty()).then_some(&self.score_weight[..]),
            value: &values[sample * values_len..][..values_len],
            adjacency: self.neighbors.as_ref().map(|mask| &mask[sample * pairs..][..pairs]),
        }
    }
}

impl Op for Attention {
    /// Saves the tape of every sample.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, scratch: &mut Scratch) -> Saved {
        let mut tapes = Vec::new();
        let mut tape = Tape::default();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(inputs, sample), out, &mut tape, scratch);
            if save {
                tapes.push(std::mem::take(&mut tape));
            }
        }
        Box::new(tapes)
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let tapes = back.saved::<Vec<Tape>>();
        let (rows, pairs) = (self.nodes * self.width, self.nodes * self.nodes * self.channels);
        let values_len = self.nodes * self.hidden;
        let zeros = |len: usize| vec![0.0; tapes.len() * len];
        let (mut d_query, mut d_key, mut d_values) = (zeros(rows), zeros(rows), zeros(values_len));
        let mut d_edges = back.needs_grad(2).then(|| zeros(pairs));
        let mut d_score = vec![0.0; self.score_weight.len()];
        self.edge.grad.add(self.channels * self.width, |d_edge_weight| {
            for (sample, tape) in tapes.iter().enumerate() {
                let gradients = Gradients {
                    query: &mut d_query[sample * rows..][..rows],
                    key: &mut d_key[sample * rows..][..rows],
                    edge_features: d_edges.as_mut().map(|d_edges| &mut d_edges[sample * pairs..][..pairs]),
                    edge_weight: d_edge_weight,
                    score_weight: (!d_score.is_empty()).then_some(&mut d_score[..]),
                    value: &mut d_values[sample * values_len..][..values_len],
                };
                let d_out = &back.d_out[sample * values_len..][..values_len];
                kernel::backward(Isa::best(), &self.inputs(back.inputs, sample), tape, d_out, gradients, scratch);
            }
        });
        let head_width = self.width / self.heads;
        for (WeightRef { grad, .. }, d_score) in self.scores.iter().zip(d_score.chunks_exact(head_width)) {
            grad.add(head_width, |sum| add(sum, d_score));
        }
        for (index, gradient) in [Some(d_query), Some(d_key), d_edges, Some(d_values)].into_iter().enumerate() {
            if let Some(gradient) = gradient {
                back.add(index, gradient);
            }
        }
    }
}
