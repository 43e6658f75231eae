//! Kernels over the nodes, pairs and triplets of a sample.

use clrs_kernels::messages::{self, Adjacency, Gradients, Inputs, PackedWeights, Tape, WeightGradients, Weights};
use clrs_kernels::{Isa, Scratch, attention, edge_pointers, embedding_bag, max_pool, memory_attention, pointers, triplets};

use crate::{Entry, HIDDEN, Work, values};

/// Features per edge.
const CHANNELS: usize = 4;

/// Forward: two products of `H * H` per message. Backward: two per message that is a maximum somewhere (three if the second layer is
/// recomputed), and two per receiver.
pub(crate) fn messages(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let (h, c) = (HIDDEN, CHANNELS);
    let weight = |seed| values(h * h, seed).iter().map(|x| x * 0.15).collect::<Vec<f32>>();
    let (edge, middle, last, bias) = (values(c * h, 1), weight(2), weight(3), values(h, 4));
    let weights = Weights { edge_weight: &edge, hidden_weight: &middle, hidden_bias: &bias, output_weight: &last };
    let prepared: &'static PackedWeights = Box::leak(Box::new(PackedWeights::new(&weights)));
    let leak = |count, seed| -> &'static [f32] { values(count, seed).leak() };
    let inputs = Inputs {
        receivers: leak(n * h, 5),
        senders: leak(n * h, 6),
        edge_features: leak(n * n * c, 7),
        adjacency: Adjacency::Full,
    };
    let square = (2 * h * h) as f64;

    let (mut out, mut scratch) = (vec![0.0; n * h], Scratch::default());
    all.push(Entry::new(&format!("messages, n = {n}"), Work::Operations((2 * n * n) as f64 * square), move || {
        messages::forward(isa, prepared, &inputs, &mut out, None, &mut scratch);
    }));
    for save_hidden in [true, false] {
        let (mut out, mut scratch, mut tape) = (vec![0.0; n * h], Scratch::default(), Tape::new(save_hidden));
        messages::forward(isa, prepared, &inputs, &mut out, Some(&mut tape), &mut scratch);
        let mut argmax_messages: Vec<_> = (0..n * h).map(|i| (tape.argmax(i / h, i % h), i / h)).collect();
        argmax_messages.sort_unstable();
        argmax_messages.dedup();
        let saved = tape.clone();
        if save_hidden {
            all.push(Entry::new(
                &format!("messages, n = {n}, saved"),
                Work::Operations((2 * n * n) as f64 * square),
                move || {
                    messages::forward(isa, prepared, &inputs, &mut out, Some(&mut tape), &mut scratch);
                },
            ));
        }
        let work = Work::Operations((argmax_messages.len() * if save_hidden { 2 } else { 3 } + 2 * n) as f64 * square);
        for raw in [false, true] {
            let (mut d_receivers, mut d_senders) = (vec![0.0; n * h], vec![0.0; n * h]);
            let (mut d_edges, mut layers) = (vec![0.0; n * n * c], WeightGradients::new(h, c));
            let (d_out, tape, mut scratch) = (values(n * h, 8), saved.clone(), Scratch::default());
            let how = if save_hidden { "saved" } else { "recomputed" };
            let with = if raw { ", edge features" } else { "" };
            all.push(Entry::new(&format!("messages back, n = {n}, {how}{with}"), work, move || {
                let gradients = Gradients {
                    receivers: &mut d_receivers,
                    senders: &mut d_senders,
                    edge_features: raw.then_some(&mut d_edges),
                    weights: &mut layers,
                };
                messages::backward(isa, prepared, &inputs, &tape, &d_out, gradients, &mut scratch);
            }));
        }
    }
    let [edge, middle, last, bias] = [edge, middle, last, bias].map(|x| -> &'static [f32] { x.leak() });
    all.push(Entry::new(&format!("messages, n = {n}, pack"), Work::Packing, move || {
        std::hint::black_box(PackedWeights::new(&Weights {
            edge_weight: edge,
            hidden_weight: middle,
            hidden_bias: bias,
            output_weight: last,
        }));
    }));
}

/// Per pair and hidden element: a multiply-add for each edge feature and one for the logit, and a maximum; backward about twice that.
pub(crate) fn node_pointers(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let (h, c) = (HIDDEN, CHANNELS);
    let leak = |count, seed| -> &'static [f32] { values(count, seed).leak() };
    let (from, to) = (leak(n * h, 1), leak(n * h, 2));
    let (edges, edge, last) = (leak(n * n * c, 3), leak(c * h, 4), leak(h, 5));
    let inputs = pointers::Inputs {
        source: from,
        target: to,
        edge_features: edges,
        edge_weight: edge,
        output_weight: last,
        edge_hidden: None,
    };
    let work = Work::Operations((n * n * h * 2 * (c + 1)) as f64);
    let (mut logits, mut scratch) = (vec![0.0; n * n], Scratch::default());
    all.push(Entry::new(&format!("pointers, n = {n}"), work, move || {
        pointers::forward(isa, &inputs, &mut logits, &mut scratch);
    }));
    for raw in [false, true] {
        let d_logits = values(n * n, 6);
        let (mut d_from, mut d_to, mut d_edges) = (vec![0.0; n * h], vec![0.0; n * h], vec![0.0; n * n * c]);
        let (mut d_edge, mut d_last, mut scratch) = (vec![0.0; c * h], vec![0.0; h], Scratch::default());
        let with = if raw { ", edge features" } else { "" };
        let products = if raw { 3 } else { 2 };
        let work = Work::Operations((n * n * h * 2 * (products * c + 1)) as f64);
        all.push(Entry::new(&format!("pointers back, n = {n}{with}"), work, move || {
            let gradients = pointers::Gradients {
                source: &mut d_from,
                target: &mut d_to,
                edge_features: raw.then_some(&mut d_edges),
                edge_weight: &mut d_edge,
                output_weight: &mut d_last,
                edge_hidden: None,
            };
            pointers::backward(isa, &inputs, &d_logits, gradients, &mut scratch);
        }));
    }
}

/// Per triplet and hidden element: a maximum and a multiply-add (counted as two); backward a comparison and two additions.
pub(crate) fn edge_pointers(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let leak = |count, seed| -> &'static [f32] { values(count, seed).leak() };
    let inputs = edge_pointers::Inputs { edge_hidden: leak(n * n * h, 1), target: leak(n * h, 2), output_weight: leak(h, 3) };
    let work = Work::Operations((2 * n * n * n * h) as f64);
    let (mut logits, mut scratch) = (vec![0.0; n * n * n], Scratch::default());
    all.push(Entry::new(&format!("edge pointers, n = {n}"), work, move || {
        edge_pointers::forward(isa, &inputs, &mut logits, &mut scratch);
    }));
    let (d_logits, mut scratch) = (values(n * n * n, 4), Scratch::default());
    let (mut pairs, mut to, mut last) = (vec![0.0; n * n * h], vec![0.0; n * h], vec![0.0; h]);
    all.push(Entry::new(&format!("edge pointers back, n = {n}"), work, move || {
        let gradients = edge_pointers::Gradients { edge_hidden: &mut pairs, target: &mut to, output_weight: &mut last };
        edge_pointers::backward(isa, &inputs, &d_logits, gradients, &mut scratch);
    }));
}

/// Per triplet and feature: an addition and a maximum; backward two additions per pair and feature.
pub(crate) fn triplets(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const FEATURES: usize = 8;
    let len = n * n * FEATURES;
    let (a, b) = (values(len, 1), values(len, 2));
    let (mut out, mut argmax, mut scratch) = (vec![0.0; len], vec![0; len], Scratch::default());
    triplets::forward(isa, (n, FEATURES), &a, &b, &mut out, Some(&mut argmax), &mut scratch);
    let saved = argmax.clone();
    all.push(Entry::new(&format!("triplets, n = {n}"), Work::Operations((2 * len * n) as f64), move || {
        triplets::forward(isa, (n, FEATURES), &a, &b, &mut out, Some(&mut argmax), &mut scratch);
    }));
    let (d_out, mut d_a, mut d_b) = (values(len, 3), vec![0.0; len], vec![0.0; len]);
    all.push(Entry::new(&format!("triplets back, n = {n}"), Work::Operations((2 * len) as f64), move || {
        triplets::backward((n, FEATURES), &saved, &d_out, &mut d_a, &mut d_b);
    }));
}

/// Per pair and column: a multiply-add for each edge feature and one for the score; per pair and hidden element one for the mean.
pub(crate) fn attention(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const HEADS: usize = 8;
    let (h, c) = (HIDDEN, CHANNELS);
    let leak = |count, seed| -> &'static [f32] { values(count, seed).leak() };
    for (name, w) in [("gat", HEADS), ("gatv2", h)] {
        let inputs = attention::Inputs {
            nodes: n,
            heads: HEADS,
            query: leak(n * w, 1),
            key: leak(n * w, 2),
            edge_features: leak(n * n * c, 3),
            edge_weight: leak(c * w, 4),
            score_weight: (w == h).then(|| leak(w, 5)),
            value: leak(n * h, 6),
            adjacency: None,
        };
        let work = Work::Operations((n * n * 2 * (w * (c + 1) + h)) as f64);
        let (mut out, mut tape, mut scratch) = (vec![0.0; n * h], attention::Tape::default(), Scratch::default());
        attention::forward(isa, &inputs, &mut out, &mut tape, &mut scratch);
        let saved = tape.clone();
        all.push(Entry::new(&format!("{name}, n = {n}"), work, move || {
            attention::forward(isa, &inputs, &mut out, &mut tape, &mut scratch);
        }));
        for raw in [false, true] {
            let [mut query, mut key] = [0; 2].map(|_| vec![0.0; n * w]);
            let (mut edges, mut edge, mut score) = (vec![0.0; n * n * c], vec![0.0; c * w], vec![0.0; w]);
            let (mut values, d_out, tape, mut scratch) = (vec![0.0; n * h], values(n * h, 7), saved.clone(), Scratch::default());
            let with = if raw { ", edge features" } else { "" };
            let products = if raw { 3 } else { 2 };
            let work = Work::Operations((n * n * 2 * (w * (products * c + 1) + 2 * h)) as f64);
            all.push(Entry::new(&format!("{name} back, n = {n}{with}"), work, move || {
                let gradients = attention::Gradients {
                    query: &mut query,
                    key: &mut key,
                    edge_features: raw.then_some(&mut edges),
                    edge_weight: &mut edge,
                    score_weight: (w == h).then_some(&mut score),
                    value: &mut values,
                };
                attention::backward(isa, &inputs, &tape, &d_out, gradients, &mut scratch);
            }));
        }
    }
}

/// A multiply-add per index and embedding dimension.
pub(crate) fn embedding_bag(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const DIM: usize = 16;
    let (rows, count, length) = ((n + 1) * (n + 1), HIDDEN - 1, HIDDEN);
    let table: &'static [f32] = values(count * DIM, 1).leak();
    let positions: &'static [f32] = values(length * DIM, 2).leak();
    let words: &'static [u16] = (0..rows * length).map(|i| (i * 7 % HIDDEN) as u16).collect::<Vec<_>>().leak();
    let inputs = embedding_bag::Inputs { embedding_dim: DIM, table, position_encoding: positions, indices: words };
    let work = Work::Operations((2 * rows * length * DIM) as f64);
    let mut out = vec![0.0; rows * DIM];
    all.push(Entry::new(&format!("embedding bag, n = {n}"), work, move || embedding_bag::forward(isa, &inputs, &mut out)));
    let (d_out, mut d_table) = (values(rows * DIM, 3), vec![0.0; count * DIM]);
    all.push(Entry::new(&format!("embedding bag back, n = {n}"), work, move || {
        embedding_bag::backward(isa, &inputs, &d_out, &mut d_table);
    }));
}

/// Per query: a multiply-add per slot, key, value and dimension; backward two for each.
pub(crate) fn memory_attention(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const DIM: usize = 16;
    const SLOTS: usize = 128;
    // A network has a query per pair of nodes. The time is linear in the queries, so that fewer measure the same.
    let (queries, keys) = (n, (n + 1).min(SLOTS));
    let leak = |count, seed| -> &'static [f32] { values(count, seed).leak() };
    let inputs = memory_attention::Inputs {
        dim: DIM,
        query: leak(queries * DIM, 1),
        key: leak(queries * keys * DIM, 2),
        value: leak(queries * keys * DIM, 3),
        memory: leak(SLOTS * DIM, 4),
    };
    let operations = (2 * queries * (SLOTS + 2 * keys) * DIM) as f64;
    let (mut out, mut weights) = (vec![0.0; queries * DIM], vec![0.0; inputs.weights_len()]);
    memory_attention::forward(isa, &inputs, &mut out, &mut weights);
    let saved = weights.clone();
    all.push(Entry::new(&format!("memory attention, n = {n}"), Work::Operations(operations), move || {
        memory_attention::forward(isa, &inputs, &mut out, &mut weights);
    }));
    let d_out = values(queries * DIM, 5);
    let [mut query, mut key, mut value, mut memory] =
        [queries, queries * keys, queries * keys, SLOTS].map(|rows| vec![0.0; rows * DIM]);
    all.push(Entry::new(&format!("memory attention back, n = {n}"), Work::Operations(2.0 * operations), move || {
        let gradients = memory_attention::Gradients { query: &mut query, key: &mut key, value: &mut value, memory: &mut memory };
        memory_attention::backward(isa, &inputs, &saved, &d_out, gradients);
    }));
}

/// Reads every element once.
pub(crate) fn max_pool(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let (x, mut out, mut argmax) = (values(n * HIDDEN, 1), vec![0.0; HIDDEN], vec![0; HIDDEN]);
    all.push(Entry::new(&format!("max pool, n = {n}"), Work::Bytes(4 * n * HIDDEN), move || {
        max_pool::forward(isa, &x, &mut out, Some(&mut argmax));
    }));
}
