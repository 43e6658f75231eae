//! Attention among the nodes of one sample: scores, their softmax, and the mean of value that it weighs.
//!
//! With `x` who asks, `y` who is key, `e` the raw channels of their edge_weight, and `k` running over the part of the width that
//! belongs to a head,
//!
//! ```text
//! score[head, x, y] = sum over k of score[k] * leaky_relu(query[x, k] + key[y, k] + e[x, y] W[:, k])
//! out[x, head] = sum over y of softmax(score[head, x])[y] * value[y, head]
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

use self::scores::{Scores, ScoresBackward};
use crate::Scratch;
use crate::gemm::{Accumulate, Epilogue, Gemm};
use crate::isa::Isa;
use crate::memory::{Mat, elements};
use crate::rowwise::{Softmax, SoftmaxBackward};

/// Added to the score of a node that is no neighbour.
const NOTHING: f32 = -1e9;

/// What attention reads, for one sample of `n` nodes. A width `w` of the vectors that match, `h` of the value; heads divide both.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of heads.
    pub heads: usize,
    /// `[n, w]`
    pub query: &'a [f32],
    /// `[n, w]`
    pub key: &'a [f32],
    /// `e`, `[n, n, c]`: the asking node first.
    pub edge_features: &'a [f32],
    /// `W`, `[c, w]`
    pub edge_weight: &'a [f32],
    /// `[w]`; nothing for GAT, where all are 1.
    pub score_weight: Option<&'a [f32]>,
    /// `[n, h]`
    pub value: &'a [f32],
    /// Who may be key, `[n, n]`: the asking node first. Nothing for all.
    pub adjacency: Option<&'a [bool]>,
}

/// Where [`backward`] puts gradients, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Written.
    pub query: &'a mut [f32],
    /// Written.
    pub key: &'a mut [f32],
    /// Written, if asked for.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub edge_weight: &'a mut [f32],
    /// Added to, if there is one.
    pub score_weight: Option<&'a mut [f32]>,
    /// Written.
    pub value: &'a mut [f32],
}

/// What backward needs of forward: the weights. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// `[heads * n, n]`
    weights: Mat,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// `[w, n]`
    key: Mat,
    /// `[c * n, n]`
    edge_features: Mat,
    score_weight: Vec<f32>,
    /// `[h, n]`
    value: Mat,
    /// `[heads * n, n]`
    d_scores: Mat,
    d_key: Mat,
    d_edge_features: Mat,
    pairs: Mat,
    d_edge_weight: Vec<f32>,
    d_score_weight: Vec<f32>,
}

#[derive(Clone, Copy)]
struct Shape {
    nodes: usize,
    heads: usize,
    /// Of what matches.
    width: usize,
    channels: usize,
    /// Of value.
    hidden: usize,
}

impl Inputs<'_> {
    fn shape(&self) -> Shape {
        let (nodes, heads) = (self.nodes, self.heads);
        assert!(nodes > 0 && heads > 0, "at least one node and one head");
        let (width, hidden) = (self.key.len() / nodes, self.value.len() / nodes);
        let pairs = elements([nodes, nodes]);
        let channels = self.edge_features.len() / pairs;
        assert!(width.is_multiple_of(heads) && hidden.is_multiple_of(heads), "heads divide both widths");
        assert!(self.query.len() == nodes * width && self.key.len() == nodes * width, "both sides are [n, w]");
        assert!(
            self.edge_features.len() == pairs * channels && self.edge_weight.len() == elements([channels, width]),
            "edge_features are [n, n, c]"
        );
        assert!(self.score_weight.is_none_or(|score| score.len() == width), "the score is [w]");
        assert!(self.value.len() == nodes * hidden, "value are [n, h]");
        assert!(self.adjacency.is_none_or(|of| of.len() == pairs), "adjacency are [n, n]");
        Shape { nodes, heads, width, channels, hidden }
    }
}

impl Workspace {
    /// Turns what lanes run over to the inside.
    fn fit(&mut self, inputs: &Inputs<'_>, shape: Shape) {
        let Shape { nodes: n, width, channels, .. } = shape;
        self.key.fill_transposed(inputs.key, width, n);
        self.edge_features.fit(channels * n, n);
        self.edge_features.clear();
        let stride = self.edge_features.stride;
        for (x, row) in inputs.edge_features.chunks_exact((n * channels).max(1)).enumerate() {
            for (y, raw) in row.chunks_exact(channels).enumerate() {
                for (c, &raw) in raw.iter().enumerate() {
                    self.edge_features.data[(c * n + x) * stride + y] = raw;
                }
            }
        }
        self.score_weight.clear();
        match inputs.score_weight {
            Some(score) => self.score_weight.extend_from_slice(score),
            None => self.score_weight.resize(width, 1.0),
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
    weights.fit(elements([heads, n]), n);
    isa.run(Scores {
        nodes: n,
        heads,
        query: inputs.query,
        key: &work.key,
        edge_features: &work.edge_features,
        edge_weight: inputs.edge_weight,
        score_weight: &work.score_weight,
        out: weights,
    });
    let stride = weights.stride;
    if let Some(adjacency) = inputs.adjacency {
        for (row, of) in weights.data.chunks_exact_mut(stride).zip(adjacency.chunks_exact(n).cycle()).take(heads * n) {
            row.iter_mut().zip(of).filter(|(_, near)| !**near).for_each(|(score, _)| *score += NOTHING);
        }
    }
    isa.run(Softmax { rows: &mut weights.data[..heads * n * stride], len: n, stride, log: false });
    let size = hidden / heads;
    for head in 0..if size == 0 { 0 } else { heads } {
        isa.run(Gemm {
            m: n,
            n: size,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: stride,
            a_col: 1,
            b: &inputs.value[head * size..],
            b_row: hidden,
            c: &mut out[head * size..],
            c_row: hidden,
            accumulate: Accumulate::Zero,
            epilogue: Epilogue::Identity,
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
    assert!(d_out.len() == n * hidden && gradients.value.len() == n * hidden, "value are [n, h]");
    assert!(
        gradients.query.len() == n * width && gradients.edge_weight.len() == channels * width,
        "gradients are shaped as inputs"
    );
    assert!(gradients.score_weight.as_ref().is_none_or(|score| score.len() == width), "the score is [w]");
    let weights = &tape.weights;
    assert!(weights.rows == heads * n && weights.columns == n, "all is of the same sample");
    let work = &mut scratch.attention;
    work.fit(inputs, shape);
    work.value.fill_transposed(inputs.value, hidden, n);
    work.d_scores.fit(heads * n, n);
    let (size, stride) = (hidden / heads, weights.stride);
    if size == 0 {
        work.d_scores.clear(); // nobody writes them
    }
    for head in 0..if size == 0 { 0 } else { heads } {
        let (accumulate, epilogue) = (Accumulate::Zero, Epilogue::Identity);
        isa.run(Gemm {
            m: n,
            n: size,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: 1,
            a_col: stride,
            b: &d_out[head * size..],
            b_row: hidden,
            c: &mut gradients.value[head * size..],
            c_row: hidden,
            accumulate,
            epilogue,
        });
        isa.run(Gemm {
            m: n,
            n: work.value.width(),
            k: size,
            a: &d_out[head * size..],
            a_row: hidden,
            a_col: 1,
            b: &work.value.data[head * size * work.value.stride..],
            b_row: work.value.stride,
            c: &mut work.d_scores.data[head * n * stride..],
            c_row: stride,
            accumulate,
            epilogue,
        });
    }
    let used = heads * n * stride;
    let (y, d) = (&weights.data[..used], &mut work.d_scores.data[..used]);
    isa.run(SoftmaxBackward { y, d, len: n, stride, log: false });

    work.d_key.fit(width, n);
    work.d_key.clear();
    work.pairs.fit(n, n);
    work.d_edge_features.fit(channels * n, n);
    work.d_edge_features.clear();
    work.d_edge_weight.clear();
    work.d_edge_weight.resize(channels * width, 0.0);
    work.d_score_weight.clear();
    work.d_score_weight.resize(width, 0.0);
    isa.run(ScoresBackward {
        nodes: n,
        heads,
        query: inputs.query,
        key: &work.key,
        edge_features: &work.edge_features,
        edge_weight: inputs.edge_weight,
        score_weight: &work.score_weight,
        d_scores: &work.d_scores,
        d_query: gradients.query,
        d_key: &mut work.d_key,
        d_edge_features: gradients.edge_features.is_some().then_some(&mut work.d_edge_features),
        d_edge_weight: &mut work.d_edge_weight,
        d_score_weight: &mut work.d_score_weight,
        pairs: &mut work.pairs,
    });
    gradients.key.fill(0.0);
    work.d_key.add_transposed_to(gradients.key);
    gradients.edge_weight.iter_mut().zip(&work.d_edge_weight).for_each(|(to, x)| *to += x);
    if let Some(score) = gradients.score_weight {
        score.iter_mut().zip(&work.d_score_weight).for_each(|(to, x)| *to += x);
    }
    if let Some(d_edge_features) = gradients.edge_features {
        assert_eq!(d_edge_features.len(), n * n * channels, "edge_features are [n, n, c]");
        let stride = work.d_edge_features.stride;
        for (pair, to) in d_edge_features.chunks_exact_mut(channels.max(1)).enumerate() {
            let (x, y) = (pair / n, pair % n);
            to.iter_mut().enumerate().for_each(|(c, to)| *to = work.d_edge_features.data[(c * n + x) * stride + y]);
        }
    }
}
