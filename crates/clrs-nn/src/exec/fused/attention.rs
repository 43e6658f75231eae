//! Attention: scores, their softmax, and the mean of values that it weighs.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::attention::{self as kernel, Gradients, Inputs, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::weights::{FoldedWeight, add};

/// What matches, and what is taken.
pub(crate) struct AttentionInput {
    /// `[B * N, width]`
    pub(crate) query: Tensor<2>,
    /// `[B * N, width]`
    pub(crate) key: Tensor<2>,
    /// Raw channels, `[B, N, N, channels]`
    pub(crate) raw: Tensor<4>,
    /// The layer over them, `[channels, width]`
    pub(crate) edge: FoldedWeight,
    /// `[B * N, H]`
    pub(crate) values: Tensor<2>,
    /// `[width / heads, 1]` for each head, where scores are more than sums.
    pub(crate) scores: Vec<FoldedWeight>,
}

/// What every node takes, `[B * N, H]`; of neighbours alone if there are some, `[B, N, N]`, the asking node first.
pub(crate) fn attention(
    ctx: &ForwardContext,
    matched: AttentionInput,
    heads: usize,
    neighbours: Option<Arc<Vec<bool>>>,
) -> Tensor<2> {
    let AttentionInput { query, key, raw, edge, values, scores } = matched;
    let ([_, width], [samples, nodes, _, channels], [_, hidden]) = (query.dims(), raw.dims(), values.dims());
    let scores: Vec<WeightRef> = scores.into_iter().map(|piece| ctx.weight_ref(piece)).collect();
    let score = scores.iter().flat_map(|head| head.matrix.values()).copied().collect();
    let edge = ctx.weight_ref(edge);
    let operation = Attention { samples, nodes, width, channels, hidden, heads, neighbours, edge, scores, score };
    compute(ctx, operation, vec![input(query), input(key), input(raw), input(values)])
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
    /// Those of all heads, one after the other.
    score: Vec<f32>,
}

impl Attention {
    fn inputs<'a>(&'a self, &[query, key, edges, values, ..]: &Slices<'a>, sample: usize) -> Inputs<'a> {
        let (rows, pairs, taken) = (self.nodes * self.width, self.nodes * self.nodes, self.nodes * self.hidden);
        Inputs {
            nodes: self.nodes,
            heads: self.heads,
            query: &query[sample * rows..][..rows],
            key: &key[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge_weight: self.edge.matrix.values(),
            score_weight: (!self.score.is_empty()).then_some(&self.score[..]),
            value: &values[sample * taken..][..taken],
            adjacency: self.neighbours.as_ref().map(|of| &of[sample * pairs..][..pairs]),
        }
    }
}

impl FusedOp for Attention {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples * self.nodes, self.hidden]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> SavedState {
        let mut tapes = Vec::new();
        let mut tape = Tape::default();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            kernel::forward(Isa::best(), &self.inputs(slices, sample), out, &mut tape, scratch);
            if keep {
                tapes.push(std::mem::take(&mut tape));
            }
        }
        Arc::new(tapes)
    }

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let tapes = back.kept::<Vec<Tape>>();
        let BackwardInput { inputs: slices, d_out, wanted, .. } = back;
        let (rows, pairs) = (self.nodes * self.width, self.nodes * self.nodes * self.channels);
        let taken = self.nodes * self.hidden;
        let zeros = |count: usize| vec![0.0; self.samples * count];
        let (mut query, mut key, mut values) = (zeros(rows), zeros(rows), zeros(taken));
        let mut edges = wanted[2].then(|| zeros(pairs));
        let mut score = vec![0.0; self.score.len()];
        self.edge.grad.add(self.channels * self.width, |edge| {
            for (sample, tape) in tapes.iter().enumerate() {
                let into = Gradients {
                    query: &mut query[sample * rows..][..rows],
                    key: &mut key[sample * rows..][..rows],
                    edge_features: edges.as_mut().map(|edges| &mut edges[sample * pairs..][..pairs]),
                    edge_weight: edge,
                    score_weight: (!score.is_empty()).then_some(&mut score[..]),
                    value: &mut values[sample * taken..][..taken],
                };
                let d_out = &d_out[sample * taken..][..taken];
                kernel::backward(Isa::best(), &self.inputs(&slices, sample), tape, d_out, into, scratch);
            }
        });
        let size = self.width / self.heads;
        for (WeightRef { grad, .. }, of_head) in self.scores.iter().zip(score.chunks_exact(size)) {
            grad.add(size, |sum| add(sum, of_head));
        }
        [Some(query), Some(key), edges, Some(values), None, None, None]
    }
}
