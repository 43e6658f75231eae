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
//! layers while it is in the second-level cache, and only the largest stay. Backward follows the winners: a message gets a
//! gradient in those channels alone in which it was the largest (see `winners.rs`), so that it costs about as much as forward.
//! It needs the second layer's output again; [`Tape`] keeps it or computes it anew, as asked.
//!
//! `r` and `s` come projected, with all biases; the bias behind `B` commutes with the maximum and is the caller's to add.
//!
//! # Ties, silence, NaN
//! Of equal messages the first takes all of the gradient. A message that is not there counts as -1e6, as in the reference, and
//! gets no gradient: it wins only against messages that are less, or where there are none. A NaN wins if it is the first
//! message and loses otherwise, so that NaN weights give NaN.

mod edges;
mod rows;
mod winners;

use self::edges::EdgeList;
pub use self::edges::Senders;
use self::rows::{EdgeRows, EdgeRowsBack, MaxRows};
use self::winners::{NOBODY, Winners, Won};
use crate::Scratch;
use crate::gemm::{End, Gemm, Start};
use crate::isa::Isa;
use crate::memory::{Buffer, Mat};
use std::sync::OnceLock;

/// Messages at once. Two tiles of 128 x 128 numbers are 144 KB, in the second-level cache. Smaller ones read the weights more
/// often; larger ones gain nothing.
const TILE: usize = 128;

/// What a message that is not there counts as.
const NOTHING: f32 = -1e6;

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
    edge: Mat,
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
        self.transposed.get_or_init(|| Transposed {
            edge: self.edge.transpose(),
            middle: self.middle.transpose(),
            last: self.last.transpose(),
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
        assert_eq!(self.edges.len(), n * n * prepared.edge.rows, "edges are [n, n, c]");
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
    /// about 40% longer.
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
pub struct Gradients {
    edge: Mat,
    middle: Mat,
    middle_bias: Buffer,
    last_transposed: Mat,
}

impl Gradients {
    /// All zero.
    pub fn new(hidden: usize, channels: usize) -> Gradients {
        Gradients {
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
    pub fn add_to(&self, edge: &mut [f32], middle: &mut [f32], middle_bias: &mut [f32], last: &mut [f32]) {
        self.edge.add_to(edge);
        self.middle.add_to(middle);
        middle_bias.iter_mut().zip(self.middle_bias.iter()).for_each(|(to, x)| *to += x);
        self.last_transposed.add_transposed_to(last);
    }
}

/// Where [`backward`] writes the gradients of its inputs.
#[derive(Debug)]
pub struct InputGradients<'a> {
    /// `[n, h]`
    pub receivers: &'a mut [f32],
    /// `[n, h]`
    pub senders: &'a mut [f32],
    /// `[n, n, c]`, if asked for.
    pub edges: Option<&'a mut [f32]>,
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
    raw: Vec<f32>,
    d_raw: Mat,
    won: Won,
}

impl Work {
    fn fit(&mut self, n: usize, prepared: &Prepared, inputs: &Inputs<'_>) {
        for tile in [&mut self.first, &mut self.second, &mut self.grad] {
            tile.fit(TILE, prepared.hidden);
        }
        for nodes in [&mut self.to, &mut self.from, &mut self.best, &mut self.place] {
            nodes.fit(n, prepared.hidden);
        }
        self.raw.resize(TILE * prepared.edge.rows, 0.0);
        self.d_raw.fit(TILE, prepared.edge.rows);
        self.to.fill_from(inputs.receivers);
        self.from.fill_from(inputs.senders);
    }
}

/// The first layer of some messages.
fn first_layer(isa: Isa, p: &Prepared, raw: &[f32], edges: &[edges::Edge], to: &Mat, from: &Mat, out: &mut Mat) {
    isa.run(EdgeRows {
        edges,
        nodes: to.rows,
        width: p.edge.width(),
        to: &to.data,
        from: &from.data,
        raw,
        channels: p.edge.rows,
        w: &p.edge.data,
        out: &mut out.data,
        stride: p.edge.stride,
    });
}

/// The second layer of the rows in a tile.
fn second_layer(isa: Isa, p: &Prepared, rows: usize, first: &Mat, out: (&mut [f32], usize)) {
    let product = Gemm::of(rows, (&first.data, first.stride), &p.middle, out);
    isa.run(Gemm { start: Start::Bias(&p.middle_bias), end: End::Relu, ..product });
}

/// Writes what every node hears to `out`, `[n, h]`. Without a tape nothing of the size of all messages is stored.
///
/// # Panics
/// If lengths do not match, or if there are 65535 nodes or more.
pub fn forward(
    isa: Isa,
    prepared: &Prepared,
    inputs: &Inputs<'_>,
    out: &mut [f32],
    tape: Option<&mut Tape>,
    scratch: &mut Scratch,
) {
    let n = inputs.nodes(prepared);
    assert_eq!(out.len(), n * prepared.hidden, "the result is [n, h]");
    let Work { list: own, .. } = &mut scratch.messages;
    let mut own = std::mem::take(own);
    let (list, mut kept, mut places) = match tape {
        Some(Tape { keeps_hidden, list, places, hidden }) => (list, keeps_hidden.then_some(hidden), Some(places)),
        None => (&mut own, None, None),
    };
    list.set(n, inputs.from);
    let work = &mut scratch.messages;
    work.fit(n, prepared, inputs);
    if let Some(kept) = &mut kept {
        kept.fit(list.edges.len(), prepared.hidden);
    }
    let stride = work.first.stride;
    let mut receiver = 0;
    for (tile, edges) in list.edges.chunks(TILE).enumerate() {
        let (begin, rows) = (tile * TILE, edges.len());
        first_layer(isa, prepared, inputs.edges, edges, &work.to, &work.from, &mut work.first);
        let second = match &mut kept {
            Some(kept) => &mut kept.data[begin * stride..],
            None => &mut work.second.data[..],
        };
        second_layer(isa, prepared, rows, &work.first, (&mut *second, stride));
        // The first layer is not needed any more: messages take its place.
        isa.run(Gemm::of(rows, (second, stride), &prepared.last, (&mut work.first.data, stride)));
        // A receiver's messages may begin or end in another tile.
        let mut row = 0;
        while row < rows {
            while list.start[receiver + 1] as usize <= begin + row {
                receiver += 1;
            }
            let end = (list.start[receiver + 1] as usize - begin).min(rows);
            isa.run(MaxRows {
                rows: &work.first.data[row * stride..],
                stride,
                count: end - row,
                first: begin + row - list.start[receiver] as usize,
                best: work.best.padded_row_mut(receiver),
                place: places.is_some().then(|| work.place.padded_row_mut(receiver)),
            });
            row = end;
        }
    }
    work.best.copy_to(out);
    if let Some(places) = &mut places {
        places.clear();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places are whole and below 65535")]
        (0..n).for_each(|y| places.extend(work.place.row(y).iter().map(|&place| place as u16)));
    }
    silence(list, out, places.map(|places| &mut places[..]), prepared.hidden);
    scratch.messages.list = own;
}

/// Where somebody is silent, nothing less than that is heard.
fn silence(list: &EdgeList, out: &mut [f32], mut places: Option<&mut [u16]>, h: usize) {
    for y in (0..list.nodes).filter(|&y| list.misses(y)) {
        let nobody = list.start[y] == list.start[y + 1];
        for (channel, out) in out[y * h..][..h].iter_mut().enumerate() {
            if nobody || *out < NOTHING {
                *out = NOTHING;
                if let Some(places) = &mut places {
                    places[y * h + channel] = NOBODY;
                }
            }
        }
    }
}

/// From the gradient of what was heard, `[n, h]`, to those of the inputs, which are written, and of the layers, which are
/// added. The inputs and the tape have to be those of [`forward`].
///
/// # Panics
/// If lengths do not match.
pub fn backward(
    isa: Isa,
    prepared: &Prepared,
    inputs: &Inputs<'_>,
    tape: &Tape,
    d_out: &[f32],
    d_inputs: InputGradients<'_>,
    d_weights: &mut Gradients,
    scratch: &mut Scratch,
) {
    let (n, h, c) = (inputs.nodes(prepared), prepared.hidden, prepared.edge.rows);
    assert!(tape.list.nodes == n && tape.places.len() == n * h && d_out.len() == n * h, "all is of the same sample");
    let work = &mut scratch.messages;
    work.fit(n, prepared, inputs);
    work.won.collect(&tape.list, &tape.places, d_out, h);
    let InputGradients { receivers: d_receivers, senders: d_senders, edges: mut d_edges } = d_inputs;
    // What was the largest is not needed any more; the memory is.
    let (d_to, d_from) = (&mut work.best, &mut work.place);
    d_to.clear();
    d_from.clear();
    if let Some(d_edges) = &mut d_edges {
        assert_eq!(d_edges.len(), n * n * c, "edges are [n, n, c]");
        d_edges.fill(0.0);
    }
    let weights = prepared.transposed();
    let (stride, width) = (work.first.stride, work.first.width());
    let in_tile: [u32; TILE] = std::array::from_fn(|i| u32::try_from(i).expect("small"));
    for begin in (0..work.won.edges.len()).step_by(TILE) {
        let end = (begin + TILE).min(work.won.edges.len());
        let (edges, rows) = (&work.won.edges[begin..end], end - begin);
        first_layer(isa, prepared, inputs.edges, edges, &work.to, &work.from, &mut work.first);
        let (hidden, hidden_row) = if tape.keeps_hidden {
            (&tape.hidden.data[..], &work.won.index[begin..end])
        } else {
            second_layer(isa, prepared, rows, &work.first, (&mut work.second.data, stride));
            (&work.second.data[..], &in_tile[..rows])
        };
        isa.run(Winners {
            first: &work.won.first[begin..=end],
            wins: &work.won.wins,
            width,
            hidden,
            hidden_row,
            w_t: &weights.last.data,
            d_w_t: &mut d_weights.last_transposed.data,
            d_hidden: &mut work.grad.data,
            d_bias: &mut d_weights.middle_bias,
            stride,
        });
        isa.run(Gemm::weights(rows, (&work.first.data, stride), (&work.grad.data, stride), &mut d_weights.middle));
        let d_first = &mut work.second.data;
        isa.run(Gemm::of(rows, (&work.grad.data, stride), &weights.middle, (d_first, stride)));
        isa.run(EdgeRowsBack {
            edges,
            width,
            out: &work.first.data,
            grad: d_first,
            d_to: &mut d_to.data,
            d_from: &mut d_from.data,
            stride,
        });
        let place = |edge: &edges::Edge| (usize::from(edge.sender) * n + usize::from(edge.receiver)) * c;
        for (raw, edge) in work.raw.chunks_exact_mut(c.max(1)).zip(edges) {
            raw.copy_from_slice(&inputs.edges[place(edge)..][..c]);
        }
        isa.run(Gemm::weights(rows, (&work.raw, c), (d_first, stride), &mut d_weights.edge));
        if let Some(d_edges) = &mut d_edges {
            let to = work.d_raw.stride;
            isa.run(Gemm::of(rows, (d_first, stride), &weights.edge, (&mut work.d_raw.data, to)));
            for (row, edge) in edges.iter().enumerate() {
                d_edges[place(edge)..][..c].copy_from_slice(work.d_raw.row(row));
            }
        }
    }
    d_to.copy_to(d_receivers);
    d_from.copy_to(d_senders);
}
