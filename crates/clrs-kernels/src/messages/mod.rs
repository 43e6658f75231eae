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
//! gradient in those channels alone in which it was the largest (see `winners.rs`), so that it costs about as much as forward.
//! It needs the second layer's output again; [`Tape`] keeps it or computes it anew, as asked.
//!
//! `r` and `s` come projected, with all biases; the bias behind `B` commutes with the maximum and is the caller's to add.
//!
//! # Ties, silence, NaN
//! Of equal messages the first takes all of the gradient. A message that is not there counts as -1e6, as in the reference, and
//! gets no gradient: it wins only against messages that are less, or where there are none. A NaN wins if it is the first
//! message and loses otherwise. A weight that is NaN shows where what it is multiplied with is not 0.

mod count;
mod edges;
mod passes;
mod rows;
mod winners;

use std::sync::OnceLock;

pub use self::count::Count;
use self::edges::EdgeList;
pub use self::edges::Senders;
pub use self::passes::{backward, forward};
use self::winners::{NOBODY, Won};
use crate::memory::{Buffer, Mat, numbers};
use crate::sparse::Lists;

/// Messages at once. Two tiles of 128 x 128 numbers are 144 KB, in the second-level cache. Smaller ones read the weights more
/// often; larger ones gain nothing.
const TILE: usize = 128;

/// The layers, dense, for `h` hidden numbers and `c` channels of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// `W`, `[c, h]`
    pub edge: &'a [f32],
    /// `A`, `[h, h]`
    pub middle: &'a [f32],
    /// `a`, `[h]`
    pub middle_bias: &'a [f32],
    /// `B`, `[h, h]`
    pub last: &'a [f32],
}

/// The layers as the kernels read them. Copies are cheap, but worth making once for many samples.
#[derive(Clone, Debug)]
pub struct Prepared {
    hidden: usize,
    edge: Mat,
    middle: Mat,
    middle_bias: Buffer,
    last: Mat,
    transposed: OnceLock<Transposed>,
}

/// What backward multiplies with, made when it first does.
#[derive(Clone, Debug)]
struct Transposed {
    middle: Mat,
    last: Mat,
}

impl Prepared {
    /// Copies the layers.
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn new(weights: &Weights<'_>) -> Prepared {
        let hidden = weights.middle_bias.len();
        let channels = weights.edge.len().checked_div(hidden).expect("at least one hidden number");
        let mut middle_bias = Buffer::zeros(hidden);
        middle_bias[..hidden].copy_from_slice(weights.middle_bias);
        Prepared {
            hidden,
            edge: Mat::copy(weights.edge, channels, hidden),
            middle: Mat::copy(weights.middle, hidden, hidden),
            middle_bias,
            last: Mat::copy(weights.last, hidden, hidden),
            transposed: OnceLock::new(),
        }
    }

    fn transposed(&self) -> &Transposed {
        self.transposed.get_or_init(|| Transposed { middle: self.middle.transpose(), last: self.last.transpose() })
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
    pub edges: &'a [f32],
    /// Which messages there are.
    pub from: Senders<'a>,
}

impl Inputs<'_> {
    /// The number of nodes.
    fn nodes(&self, prepared: &Prepared) -> usize {
        let n = self.receivers.len() / prepared.hidden;
        assert_eq!(self.receivers.len(), n * prepared.hidden, "receivers are [n, h]");
        assert_eq!(self.senders.len(), n * prepared.hidden, "senders are [n, h]");
        assert_eq!(self.edges.len(), numbers([n, n, prepared.edge.rows]), "edges are [n, n, c]");
        if let Senders::Neighbours(of) = self.from {
            assert_eq!(of.len(), n * n, "neighbours are [n, n]");
        }
        n
    }
}

/// What backward needs of forward. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    keeps_hidden: bool,
    list: EdgeList,
    /// `[n, h]`: which message of the receiver's list won.
    places: Vec<u16>,
    /// What came into the last layer, a row per message.
    hidden: Mat,
}

impl Tape {
    /// Keeps who won, and with `hidden` what came into the last layer, `h` numbers per message. Without it backward takes
    /// about 40% longer, and may add up the last bits otherwise, in other tiles.
    pub fn new(hidden: bool) -> Tape {
        Tape { keeps_hidden: hidden, ..Tape::default() }
    }

    /// Who sent the largest message to a node in a channel, or nobody if silence won.
    pub fn winner(&self, receiver: usize, channel: usize) -> Option<usize> {
        let h = self.places.len() / self.list.nodes;
        let place = self.places[receiver * h + channel];
        let edge = (place != NOBODY).then(|| self.list.start[receiver] as usize + usize::from(place))?;
        Some(self.list.edges[edge].sender.into())
    }
}

/// Gradients of the layers, added up over calls of [`backward`], in the layout that it writes fastest.
#[derive(Clone, Debug)]
pub struct LayerGradients {
    edge: Mat,
    middle: Mat,
    middle_bias: Buffer,
    last_transposed: Mat,
}

impl LayerGradients {
    /// All zero.
    pub fn new(hidden: usize, channels: usize) -> LayerGradients {
        LayerGradients {
            edge: Mat::zeros(channels, hidden),
            middle: Mat::zeros(hidden, hidden),
            middle_bias: Buffer::zeros(hidden),
            last_transposed: Mat::zeros(hidden, hidden),
        }
    }

    /// All zero again.
    pub fn clear(&mut self) {
        self.edge.clear();
        self.middle.clear();
        self.middle_bias.fill(0.0);
        self.last_transposed.clear();
    }

    /// Adds them to dense ones, shaped as [`Weights`].
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn add_to(&self, edge: &mut [f32], middle: &mut [f32], middle_bias: &mut [f32], last: &mut [f32]) {
        assert_eq!(middle_bias.len(), self.middle.columns, "the bias is [h]");
        self.edge.add_to(edge);
        self.middle.add_to(middle);
        middle_bias.iter_mut().zip(self.middle_bias.iter()).for_each(|(to, x)| *to += x);
        self.last_transposed.add_transposed_to(last);
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
    pub edges: Option<&'a mut [f32]>,
    /// Added to.
    pub layers: &'a mut LayerGradients,
}

/// Working memory.
#[derive(Debug, Default)]
pub(crate) struct Work {
    list: EdgeList,
    to: Mat,
    from: Mat,
    first: Mat,
    second: Mat,
    grad: Mat,
    best: Mat,
    place: Mat,
    /// Where the channels of the messages in a tile are.
    channels: Vec<usize>,
    won: Won,
    lists: Lists,
}

impl Work {
    fn fit(&mut self, n: usize, prepared: &Prepared, inputs: &Inputs<'_>) {
        for tile in [&mut self.first, &mut self.second, &mut self.grad] {
            tile.fit(TILE, prepared.hidden);
        }
        for nodes in [&mut self.to, &mut self.from, &mut self.best, &mut self.place] {
            nodes.fit(n, prepared.hidden);
        }
        self.to.fill_from(inputs.receivers);
        self.from.fill_from(inputs.senders);
    }
}
