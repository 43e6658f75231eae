//! Forward and backward over tiles of messages.

use std::sync::atomic::Ordering::Relaxed;

use super::MASK_VALUE;
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

/// The first layer of a tile.
fn first_layer(isa: Isa, p: &PackedWeights, raw: &[f32], edges: &[Edge], receivers: &Mat, senders: &Mat, out: &mut Mat) {
    isa.run(EdgeRows {
        edges,
        nodes: receivers.rows,
        width: p.edge_weight.width(),
        receivers: &receivers.data,
        senders: &senders.data,
        raw,
        channels: p.edge_weight.rows,
        w: &p.edge_weight.data,
        out: &mut out.data,
        stride: p.edge_weight.stride,
    });
}

/// The second layer of a tile.
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

/// Writes the aggregated messages to `out`, `[N, H]`. Without a tape, nothing of the size of all messages is stored.
///
/// # Panics
/// If lengths do not match, or if there are 65535 nodes or more.
///
/// # Examples
/// ```
/// use clrs_kernels::messages::{Adjacency, Inputs, PackedWeights, Weights, forward};
/// use clrs_kernels::{Isa, Scratch};
///
/// // One hidden element, node 1 receives from itself only, and node 0 from both: max(1 + 10, 1 + 20) and 2 + 20.
/// let weights = Weights { edge_weight: &[0.0], hidden_weight: &[1.0], hidden_bias: &[0.0], output_weight: &[1.0] };
/// let inputs = Inputs {
///     receivers: &[1.0, 2.0],
///     senders: &[10.0, 20.0],
///     edge_features: &[0.0; 4],
///     adjacency: Adjacency::Mask(&[true, false, true, true]),
/// };
/// let mut out = [0.0; 2];
/// forward(Isa::best(), &PackedWeights::new(&weights), &inputs, &mut out, None, &mut Scratch::default());
/// assert_eq!(out, [21.0, 22.0]);
/// ```
pub fn forward(
    isa: Isa,
    packed: &PackedWeights,
    inputs: &Inputs<'_>,
    out: &mut [f32],
    mut tape: Option<&mut Tape>,
    scratch: &mut Scratch,
) {
    let n = inputs.nodes(packed);
    assert_eq!(out.len(), n * packed.hidden, "out must be [N, H]");
    let Workspace { edge_list: own, .. } = &mut scratch.messages;
    let mut own = std::mem::take(own);
    let (list, mut saved, mut argmax) = match &mut tape {
        Some(Tape { saves_hidden, edge_list, argmax, hidden }) => (edge_list, saves_hidden.then_some(hidden), Some(argmax)),
        None => (&mut own, None, None),
    };
    list.set(n, inputs.adjacency);
    counters::FORWARD.fetch_add(list.edges.len() as u64, Relaxed);
    let work = &mut scratch.messages;
    work.fit(n, packed, inputs);
    if let Some(saved) = &mut saved {
        saved.fit(list.edges.len(), packed.hidden);
    }
    let stride = work.first.stride;
    let mut receiver = 0;
    for (tile, edges) in list.edges.chunks(TILE).enumerate() {
        let (begin, rows) = (tile * TILE, edges.len());
        first_layer(isa, packed, inputs.edge_features, edges, &work.receivers, &work.senders, &mut work.first);
        let second = match &mut saved {
            Some(saved) => &mut saved.data[begin * stride..],
            None => &mut work.second.data[..],
        };
        second_layer(isa, packed, rows, &work.first, &mut work.compressed, (&mut *second, stride));
        // The output of the first layer is no longer needed: the messages replace it.
        let product = Gemm::rows(rows, (second, stride), &packed.output_weight, (&mut work.first.data, stride));
        sparse_matmul(isa, product, &mut work.compressed);
        // The messages of a receiver may begin or end in another tile.
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
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers below 65535")]
        (0..n).for_each(|y| argmax.extend(work.argmax.row(y).iter().map(|&index| index as u16)));
    }
    apply_mask(list, out, argmax.map(|argmax| &mut argmax[..]), packed.hidden);
    scratch.messages.edge_list = own;
}

/// Applies the mask value as a lower bound to receivers with masked senders.
fn apply_mask(list: &EdgeList, out: &mut [f32], mut argmax: Option<&mut [u16]>, h: usize) {
    for y in (0..list.nodes).filter(|&y| list.is_masked(y)) {
        let no_messages = list.start[y] == list.start[y + 1];
        for (channel, out) in out[y * h..][..h].iter_mut().enumerate() {
            if no_messages || *out < MASK_VALUE {
                *out = MASK_VALUE;
                if let Some(argmax) = &mut argmax {
                    argmax[y * h + channel] = NO_MESSAGE;
                }
            }
        }
    }
}

/// Computes the gradients of the inputs and adds to those of the weights, from the gradient of `out`, `[N, H]`. The inputs and the
/// tape must be those of [`forward`].
///
/// # Panics
/// If lengths do not match.
pub fn backward(
    isa: Isa,
    packed: &PackedWeights,
    inputs: &Inputs<'_>,
    tape: &Tape,
    d_out: &[f32],
    gradients: Gradients<'_>,
    scratch: &mut Scratch,
) {
    let (n, h, c) = (inputs.nodes(packed), packed.hidden, packed.edge_weight.rows);
    assert!(
        tape.edge_list.nodes == n && tape.argmax.len() == n * h && d_out.len() == n * h,
        "the tape must be of the same sample"
    );
    let d_weights = &gradients.weights.edge_weight;
    assert!(d_weights.rows == c && d_weights.columns == h, "the gradients must have the shape of the weights");
    let work = &mut scratch.messages;
    work.fit(n, packed, inputs);
    let Gradients { receivers: d_receivers, senders: d_senders, edge_features: mut d_edge_features, weights: d_weights } =
        gradients;
    // Backward does not need the maxima: their memory is reused.
    let (d_receiver_rows, d_sender_rows) = (&mut work.best, &mut work.argmax);
    d_receiver_rows.clear();
    d_sender_rows.clear();
    if let Some(d_edge_features) = &mut d_edge_features {
        assert_eq!(d_edge_features.len(), n * n * c, "the gradient of edge_features must be [N, N, C]");
        d_edge_features.fill(0.0);
    }
    let transposed = packed.transposed();
    let (stride, width) = (work.first.stride, work.first.width());
    work.argmax_messages.collect(&tape.edge_list, &tape.argmax, d_out, h);
    counters::BACKWARD.fetch_add(work.argmax_messages.edges.len() as u64, Relaxed);
    let in_tile: [u32; TILE] = std::array::from_fn(|i| u32::try_from(i).expect("below TILE"));
    for begin in (0..work.argmax_messages.edges.len()).step_by(TILE) {
        let end = (begin + TILE).min(work.argmax_messages.edges.len());
        let (edges, rows) = (&work.argmax_messages.edges[begin..end], end - begin);
        first_layer(isa, packed, inputs.edge_features, edges, &work.receivers, &work.senders, &mut work.first);
        let (hidden, hidden_row) = if tape.saves_hidden {
            (&tape.hidden.data[..], &work.argmax_messages.index[begin..end])
        } else {
            second_layer(isa, packed, rows, &work.first, &mut work.compressed, (&mut work.second.data, stride));
            (&work.second.data[..], &in_tile[..rows])
        };
        isa.run(ArgmaxBackward {
            first: &work.argmax_messages.first[begin..=end],
            channels: &work.argmax_messages.channels,
            width,
            hidden,
            hidden_row,
            w_t: &transposed.output_weight.data,
            d_w_t: &mut d_weights.output_weight_transposed.data,
            d_hidden: &mut work.grad.data,
            d_bias: &mut d_weights.hidden_bias,
            stride,
        });
        isa.run(Gemm::weight_gradient(rows, (&work.first.data, stride), (&work.grad.data, stride), &mut d_weights.hidden_weight));
        let d_first = &mut work.second.data;
        let product = Gemm::rows(rows, (&work.grad.data, stride), &transposed.hidden_weight, (d_first, stride));
        sparse_matmul(isa, product, &mut work.compressed);
        work.feature_offsets.clear();
        let offset = |edge: &Edge| (usize::from(edge.sender) * n + usize::from(edge.receiver)) * c;
        work.feature_offsets.extend(edges.iter().map(offset));
        isa.run(EdgeRowsBackward {
            edges,
            out: &work.first.data,
            grad: d_first,
            d_receivers: &mut d_receiver_rows.data,
            d_senders: &mut d_sender_rows.data,
            channels: EdgeFeaturesBackward {
                offsets: &work.feature_offsets,
                channels: c,
                raw: inputs.edge_features,
                d_raw: d_edge_features.as_deref_mut(),
                width,
                w: &packed.edge_weight.data,
                d_w: &mut d_weights.edge_weight.data,
                stride,
            },
        });
    }
    d_receiver_rows.copy_to(d_receivers);
    d_sender_rows.copy_to(d_senders);
}
