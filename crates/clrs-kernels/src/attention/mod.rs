//! Graph attention among the nodes of one sample: scores, their softmax, and the mean of the values that it weights.
//!
//! With `x` the query node, `y` the key node, `e` the features of their edge, and `k` running over the columns of a head,
//!
//! ```text
//! score[head, x, y] = sum over k of a[k] * leaky_relu(query[x, k] + key[y, k] + e[x, y] W[:, k])
//! out[x, head]      = sum over y of softmax(score[head, x])[y] * value[y, head]
//! ```
//!
//! This is `GATv2` (Brody et al., 2022), where scores have the width of the hidden vectors. GAT (Veličković et al., 2018) has a
//! width of one column per head, and `a` is 1. A bias of the scores would not change the softmax, so there is none.
//!
//! Lanes run along key nodes, not columns: a head may have any width, sums over it need no reduction across lanes, and the scores
//! of a head are rows for the softmax. Of size `N * N`, only the scores of each head are stored; backward recomputes the vectors
//! that they are sums of. The weighted mean and its gradients are matrix products, one per head.
//!
//! # Masks, ties, NaN
//! Non-neighbors get -1e9 added to their score, in `f32` as in dm-clrs: in a row without neighbors the scores vanish in the sum,
//! and all nodes have the same weight. The slope at 0 is that of negative values. NaN propagates.
//!
//! # Bits
//! AVX2 and AVX-512 agree. Portable code without fused multiply-add differs in the last bits.

mod scores;

pub use self::scores::LEAKY_RELU_SLOPE;
use self::scores::{Scores, ScoresBackward};
use crate::Scratch;
use crate::gemm::{Accumulate, Epilogue, Gemm};
use crate::isa::Isa;
use crate::memory::{Mat, elements};
use crate::rowwise::{Softmax, SoftmaxBackward};

/// Added to the score of a node that is not a neighbor, as in dm-clrs.
pub const MASK_VALUE: f32 = -1e9;

/// Inputs of one sample of `N` nodes: queries and keys of width `D`, values of width `H`, and `C` features per edge. The number of
/// heads divides both widths.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Number of nodes, `N`.
    pub nodes: usize,
    /// Number of heads.
    pub heads: usize,
    /// `[N, D]`
    pub query: &'a [f32],
    /// `[N, D]`
    pub key: &'a [f32],
    /// `e`, `[N, N, C]`, query first.
    pub edge_features: &'a [f32],
    /// `W`, `[C, D]`
    pub edge_weight: &'a [f32],
    /// `a`, `[D]`; `None` for GAT, where all elements are 1.
    pub score_weight: Option<&'a [f32]>,
    /// `[N, H]`
    pub value: &'a [f32],
    /// Which keys a query attends to, `[N, N]`, query first; `None` for all.
    pub adjacency: Option<&'a [bool]>,
}

/// Gradients that [`backward`] computes, shaped as [`Inputs`].
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Overwritten.
    pub query: &'a mut [f32],
    /// Overwritten.
    pub key: &'a mut [f32],
    /// Overwritten, if present.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub edge_weight: &'a mut [f32],
    /// Added to, if present.
    pub score_weight: Option<&'a mut [f32]>,
    /// Overwritten.
    pub value: &'a mut [f32],
}

/// Values that [`backward`] needs: the attention weights. The memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// `[heads * N, N]`
    weights: Mat,
}

/// Scratch memory of this kernel.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// `[D, N]`
    key: Mat,
    /// `[C * N, N]`
    edge_features: Mat,
    score_weight: Vec<f32>,
    /// `[H, N]`
    value: Mat,
    /// `[heads * N, N]`
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
    /// Of queries and keys.
    width: usize,
    channels: usize,
    /// Of values.
    hidden: usize,
}

impl Inputs<'_> {
    fn shape(&self) -> Shape {
        let (nodes, heads) = (self.nodes, self.heads);
        assert!(nodes > 0 && heads > 0, "there must be at least one node and one head");
        let (width, hidden) = (self.key.len() / nodes, self.value.len() / nodes);
        let pairs = elements([nodes, nodes]);
        let channels = self.edge_features.len() / pairs;
        assert!(width.is_multiple_of(heads) && hidden.is_multiple_of(heads), "the number of heads must divide both widths");
        assert!(self.query.len() == nodes * width && self.key.len() == nodes * width, "query and key must be [N, D]");
        assert!(
            self.edge_features.len() == pairs * channels && self.edge_weight.len() == elements([channels, width]),
            "edge_features must be [N, N, C], edge_weight [C, D]"
        );
        assert!(self.score_weight.is_none_or(|weight| weight.len() == width), "score_weight must be [D]");
        assert!(self.value.len() == nodes * hidden, "value must be [N, H]");
        assert!(self.adjacency.is_none_or(|adjacency| adjacency.len() == pairs), "adjacency must be [N, N]");
        Shape { nodes, heads, width, channels, hidden }
    }
}

impl Workspace {
    /// Transposes keys and edge features, so that key nodes are contiguous.
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

/// Writes `out`, `[N, H]`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::attention::{Inputs, Tape, forward};
/// use clrs_kernels::{Isa, Scratch};
///
/// // Equal keys: every node takes the mean of the values of its neighbors.
/// let inputs = Inputs {
///     nodes: 2,
///     heads: 1,
///     query: &[0.3, -0.7],
///     key: &[1.0, 1.0],
///     edge_features: &[0.0; 4],
///     edge_weight: &[1.0],
///     score_weight: None,
///     value: &[2.0, 6.0],
///     adjacency: Some(&[true, true, false, true]),
/// };
/// let mut out = [0.0; 2];
/// forward(Isa::best(), &inputs, &mut out, &mut Tape::default(), &mut Scratch::default());
/// assert_eq!(out, [4.0, 6.0]);
/// ```
pub fn forward(isa: Isa, inputs: &Inputs<'_>, out: &mut [f32], tape: &mut Tape, scratch: &mut Scratch) {
    let shape = inputs.shape();
    let Shape { nodes: n, heads, hidden, .. } = shape;
    assert_eq!(out.len(), n * hidden, "out must be [N, H]");
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
        let rows = weights.data.chunks_exact_mut(stride).zip(adjacency.chunks_exact(n).cycle()).take(heads * n);
        for (scores, neighbors) in rows {
            let masked = scores.iter_mut().zip(neighbors).filter(|(_, is_neighbor)| !**is_neighbor);
            masked.for_each(|(score, _)| *score += MASK_VALUE);
        }
    }
    isa.run(Softmax { rows: &mut weights.data[..heads * n * stride], len: n, stride, log: false });
    let head_dim = hidden / heads;
    for head in 0..if head_dim == 0 { 0 } else { heads } {
        isa.run(Gemm {
            m: n,
            n: head_dim,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: stride,
            a_col: 1,
            b: &inputs.value[head * head_dim..],
            b_row: hidden,
            c: &mut out[head * head_dim..],
            c_row: hidden,
            accumulate: Accumulate::Zero,
            epilogue: Epilogue::Identity,
        });
    }
}

/// Computes all gradients from that of `out`, `[N, H]`. The inputs and the tape must be those of [`forward`].
///
/// # Panics
/// If lengths do not match.
pub fn backward(isa: Isa, inputs: &Inputs<'_>, tape: &Tape, d_out: &[f32], gradients: Gradients<'_>, scratch: &mut Scratch) {
    let shape = inputs.shape();
    let Shape { nodes: n, heads, width, channels, hidden } = shape;
    assert!(d_out.len() == n * hidden && gradients.value.len() == n * hidden, "d_out and the gradient of value must be [N, H]");
    assert!(
        gradients.query.len() == n * width && gradients.edge_weight.len() == channels * width,
        "the gradients must be shaped as the inputs"
    );
    assert!(gradients.score_weight.as_ref().is_none_or(|d| d.len() == width), "the gradient of score_weight must be [D]");
    let weights = &tape.weights;
    assert!(weights.rows == heads * n && weights.columns == n, "the tape must be of the same sample");
    let work = &mut scratch.attention;
    work.fit(inputs, shape);
    work.value.fill_transposed(inputs.value, hidden, n);
    work.d_scores.fit(heads * n, n);
    let (head_dim, stride) = (hidden / heads, weights.stride);
    if head_dim == 0 {
        work.d_scores.clear(); // no product writes them
    }
    for head in 0..if head_dim == 0 { 0 } else { heads } {
        let (accumulate, epilogue) = (Accumulate::Zero, Epilogue::Identity);
        isa.run(Gemm {
            m: n,
            n: head_dim,
            k: n,
            a: &weights.data[head * n * stride..],
            a_row: 1,
            a_col: stride,
            b: &d_out[head * head_dim..],
            b_row: hidden,
            c: &mut gradients.value[head * head_dim..],
            c_row: hidden,
            accumulate,
            epilogue,
        });
        isa.run(Gemm {
            m: n,
            n: work.value.width(),
            k: head_dim,
            a: &d_out[head * head_dim..],
            a_row: hidden,
            a_col: 1,
            b: &work.value.data[head * head_dim * work.value.stride..],
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
        assert_eq!(d_edge_features.len(), n * n * channels, "the gradient of edge_features must be [N, N, C]");
        let stride = work.d_edge_features.stride;
        for (pair, to) in d_edge_features.chunks_exact_mut(channels.max(1)).enumerate() {
            let (x, y) = (pair / n, pair % n);
            to.iter_mut().enumerate().for_each(|(c, to)| *to = work.d_edge_features.data[(c * n + x) * stride + y]);
        }
    }
}
