//! Graph attention: scores, their softmax, and the weighted mean of values.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::attention::{self as kernel, Gradients, Inputs, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
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

/// Attention-weighted values of every node, `[B * N, H]`. Nodes attend to `neighbours`, `[B, N, N]`, query first, or to all nodes.
pub(crate) fn attention(
    ctx: &ForwardContext,
    inputs: AttentionInput,
    heads: usize,
    neighbours: Option<Arc<Vec<bool>>>,
) -> Tensor<2> {
    let AttentionInput { query, key, raw, edge, values, scores } = inputs;
    let ([_, width], [samples, nodes, _, channels], [_, hidden]) = (query.dims(), raw.dims(), values.dims());
    let scores: Vec<WeightRef> = scores.into_iter().map(|weight| ctx.weight_ref(weight)).collect();
    let score_weight = scores.iter().flat_map(|head| head.matrix.values()).copied().collect();
    let edge = ctx.weight_ref(edge);
    let op = Attention { samples, nodes, width, channels, hidden, heads, neighbours, edge, scores, score_weight };
    apply(ctx, op, vec![input(query), input(key), input(raw), input(values)])
}

struct Attention {
    samples: usize,
    nodes: usize,
    width: usize,
    channels: usize,
    hidden: usize,
    heads: usize,
    neighbours: Option<Arc<Vec<bool>>>,
    edge: WeightRef,
    scores: Vec<WeightRef>,
    /// `scores` of all heads, concatenated.
    score_weight: Vec<f32>,
}

impl Attention {
    fn inputs<'a>(&'a self, &[query, key, edges, values, ..]: &InputSlices<'a>, sample: usize) -> Inputs<'a> {
        let (rows, pairs, values_len) = (self.nodes * self.width, self.nodes * self.nodes, self.nodes * self.hidden);
        Inputs {
            nodes: self.nodes,
            heads: self.heads,
            query: &query[sample * rows..][..rows],
            key: &key[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            score_weight: (!self.score_weight.is_empty()).then_some(&self.score_weight[..]),
            value: &values[sample * values_len..][..values_len],
            adjacency: self.neighbours.as_ref().map(|mask| &mask[sample * pairs..][..pairs]),
        }
    }
}

impl FusedOp for Attention {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples * self.nodes, self.hidden]
    }

    /// Saves the tape of every sample.
    fn forward(&self, slices: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, scratch: &mut Scratch) -> SavedState {
        let mut tapes = Vec::new();
        let mut tape = Tape::default();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(slices, sample), out, &mut tape, scratch);
            if save_for_backward {
                tapes.push(std::mem::take(&mut tape));
            }
        }
        Arc::new(tapes)
    }

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let tapes = back.saved::<Vec<Tape>>();
        let BackwardInput { inputs: slices, d_out, needs_input_grad, .. } = back;
        let (rows, pairs) = (self.nodes * self.width, self.nodes * self.nodes * self.channels);
        let values_len = self.nodes * self.hidden;
        let zeros = |len: usize| vec![0.0; self.samples * len];
        let (mut d_query, mut d_key, mut d_values) = (zeros(rows), zeros(rows), zeros(values_len));
        let mut d_edges = needs_input_grad[2].then(|| zeros(pairs));
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
                let d_out = &d_out[sample * values_len..][..values_len];
                kernel::backward(Isa::best(), &self.inputs(&slices, sample), tape, d_out, gradients, scratch);
            }
        });
        let head_width = self.width / self.heads;
        for (WeightRef { grad, .. }, d_score) in self.scores.iter().zip(d_score.chunks_exact(head_width)) {
            grad.add(head_width, |sum| add(sum, d_score));
        }
        [Some(d_query), Some(d_key), d_edges, Some(d_values), None, None, None]
    }
}
