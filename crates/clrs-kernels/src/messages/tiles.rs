//! Forward and backward: tiles of messages through all layers.

use std::sync::atomic::Ordering::Relaxed;

use super::argmax::{ArgmaxBackward, NO_MESSAGE};
use super::counters;
use super::edges::{Edge, EdgeList};
use super::rows::{EdgeRows, EdgeRowsBackward, MaxRows};
use super::{Gradients, Inputs, PackedWeights, TILE, Tape, Workspace};
use crate::Scratch;
use crate::edge_features::EdgeFeaturesBackward;
use crate::gemm::{Accumulate, Epilogue, Gemm};
use crate::isa::Isa;
use crate::memory::Mat;
use crate::sparse::{CompressedRows, sparse_matmul};

/// What a message that is not there counts as.
const NOTHING: f32 = -1e6;

/// The first layer of some messages.
fn first_layer(isa: Isa, p: &PackedWeights, raw: &[f32], edges: &[Edge], to: &Mat, from: &Mat, out: &mut Mat) {
    isa.run(EdgeRows {
        edges,
        nodes: to.rows,
        width: p.edge_weight.width(),
        to: &to.data,
        from: &from.data,
        raw,
        channels: p.edge_weight.rows,
        w: &p.edge_weight.data,
        out: &mut out.data,
        stride: p.edge_weight.stride,
    });
}

/// The second layer of the rows in a tile.
fn second_layer(
    isa: Isa,
    p: &PackedWeights,
    rows: usize,
    first: &Mat,
    compressed: &mut CompressedRows,
    out: (&mut [f32], usize),
) {
    let product = Gemm::rows(rows, (&first.data, first.stride), &p.hidden_weight, out);
    sparse_matmul(isa, Gemm { accumulate: Accumulate::Bias(&p.hidden_bias), epilogue: Epilogue::Relu, ..product }, compressed);
}

/// Writes what every node hears to `out`, `[n, h]`. Without a tape nothing of the size of all messages is stored.
///
/// # Panics
/// If lengths do not match, or if there are 65535 nodes or more.
pub fn forward(
    isa: Isa,
    prepared: &PackedWeights,
    inputs: &Inputs<'_>,
    out: &mut [f32],
    mut tape: Option<&mut Tape>,
    scratch: &mut Scratch,
) {
    let n = inputs.nodes(prepared);
    assert_eq!(out.len(), n * prepared.hidden, "the result is [n, h]");
    let Workspace { list: own, .. } = &mut scratch.messages;
    let mut own = std::mem::take(own);
    let (list, mut kept, mut argmax) = match &mut tape {
        Some(Tape { saves_hidden, list, argmax, hidden }) => (list, saves_hidden.then_some(hidden), Some(argmax)),
        None => (&mut own, None, None),
    };
    list.set(n, inputs.adjacency);
    counters::FORWARD.fetch_add(list.edges.len() as u64, Relaxed);
    let work = &mut scratch.messages;
    work.fit(n, prepared, inputs);
    if let Some(kept) = &mut kept {
        kept.fit(list.edges.len(), prepared.hidden);
    }
    let stride = work.first.stride;
    let mut receiver = 0;
    for (tile, edges) in list.edges.chunks(TILE).enumerate() {
        let (begin, rows) = (tile * TILE, edges.len());
        first_layer(isa, prepared, inputs.edge_features, edges, &work.to, &work.from, &mut work.first);
        let second = match &mut kept {
            Some(kept) => &mut kept.data[begin * stride..],
            None => &mut work.second.data[..],
        };
        second_layer(isa, prepared, rows, &work.first, &mut work.compressed, (&mut *second, stride));
        // The first layer is not needed any more: messages take its index.
        let product = Gemm::rows(rows, (second, stride), &prepared.output_weight, (&mut work.first.data, stride));
        sparse_matmul(isa, product, &mut work.compressed);
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
                argmax: argmax.is_some().then(|| work.argmax.padded_row_mut(receiver)),
            });
            row = end;
        }
    }
    work.best.copy_to(out);
    if let Some(argmax) = &mut argmax {
        argmax.clear();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "argmax are whole and below 65535")]
        (0..n).for_each(|y| argmax.extend(work.argmax.row(y).iter().map(|&index| index as u16)));
    }
    apply_mask(list, out, argmax.map(|argmax| &mut argmax[..]), prepared.hidden);
    scratch.messages.list = own;
}

/// Where somebody is silent, nothing less than that is heard.
fn apply_mask(list: &EdgeList, out: &mut [f32], mut argmax: Option<&mut [u16]>, h: usize) {
    for y in (0..list.nodes).filter(|&y| list.is_masked(y)) {
        let nobody = list.start[y] == list.start[y + 1];
        for (channel, out) in out[y * h..][..h].iter_mut().enumerate() {
            if nobody || *out < NOTHING {
                *out = NOTHING;
                if let Some(argmax) = &mut argmax {
                    argmax[y * h + channel] = NO_MESSAGE;
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
    prepared: &PackedWeights,
    inputs: &Inputs<'_>,
    tape: &Tape,
    d_out: &[f32],
    gradients: Gradients<'_>,
    scratch: &mut Scratch,
) {
    let (n, h, c) = (inputs.nodes(prepared), prepared.hidden, prepared.edge_weight.rows);
    assert!(tape.list.nodes == n && tape.argmax.len() == n * h && d_out.len() == n * h, "all is of the same sample");
    let layers = &gradients.weights.edge_weight;
    assert!(layers.rows == c && layers.columns == h, "layers have as many channels and hidden numbers");
    let work = &mut scratch.messages;
    work.fit(n, prepared, inputs);
    let Gradients { receivers: d_receivers, senders: d_senders, edge_features: mut d_edges, weights: layers } = gradients;
    // What was the largest is not needed any more; the memory is.
    let (d_to, d_from) = (&mut work.best, &mut work.argmax);
    d_to.clear();
    d_from.clear();
    if let Some(d_edges) = &mut d_edges {
        assert_eq!(d_edges.len(), n * n * c, "edges are [n, n, c]");
        d_edges.fill(0.0);
    }
    let weights = prepared.transposed();
    let (stride, width) = (work.first.stride, work.first.width());
    work.argmax_messages.collect(&tape.list, &tape.argmax, d_out, h);
    counters::BACKWARD.fetch_add(work.argmax_messages.edges.len() as u64, Relaxed);
    let in_tile: [u32; TILE] = std::array::from_fn(|i| u32::try_from(i).expect("small"));
    for begin in (0..work.argmax_messages.edges.len()).step_by(TILE) {
        let end = (begin + TILE).min(work.argmax_messages.edges.len());
        let (edges, rows) = (&work.argmax_messages.edges[begin..end], end - begin);
        first_layer(isa, prepared, inputs.edge_features, edges, &work.to, &work.from, &mut work.first);
        let (hidden, hidden_row) = if tape.saves_hidden {
            (&tape.hidden.data[..], &work.argmax_messages.index[begin..end])
        } else {
            second_layer(isa, prepared, rows, &work.first, &mut work.compressed, (&mut work.second.data, stride));
            (&work.second.data[..], &in_tile[..rows])
        };
        isa.run(ArgmaxBackward {
            first: &work.argmax_messages.first[begin..=end],
            channels: &work.argmax_messages.channels,
            width,
            hidden,
            hidden_row,
            w_t: &weights.output_weight.data,
            d_w_t: &mut layers.output_weight_transposed.data,
            d_hidden: &mut work.grad.data,
            d_bias: &mut layers.hidden_bias,
            stride,
        });
        isa.run(Gemm::weight_gradient(rows, (&work.first.data, stride), (&work.grad.data, stride), &mut layers.hidden_weight));
        let d_first = &mut work.second.data;
        let product = Gemm::rows(rows, (&work.grad.data, stride), &weights.hidden_weight, (d_first, stride));
        sparse_matmul(isa, product, &mut work.compressed);
        work.channels.clear();
        let offset = |edge: &Edge| (usize::from(edge.sender) * n + usize::from(edge.receiver)) * c;
        work.channels.extend(edges.iter().map(offset));
        isa.run(EdgeRowsBackward {
            edges,
            out: &work.first.data,
            grad: d_first,
            d_to: &mut d_to.data,
            d_from: &mut d_from.data,
            channels: EdgeFeaturesBackward {
                offsets: &work.channels,
                channels: c,
                raw: inputs.edge_features,
                d_raw: d_edges.as_deref_mut(),
                width,
                w: &prepared.edge_weight.data,
                d_w: &mut layers.edge_weight.data,
                stride,
            },
        });
    }
    d_to.copy_to(d_receivers);
    d_from.copy_to(d_senders);
}
