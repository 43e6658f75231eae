//! Messages between the nodes of one sample in one step: a layer over both ends and their edge, two more layers, and the
//! largest over senders.
//!
//! With sender `x`, receiver `y`, and `e` the raw channels of an edge,
//!
//! ```text
//! m[x, y] = relu(relu(r[y] + s[x] + e[x, y] W) A + a) B        out[y] = max over x of m[x, y]
//! ```
//!
//! Ordinary operations make four arrays `[n, n, h]` of this, and as many backward. Here a tile of 128 messages goes through all
//! layers while it is in the second-level cache, and only the largest stay. What was rectified is half zeros, and what these are
//! multiplied with is left out (`sparse.rs`). Backward follows the winners: a message gets a
//! gradient in those channels alone in which it was the largest (see `argmax.rs`), so that it costs about as much as forward.
//! It needs the second layer's output again; [`Tape`] keeps it or computes it anew, as asked.
//!
//! `r` and `s` come projected, with all biases; the bias behind `B` commutes with the maximum and is the caller's to add.
//!
//! # Ties, silence, NaN
//! Of equal messages the first takes all of the gradient. A message that is not there counts as -1e6, as in the reference, and
//! gets no gradient: it wins only against messages that are less, or where there are none. A NaN wins if it is the first
//! message and loses otherwise. A weight that is NaN shows where what it is multiplied with is not 0.

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

/// Messages at once. Two tiles of 128 x 128 numbers are 144 KB, in the second-level cache. Smaller ones read the weights more
/// often; larger ones gain nothing.
const TILE: usize = 128;

/// The layers, dense, for `h` hidden numbers and `c` channels of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// `W`, `[c, h]`
    pub edge_weight: &'a [f32],
    /// `A`, `[h, h]`
    pub hidden_weight: &'a [f32],
    /// `a`, `[h]`
    pub hidden_bias: &'a [f32],
    /// `B`, `[h, h]`
    pub output_weight: &'a [f32],
}

/// The layers as the kernels read them. Copies are cheap, but worth making once for many samples.
#[derive(Clone, Debug)]
pub struct PackedWeights {
    hidden: usize,
    edge_weight: Mat,
    hidden_weight: Mat,
    hidden_bias: Buffer,
    output_weight: Mat,
    transposed: OnceLock<Transposed>,
}

/// What backward multiplies with, made when it first does.
#[derive(Clone, Debug)]
struct Transposed {
    hidden_weight: Mat,
    output_weight: Mat,
}

impl PackedWeights {
    /// Copies the layers.
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn new(weights: &Weights<'_>) -> PackedWeights {
        let hidden = weights.hidden_bias.len();
        let channels = weights.edge_weight.len().checked_div(hidden).expect("at least one hidden number");
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

/// What messages are made of, for one sample of `n` nodes.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `r`, `[n, h]`
    pub receivers: &'a [f32],
    /// `s`, `[n, h]`
    pub senders: &'a [f32],
    /// `e`, `[n, n, c]`: sender first.
    pub edge_features: &'a [f32],
    /// Which messages there are.
    pub adjacency: Adjacency<'a>,
}

impl Inputs<'_> {
    /// The number of nodes.
    fn nodes(&self, prepared: &PackedWeights) -> usize {
        let n = self.receivers.len() / prepared.hidden;
        assert_eq!(self.receivers.len(), n * prepared.hidden, "receivers are [n, h]");
        assert_eq!(self.senders.len(), n * prepared.hidden, "senders are [n, h]");
        assert_eq!(self.edge_features.len(), elements([n, n, prepared.edge_weight.rows]), "edges are [n, n, c]");
        if let Adjacency::Mask(of) = self.adjacency {
            assert_eq!(of.len(), n * n, "neighbours are [n, n]");
        }
        n
    }
}

/// What backward needs of forward. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    saves_hidden: bool,
    list: EdgeList,
    /// `[n, h]`: which message of the receiver's list won.
    argmax: Vec<u16>,
    /// What came into the last layer, a row per message.
    hidden: Mat,
}

impl Tape {
    /// Keeps who won, and with `hidden` what came into the last layer, `h` numbers per message. Without it backward takes
    /// about 40% longer, and may add up the last bits otherwise, in other tiles.
    pub fn new(save_hidden: bool) -> Tape {
        Tape { saves_hidden: save_hidden, ..Tape::default() }
    }

    /// Who sent the largest message to a node in a channel, or nobody if silence won.
    pub fn argmax(&self, receiver: usize, channel: usize) -> Option<usize> {
        let h = self.argmax.len() / self.list.nodes;
        let index = self.argmax[receiver * h + channel];
        let edge = (index != NO_MESSAGE).then(|| self.list.start[receiver] as usize + usize::from(index))?;
        Some(self.list.edges[edge].sender.into())
    }
}

/// Gradients of the layers, added up over calls of [`backward`], in the layout that it writes fastest.
#[derive(Clone, Debug)]
pub struct WeightGradients {
    edge_weight: Mat,
    hidden_weight: Mat,
    hidden_bias: Buffer,
    output_weight_transposed: Mat,
}

impl WeightGradients {
    /// All zero.
    pub fn new(hidden: usize, channels: usize) -> WeightGradients {
        WeightGradients {
            edge_weight: Mat::zeros(channels, hidden),
            hidden_weight: Mat::zeros(hidden, hidden),
            hidden_bias: Buffer::zeros(hidden),
            output_weight_transposed: Mat::zeros(hidden, hidden),
        }
    }

    /// All zero again.
    pub fn clear(&mut self) {
        self.edge_weight.clear();
        self.hidden_weight.clear();
        self.hidden_bias.fill(0.0);
        self.output_weight_transposed.clear();
    }

    /// Adds them to dense ones, shaped as [`Weights`].
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn add_to(&self, edge_weight: &mut [f32], hidden_weight: &mut [f32], hidden_bias: &mut [f32], output_weight: &mut [f32]) {
        assert_eq!(hidden_bias.len(), self.hidden_weight.columns, "the bias is [h]");
        self.edge_weight.add_to(edge_weight);
        self.hidden_weight.add_to(hidden_weight);
        hidden_bias.iter_mut().zip(self.hidden_bias.iter()).for_each(|(to, x)| *to += x);
        self.output_weight_transposed.add_transposed_to(output_weight);
    }
}

/// Where [`backward`] puts gradients.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// `[n, h]`, written.
    pub receivers: &'a mut [f32],
    /// `[n, h]`, written.
    pub senders: &'a mut [f32],
    /// `[n, n, c]`, written, if asked for.
    pub edge_features: Option<&'a mut [f32]>,
    /// Added to.
    pub weights: &'a mut WeightGradients,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    list: EdgeList,
    to: Mat,
    from: Mat,
    first: Mat,
    second: Mat,
    grad: Mat,
    best: Mat,
    argmax: Mat,
    /// Where the channels of the messages in a tile are.
    channels: Vec<usize>,
    argmax_messages: ArgmaxMessages,
    compressed: CompressedRows,
}

impl Workspace {
    fn fit(&mut self, n: usize, prepared: &PackedWeights, inputs: &Inputs<'_>) {
        for tile in [&mut self.first, &mut self.second, &mut self.grad] {
            tile.fit(TILE, prepared.hidden);
        }
        for nodes in [&mut self.to, &mut self.from, &mut self.best, &mut self.argmax] {
            nodes.fit(n, prepared.hidden);
        }
        self.to.fill_from(inputs.receivers);
        self.from.fill_from(inputs.senders);
    }
}
