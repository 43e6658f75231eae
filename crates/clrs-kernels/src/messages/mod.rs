//! Message passing with max aggregation, for one sample and step: a two-layer MLP over the sum of receiver, sender and edge, and
//! the maximum over senders. Most of the time of a network is spent here.
//!
//! With sender `x`, receiver `y`, and `e` the features of an edge,
//!
//! ```text
//! m[x, y] = relu(relu(r[y] + s[x] + e[x, y] W) A + a) B        out[y] = max over x of m[x, y]
//! ```
//!
//! Tensor operations store four arrays of shape `[N, N, H]` for this, and as many in backward. Here a tile of 128 messages passes
//! through all layers while it is in the second-level cache, and only the maxima are stored. About half of the `ReLU` outputs are 0,
//! and the products with these are skipped (`sparse.rs`). Backward visits only the messages that attain a maximum, and of these only
//! the channels in which they do (`argmax.rs`), so that it takes about as long as forward. It needs the output of the second `ReLU`;
//! a [`Tape`] either saves or recomputes it.
//!
//! `r` and `s` are already projected and include all biases. The bias after `B` commutes with the maximum: the caller adds it.
//!
//! # Ties, masks, NaN
//! The first of equal messages takes all of the gradient. A masked message counts as -1e6, as in dm-clrs, and gets no gradient: it
//! is the maximum only where all others are less, or where there are no others. A NaN counts only in the first message of a
//! receiver, where it stays the maximum. A NaN weight has no effect where all elements it is multiplied with are 0.
//!
//! # Bits
//! AVX2 and AVX-512 agree. Portable code without fused multiply-add differs in the last bits, and where two messages are equal up to
//! rounding, it may choose another argmax.

mod argmax;
mod counters;
mod edges;
mod rows;
mod tiles;

use std::sync::OnceLock;

use self::argmax::{ArgmaxMessages, NO_MESSAGE};
pub use self::counters::MessageCounts;
pub use self::edges::Adjacency;
use self::edges::EdgeList;
pub use self::tiles::{backward, forward};
use crate::memory::{Buffer, Mat, elements};
use crate::sparse::CompressedRows;

/// Value of a masked message, as in dm-clrs.
pub const MASK_VALUE: f32 = -1e6;

/// Messages per tile. Two tiles of 128 x 128 elements are 144 KB, in the second-level cache. Smaller tiles read the weights more
/// often; larger ones are not faster.
const TILE: usize = 128;

/// Dense weights, for `H` hidden elements and `C` features per edge.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// `W`, `[C, H]`
    pub edge_weight: &'a [f32],
    /// `A`, `[H, H]`
    pub hidden_weight: &'a [f32],
    /// `a`, `[H]`
    pub hidden_bias: &'a [f32],
    /// `B`, `[H, H]`
    pub output_weight: &'a [f32],
}

/// Weights in the layout that the kernels read. Packing is cheap, but worth doing once for many samples.
#[derive(Clone, Debug)]
pub struct PackedWeights {
    hidden: usize,
    edge_weight: Mat,
    hidden_weight: Mat,
    hidden_bias: Buffer,
    output_weight: Mat,
    transposed: OnceLock<Transposed>,
}

/// Weights of backward, transposed on first use.
#[derive(Clone, Debug)]
struct Transposed {
    hidden_weight: Mat,
    output_weight: Mat,
}

impl PackedWeights {
    /// Copies the weights.
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn new(weights: &Weights<'_>) -> PackedWeights {
        let hidden = weights.hidden_bias.len();
        let channels = weights.edge_weight.len().checked_div(hidden).expect("at least one hidden element");
        let mut hidden_bias = Buffer::zeros(hidden);
        hidden_bias[..hidden].copy_from_slice(weights.hidden_bias);
        PackedWeights {
            hidden,
            edge_weight: Mat::copy(weights.edge_weight, channels, hidden),
            hidden_weight: Mat::copy(weights.hidden_weight, hidden, hidden),
            hidden_bias,
            output_weight: Mat::copy(weights.output_weight, hidden, hidden),
            transposed: OnceLock::new(),
        }
    }

    fn transposed(&self) -> &Transposed {
        self.transposed.get_or_init(|| Transposed {
            hidden_weight: self.hidden_weight.transpose(),
            output_weight: self.output_weight.transpose(),
        })
    }
}

/// Inputs of one sample of `N` nodes.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `r`, `[N, H]`
    pub receivers: &'a [f32],
    /// `s`, `[N, H]`
    pub senders: &'a [f32],
    /// `e`, `[N, N, C]`, sender first.
    pub edge_features: &'a [f32],
    /// Which messages exist.
    pub adjacency: Adjacency<'a>,
}

impl Inputs<'_> {
    /// Returns `N`.
    fn nodes(&self, packed: &PackedWeights) -> usize {
        let n = self.receivers.len() / packed.hidden;
        assert_eq!(self.receivers.len(), n * packed.hidden, "receivers must be [N, H]");
        assert_eq!(self.senders.len(), n * packed.hidden, "senders must be [N, H]");
        assert_eq!(self.edge_features.len(), elements([n, n, packed.edge_weight.rows]), "edge_features must be [N, N, C]");
        if let Adjacency::Mask(mask) = self.adjacency {
            assert_eq!(mask.len(), n * n, "the adjacency mask must be [N, N]");
        }
        n
    }
}

/// Values that [`backward`] needs. The memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    saves_hidden: bool,
    edge_list: EdgeList,
    /// `[N, H]`: the position of each maximum in the list of the receiver's messages.
    argmax: Vec<u16>,
    /// Output of the second `ReLU`, one row per message, if saved.
    hidden: Mat,
}

impl Tape {
    /// Creates a tape that stores the argmax, and with `save_hidden` also the output of the second `ReLU`, `H` elements per message.
    /// Without it, backward takes about 40% longer, and the last bits may differ, since tiles are cut differently.
    pub fn new(save_hidden: bool) -> Tape {
        Tape { saves_hidden: save_hidden, ..Tape::default() }
    }

    /// Returns the sender of the maximum in a channel of a receiver, or `None` if the maximum is the mask value.
    pub fn argmax(&self, receiver: usize, channel: usize) -> Option<usize> {
        let h = self.argmax.len() / self.edge_list.nodes;
        let index = self.argmax[receiver * h + channel];
        let edge = (index != NO_MESSAGE).then(|| self.edge_list.start[receiver] as usize + usize::from(index))?;
        Some(self.edge_list.edges[edge].sender.into())
    }
}

/// Gradients of the weights, summed over calls of [`backward`], in the layout that it writes fastest.
#[derive(Clone, Debug)]
pub struct WeightGradients {
    edge_weight: Mat,
    hidden_weight: Mat,
    hidden_bias: Buffer,
    output_weight_transposed: Mat,
}

impl WeightGradients {
    /// Creates gradients of 0.
    pub fn new(hidden: usize, channels: usize) -> WeightGradients {
        WeightGradients {
            edge_weight: Mat::zeros(channels, hidden),
            hidden_weight: Mat::zeros(hidden, hidden),
            hidden_bias: Buffer::zeros(hidden),
            output_weight_transposed: Mat::zeros(hidden, hidden),
        }
    }

    /// Resets all gradients to 0.
    pub fn clear(&mut self) {
        self.edge_weight.clear();
        self.hidden_weight.clear();
        self.hidden_bias.fill(0.0);
        self.output_weight_transposed.clear();
    }

    /// Adds the gradients to dense ones, shaped as [`Weights`].
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn add_to(&self, edge_weight: &mut [f32], hidden_weight: &mut [f32], hidden_bias: &mut [f32], output_weight: &mut [f32]) {
        assert_eq!(hidden_bias.len(), self.hidden_weight.columns, "hidden_bias must be [H]");
        self.edge_weight.add_to(edge_weight);
        self.hidden_weight.add_to(hidden_weight);
        hidden_bias.iter_mut().zip(self.hidden_bias.iter()).for_each(|(to, x)| *to += x);
        self.output_weight_transposed.add_transposed_to(output_weight);
    }
}

/// Gradients that [`backward`] computes.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// `[N, H]`, overwritten.
    pub receivers: &'a mut [f32],
    /// `[N, H]`, overwritten.
    pub senders: &'a mut [f32],
    /// `[N, N, C]`, overwritten, if present.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub weights: &'a mut WeightGradients,
}

/// Scratch memory of this kernel.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    edge_list: EdgeList,
    receivers: Mat,
    senders: Mat,
    first: Mat,
    second: Mat,
    grad: Mat,
    best: Mat,
    argmax: Mat,
    /// Offset of the edge features of each message in a tile.
    feature_offsets: Vec<usize>,
    argmax_messages: ArgmaxMessages,
    compressed: CompressedRows,
}

impl Workspace {
    fn fit(&mut self, n: usize, packed: &PackedWeights, inputs: &Inputs<'_>) {
        for tile in [&mut self.first, &mut self.second, &mut self.grad] {
            tile.fit(TILE, packed.hidden);
        }
        for nodes in [&mut self.receivers, &mut self.senders, &mut self.best, &mut self.argmax] {
            nodes.fit(n, packed.hidden);
        }
        self.receivers.fill_from(inputs.receivers);
        self.senders.fill_from(inputs.senders);
    }
}
