//! Attention: scores, their softmax, and the mean of values that it weighs.

use std::any::Any;
use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::attention::{self as kernel, Gradients, Inputs, Tape};
use clrs_kernels::{Isa, Scratch};

use super::{InputGradients, Kept, Operation, Slices, compute, input};

/// What matches, and what is taken.
pub(crate) struct Matched {
    /// `[B, N, width]`
    pub(crate) asking: Tensor<3>,
    /// `[B, N, width]`
    pub(crate) asked: Tensor<3>,
    /// Raw channels, `[B, N, N, channels]`
    pub(crate) raw: Tensor<4>,
    /// `[channels, width]`
    pub(crate) edge: Tensor<2>,
    /// `[B, N, H]`
    pub(crate) values: Tensor<3>,
    /// `[width, 1]`, where scores are more than sums.
    pub(crate) score: Option<Tensor<2>>,
}

/// What every node takes, `[B, N, H]`; of neighbours alone if there are some, `[B, N, N]`, the asking node first.
pub(crate) fn attention(matched: Matched, heads: usize, neighbours: Option<Arc<Vec<bool>>>) -> Tensor<3> {
    let Matched { asking, asked, raw, edge, values, score } = matched;
    let ([samples, nodes, width], [_, _, _, channels], [_, _, hidden]) = (asking.dims(), raw.dims(), values.dims());
    let operation = Attention { samples, nodes, width, channels, hidden, heads, has_score: score.is_some(), neighbours };
    let inputs = [input(asking), input(asked), input(raw), input(edge), input(values)];
    compute(operation, inputs.into_iter().chain(score.map(input)).collect())
}

#[derive(Debug)]
struct Attention {
    samples: usize,
    nodes: usize,
    width: usize,
    channels: usize,
    hidden: usize,
    heads: usize,
    has_score: bool,
    neighbours: Option<Arc<Vec<bool>>>,
}

impl Attention {
    fn inputs<'a>(&'a self, &[asking, asked, edges, edge, values, score, _]: &Slices<'a>, sample: usize) -> Inputs<'a> {
        let (rows, pairs, taken) = (self.nodes * self.width, self.nodes * self.nodes, self.nodes * self.hidden);
        Inputs {
            nodes: self.nodes,
            heads: self.heads,
            asking: &asking[sample * rows..][..rows],
            asked: &asked[sample * rows..][..rows],
            edges: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            edge,
            score: self.has_score.then_some(score),
            values: &values[sample * taken..][..taken],
            neighbours: self.neighbours.as_ref().map(|of| &of[sample * pairs..][..pairs]),
        }
    }
}

impl Operation for Attention {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.hidden]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> Kept {
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

    fn backward(&self, slices: &Slices<'_>, kept: &Kept, d_out: &[f32], scratch: &mut Scratch) -> InputGradients {
        let kept: &(dyn Any + Send + Sync) = &**kept;
        let tapes: &Vec<Tape> = kept.downcast_ref().expect("what forward kept");
        let mut gradients = slices.map(|input| vec![0.0; input.len()]);
        let [asking, asked, edges, edge, values, score, _] = &mut gradients;
        let (rows, pairs) = (self.nodes * self.width, self.nodes * self.nodes * self.channels);
        let taken = self.nodes * self.hidden;
        for (sample, tape) in tapes.iter().enumerate() {
            let into = Gradients {
                asking: &mut asking[sample * rows..][..rows],
                asked: &mut asked[sample * rows..][..rows],
                edges: Some(&mut edges[sample * pairs..][..pairs]),
                edge,
                score: self.has_score.then_some(&mut score[..]),
                values: &mut values[sample * taken..][..taken],
            };
            let d_out = &d_out[sample * taken..][..taken];
            kernel::backward(Isa::best(), &self.inputs(slices, sample), tape, d_out, into, scratch);
        }
        let [asking, asked, edges, edge, values, score, _] = gradients;
        [Some(asking), Some(asked), Some(edges), Some(edge), Some(values), self.has_score.then_some(score), None]
    }
}
