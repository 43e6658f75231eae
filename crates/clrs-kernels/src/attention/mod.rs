//! Attention among the nodes of one sample: scores, their softmax, and the mean of values that it weighs.
//!
//! With `x` who asks, `y` who is asked, `e` the raw channels of their edge, and `k` running over the part of the width that
//! belongs to a head,
//!
//! ```text
//! score[head, x, y] = sum over k of score[k] * leaky_relu(asking[x, k] + asked[y, k] + e[x, y] W[:, k])
//! out[x, head] = sum over y of softmax(score[head, x])[y] * values[y, head]
//! ```
//!
//! This is `GATv2` (Brody et al., 2022), whose width is that of the hidden vectors. GAT (Veličković et al., 2018) is the same with one
//! number per head and nothing to multiply it with. Biases of scores would not change a softmax and have no place here.
//!
//! Lanes are asked nodes, not columns: then a head may have any width, sums over it need no sums across lanes, and the scores of a
//! head are rows over which the softmax runs. Of size `n * n` only scores are stored, per head; the vectors under them are made
//! anew in backward. The weighted mean and its gradients are ordinary products, per head.
//!
//! # Masks, ties, NaN
//! Strangers get -1e9 added to their score, in `f32` as in the reference: a row of strangers only has the same weight for each, as
//! scores vanish in the sum. The slope at 0 is that of negative numbers. NaN is passed on.

mod scores;

use self::scores::{Scores, ScoresBack};
use crate::Scratch;
use crate::gemm::{End, Gemm, Start};
use crate::isa::Isa;
use crate::memory::{Mat, numbers};
use crate::rows::{Softmax, SoftmaxBack};

/// Added to the score of a node that is no neighbour.
const NOTHING: f32 = -1e9;

/// What attention reads, for one sample of `n` nodes. A width `w` of the vectors that match, `h` of the values; heads divide both.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of heads.
    pub heads: usize,
    /// `[n, w]`
    pub asking: &'a [f32],
    /// `[n, w]`
    pub asked: &'a [f32],
    /// `e`, `[n, n, c]`: the asking node first.
    pub edges: &'a [f32],
    /// `W`, `[c, w]`
    pub edge: &'a [f32],
    /// `[w]`; nothing for GAT, where all are 1.
    pub score: Option<&'a [f32]>,
    /// `[n, h]`
    pub values: &'a [f32],
    /// Who may be asked, `[n, n]`: the asking node first. Nothing for all.
    pub neighbours: Option<&'a [bool]>,
}

/// Where [`backward`] puts gradients, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Written.
    pub asking: &'a mut [f32],
    /// Written.
    pub asked: &'a mut [f32],
    /// Written, if asked for.
    pub edges: Option<&'a mut [f32]>,
    /// Added to.
    pub edge: &'a mut [f32],
    /// Added to, if there is one.
    pub score: Option<&'a mut [f32]>,
    /// Written.
    pub values: &'a mut [f32],
}

/// What backward needs of forward: the weights. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// `[heads * n, n]`
    weights: Mat,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// `[w, n]`
    asked: Mat,
    /// `[c * n, n]`
    edges: Mat,
    score: Vec<f32>,
    /// `[h, n]`
    values: Mat,
    /// `[heads * n, n]`
    d_scores: Mat,
    d_asked: Mat,
    d_edges: Mat,
    pairs: Mat,
    d_edge: Vec<f32>,
    d_score: Vec<f32>,
}

#[derive(Clone, Copy)]
struct Shape {
    nodes: usize,
    heads: usize,
    /// Of what matches.
    width: usize,
    channels: usize,
    /// Of values.
    hidden: usize,
}

impl Inputs<'_> {
    fn shape(&self) -> Shape {
        let (nodes, heads) = (self.nodes, self.heads);
        assert!(nodes > 0 && heads > 0, "at least one node and one head");
        let (width, hidden) = (self.asked.len() / nodes, self.values.len() / nodes);
        let pairs = numbers([nodes, nodes]);
        let channels = self.edges.len() / pairs;
        assert!(width.is_multiple_of(heads) && hidden.is_multiple_of(heads), "heads divide both widths");
        assert!(self.asking.len() == nodes * width && self.asked.len() == nodes * width, "both sides are [n, w]");
        assert!(self.edges.len() == pairs * channels && self.edge.len() == numbers([channels, width]), "edges are [n, n, c]");
        assert!(self.score.is_none_or(|score| score.len() == width), "the score is [w]");
        assert!(self.values.len() == nodes * hidden, "values are [n, h]");
        assert!(self.neighbours.is_none_or(|of| of.len() == pairs), "neighbours are [n, n]");
        Shape { nodes, heads, width, channels, hidden }
    }
}

impl Work {
    /// Turns what lanes run over to the inside.
    fn fit(&mut self, inputs: &Inputs<'_>, shape: Shape) {
        let Shape { nodes: n, width, channels, .. } = shape;
        self.asked.fill_transposed(inputs.asked, width, n);
        self.edges.fit(channels * n, n);
        self.edges.clear();
        let stride = self.edges.stride;
        for (x, row) in inputs.edges.chunks_exact((n * channels).max(1)).enumerate() {
            for (y, raw) in row.chunks_exact(channels).enumerate() {
                for (c, &raw) in raw.iter().enumerate() {
                    self.edges.data[(c * n + x) * stride + y] = raw;
                }
            }
        }
        self.score.clear();
        match inputs.score {
            Some(score) => self.score.extend_from_slice(score),
            None => self.score.resize(width, 1.0),
        }
    }
}

/// Writes `out`, `[n, h]`.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, inputs: &Inputs<'_>, out: &mut [f32], tape: &mut Tape, scratch: &mut Scratch) {
    let shape = inputs.shape();
    let Shape { nodes: n, heads, hidden, .. } = shape;
    assert_eq!(out.len(), n * hidden, "the result is [n, h]");
    let work = &mut scratch.attention;
    work.fit(inputs, shape);
    let weights = &mut tape.weights;
    weights.fit(numbers([heads, n]), n);
    isa.run(Scores {
        nodes: n,
        heads,
        asking: inputs.asking,
        asked: &work.asked,
        edges: &work.edges,
        edge: inputs.edge,
        score: &work.score,
        out: weights,
    });
    let stride = weights.stride;
    if let Some(neighbours) = inputs.neighbours {
        for (row, of) in weights.data.chunks_exact_mut(stride).zip(neighbours.chunks_exact(n).cycle()).take(heads * n) {
            row.iter_mut().zip(of).filter(|(_, near)| !**near).for_each(|(score, _)| *score += NOTHING);
        }
    }
    isa.run(Softmax { rows: &mut weights.data[..heads * n * stride], len: n, stride, logarithm: false });
    let size = hidden / heads;
    for head in 0..if size == 0 { 0 } else { heads } {
        isa.run(Gemm {
            m: n,
            n: size,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: stride,
            a_col: 1,
            b: &inputs.values[head * size..],
            b_row: hidden,
            c: &mut out[head * size..],
            c_row: hidden,
            start: Start::Zero,
            end: End::Linear,
        });
    }
}

/// From the gradient of the result to all others. The inputs and the tape have to be those of [`forward`].
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, tape: &Tape, d_out: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let shape = inputs.shape();
    let Shape { nodes: n, heads, width, channels, hidden } = shape;
    assert!(d_out.len() == n * hidden && gradients.values.len() == n * hidden, "values are [n, h]");
    assert!(gradients.asking.len() == n * width && gradients.edge.len() == channels * width, "gradients are shaped as inputs");
    assert!(gradients.score.as_ref().is_none_or(|score| score.len() == width), "the score is [w]");
    let weights = &tape.weights;
    assert!(weights.rows == heads * n && weights.columns == n, "all is of the same sample");
    let work = &mut scratch.attention;
    work.fit(inputs, shape);
    work.values.fill_transposed(inputs.values, hidden, n);
    work.d_scores.fit(heads * n, n);
    let (size, stride) = (hidden / heads, weights.stride);
    if size == 0 {
        work.d_scores.clear(); // nobody writes them
    }
    for head in 0..if size == 0 { 0 } else { heads } {
        let (start, end) = (Start::Zero, End::Linear);
        isa.run(Gemm {
            m: n,
            n: size,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: 1,
            a_col: stride,
            b: &d_out[head * size..],
            b_row: hidden,
            c: &mut gradients.values[head * size..],
            c_row: hidden,
            start,
            end,
        });
        isa.run(Gemm {
            m: n,
            n: work.values.width(),
            k: size,
            a: &d_out[head * size..],
            a_row: hidden,
            a_col: 1,
            b: &work.values.data[head * size * work.values.stride..],
            b_row: work.values.stride,
            c: &mut work.d_scores.data[head * n * stride..],
            c_row: stride,
            start,
            end,
        });
    }
    let used = heads * n * stride;
    let (y, d) = (&weights.data[..used], &mut work.d_scores.data[..used]);
    isa.run(SoftmaxBack { y, d, len: n, stride, logarithm: false });

    work.d_asked.fit(width, n);
    work.d_asked.clear();
    work.pairs.fit(n, n);
    work.d_edges.fit(channels * n, n);
    work.d_edges.clear();
    work.d_edge.clear();
    work.d_edge.resize(channels * width, 0.0);
    work.d_score.clear();
    work.d_score.resize(width, 0.0);
    isa.run(ScoresBack {
        nodes: n,
        heads,
        asking: inputs.asking,
        asked: &work.asked,
        edges: &work.edges,
        edge: inputs.edge,
        score: &work.score,
        d_scores: &work.d_scores,
        d_asking: gradients.asking,
        d_asked: &mut work.d_asked,
        d_edges: gradients.edges.is_some().then_some(&mut work.d_edges),
        d_edge: &mut work.d_edge,
        d_score: &mut work.d_score,
        pairs: &mut work.pairs,
    });
    gradients.asked.fill(0.0);
    work.d_asked.add_transposed_to(gradients.asked);
    gradients.edge.iter_mut().zip(&work.d_edge).for_each(|(to, x)| *to += x);
    if let Some(score) = gradients.score {
        score.iter_mut().zip(&work.d_score).for_each(|(to, x)| *to += x);
    }
    if let Some(d_edges) = gradients.edges {
        assert_eq!(d_edges.len(), n * n * channels, "edges are [n, n, c]");
        let stride = work.d_edges.stride;
        for (pair, to) in d_edges.chunks_exact_mut(channels.max(1)).enumerate() {
            let (x, y) = (pair / n, pair % n);
            to.iter_mut().enumerate().for_each(|(c, to)| *to = work.d_edges.data[(c * n + x) * stride + y]);
        }
    }
}
