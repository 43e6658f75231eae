//! Times the kernels: `cargo run --release -p clrs-kernels --example bench [seconds] [part of a name]`.
//!
//! The machine may be shared, so that every measurement is short, all are taken in turns, and the fastest of each counts. Rates
//! count the products that are really done; the share is that of the multiply-add peak, measured in the same run.

#![expect(clippy::print_stdout, clippy::cast_possible_truncation, reason = "it prints what it measures of small numbers")]

use std::time::{Duration, Instant};

use clrs_kernels::gemm::{self, End, Packed, Start};
use clrs_kernels::messages::{self, Gradients, Inputs, LayerGradients, Prepared, Senders, Tape, Weights};
use clrs_kernels::{Isa, Scratch, adam, attention, edge_pointers, peak, pointers, rows, sinkhorn, triplets, words};

const HIDDEN: usize = 128;
const CHANNELS: usize = 4;

fn main() {
    let mut seconds = 10.0;
    let mut only = String::new();
    for argument in std::env::args().skip(1) {
        match argument.parse() {
            Ok(number) => seconds = number,
            Err(_) => only = argument,
        }
    }
    let isa = Isa::best();
    let mut all = vec![Entry::new("peak", peak::multiply_add(isa, ROUNDS), move || {
        peak::multiply_add(isa, ROUNDS);
    })];
    for rows in [1, 16, 17, 64, 256] {
        products(isa, rows, &mut all);
    }
    for n in [16, 64] {
        messages(isa, n, &mut all);
        node_pointers(isa, n, &mut all);
        triplet_maxima(isa, n, &mut all);
        attentions(isa, n, &mut all);
        row_by_row(isa, n, &mut all);
        sentences(isa, n, &mut all);
    }
    // As large as evaluation goes: forward only.
    messages(isa, 256, &mut all);
    for n in [16, 32] {
        pointers_of_edges(isa, n, &mut all);
    }
    all.retain(|entry| entry.name == "peak" || entry.name.contains(&only));

    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs_f64(seconds) {
        for entry in &mut all {
            let slot = Instant::now();
            while slot.elapsed() < Duration::from_millis(5) {
                let once = Instant::now();
                (entry.run)();
                entry.fastest = entry.fastest.min(once.elapsed().as_secs_f64());
            }
        }
    }
    let peak = all[0].operations / all[0].fastest;
    println!("{isa}");
    for Entry { name, operations, fastest, .. } in &all {
        let rate = operations / fastest;
        let shown = format!("{:7.1} GFLOP/s {:4.0}%", rate / 1e9, 100.0 * rate / peak);
        println!("{name:38} {:9.1} us {}", fastest * 1e6, if rate > 0.0 { &shown } else { "" });
    }
}

const ROUNDS: u32 = 20_000;

struct Entry {
    name: String,
    operations: f64,
    fastest: f64,
    run: Box<dyn FnMut()>,
}

impl Entry {
    fn new(name: &str, operations: f64, run: impl FnMut() + 'static) -> Entry {
        Entry { name: name.into(), operations, fastest: f64::MAX, run: Box::new(run) }
    }
}

/// Numbers between -1 and 1 that look random.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn products(isa: Isa, rows: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let operations = (2 * rows * h * h) as f64;
    let (a, b, bias) = (numbers(rows * h, 1), numbers(h * h, 2), numbers(h, 3));
    let packed = Packed::new(&b, h, h);
    let mut c = vec![0.0; rows * h];
    let left = a.clone();
    all.push(Entry::new(&format!("gemm packed, {rows} rows"), operations, move || {
        gemm::product(isa, &left, &packed, Start::Bias(&bias), End::Relu, &mut c);
    }));
    let (left, mut c) = (a.clone(), vec![0.0; rows * h]);
    all.push(Entry::new(&format!("gemm dense, {rows} rows"), operations, move || {
        gemm::dense_product(isa, [rows, h, h], &left, &b, Start::Zero, End::Linear, &mut c);
    }));
    let (b, mut c, mut scratch) = (numbers(rows * h, 4), vec![0.0; h * h], Scratch::default());
    all.push(Entry::new(&format!("gemm weights, {rows} rows"), operations, move || {
        gemm::add_transposed_product(isa, [rows, h, h], &a, &b, &mut c, &mut scratch);
    }));
}

/// Two products of `h * h` per message forward; backward two for each message that won something (three if the second layer is
/// computed anew) and two per receiver.
fn messages(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let (h, c) = (HIDDEN, CHANNELS);
    let weight = |seed| numbers(h * h, seed).iter().map(|x| x * 0.15).collect::<Vec<f32>>();
    let (edge, middle, last, bias) = (numbers(c * h, 1), weight(2), weight(3), numbers(h, 4));
    let weights = Weights { edge: &edge, middle: &middle, middle_bias: &bias, last: &last };
    let prepared: &'static Prepared = Box::leak(Box::new(Prepared::new(&weights)));
    let leak = |count, seed| -> &'static [f32] { numbers(count, seed).leak() };
    let inputs = Inputs { receivers: leak(n * h, 5), senders: leak(n * h, 6), edges: leak(n * n * c, 7), from: Senders::All };
    let square = (2 * h * h) as f64;

    let (mut out, mut scratch) = (vec![0.0; n * h], Scratch::default());
    all.push(Entry::new(&format!("messages, n = {n}"), (2 * n * n) as f64 * square, move || {
        messages::forward(isa, prepared, &inputs, &mut out, None, &mut scratch);
    }));
    for keep in if n > 64 { vec![] } else { vec![true, false] } {
        let (mut out, mut scratch, mut tape) = (vec![0.0; n * h], Scratch::default(), Tape::new(keep));
        messages::forward(isa, prepared, &inputs, &mut out, Some(&mut tape), &mut scratch);
        let mut won: Vec<_> = (0..n * h).map(|i| (tape.winner(i / h, i % h), i / h)).collect();
        won.sort_unstable();
        won.dedup();
        let kept = tape.clone();
        if keep {
            all.push(Entry::new(&format!("messages, n = {n}, kept"), (2 * n * n) as f64 * square, move || {
                messages::forward(isa, prepared, &inputs, &mut out, Some(&mut tape), &mut scratch);
            }));
        }
        let operations = (won.len() * if keep { 2 } else { 3 } + 2 * n) as f64 * square;
        for raw in [false, true] {
            let (mut d_receivers, mut d_senders) = (vec![0.0; n * h], vec![0.0; n * h]);
            let (mut d_edges, mut layers) = (vec![0.0; n * n * c], LayerGradients::new(h, c));
            let (d_out, tape, mut scratch) = (numbers(n * h, 8), kept.clone(), Scratch::default());
            let how = if keep { "kept" } else { "anew" };
            let with = if raw { ", channels" } else { "" };
            all.push(Entry::new(&format!("messages back, n = {n}, {how}{with}"), operations, move || {
                let gradients = Gradients {
                    receivers: &mut d_receivers,
                    senders: &mut d_senders,
                    edges: raw.then_some(&mut d_edges),
                    layers: &mut layers,
                };
                messages::backward(isa, prepared, &inputs, &tape, &d_out, gradients, &mut scratch);
            }));
        }
    }
    let [edge, middle, last, bias] = [edge, middle, last, bias].map(|x| -> &'static [f32] { x.leak() });
    all.push(Entry::new(&format!("messages, n = {n}, prepare"), 0.0, move || {
        std::hint::black_box(Prepared::new(&Weights { edge, middle, middle_bias: bias, last }));
    }));
}

/// Per pair and hidden number: a multiply-add for each channel and one for the logit, and a maximum; backward about twice that.
fn node_pointers(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let (h, c) = (HIDDEN, CHANNELS);
    let leak = |count, seed| -> &'static [f32] { numbers(count, seed).leak() };
    let (from, to) = (leak(n * h, 1), leak(n * h, 2));
    let (edges, edge, last) = (leak(n * n * c, 3), leak(c * h, 4), leak(h, 5));
    let inputs = pointers::Inputs { from, to, edges, edge, last, state: None };
    let operations = (n * n * h * 2 * (c + 1)) as f64;
    let (mut logits, mut scratch) = (vec![0.0; n * n], Scratch::default());
    all.push(Entry::new(&format!("pointers, n = {n}"), operations, move || {
        pointers::forward(isa, &inputs, &mut logits, &mut scratch);
    }));
    for raw in [false, true] {
        let d_logits = numbers(n * n, 6);
        let (mut d_from, mut d_to, mut d_edges) = (vec![0.0; n * h], vec![0.0; n * h], vec![0.0; n * n * c]);
        let (mut d_edge, mut d_last, mut scratch) = (vec![0.0; c * h], vec![0.0; h], Scratch::default());
        let with = if raw { ", channels" } else { "" };
        let products = if raw { 3 } else { 2 };
        let operations = (n * n * h * 2 * (products * c + 1)) as f64;
        all.push(Entry::new(&format!("pointers back, n = {n}{with}"), operations, move || {
            let gradients = pointers::Gradients {
                from: &mut d_from,
                to: &mut d_to,
                edges: raw.then_some(&mut d_edges),
                edge: &mut d_edge,
                last: &mut d_last,
                state: None,
            };
            pointers::backward(isa, &inputs, &d_logits, gradients, &mut scratch);
        }));
    }
}

/// Per triplet and hidden number, a maximum and a multiply-add (counted as two); backward a comparison and two additions.
fn pointers_of_edges(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let leak = |count, seed| -> &'static [f32] { numbers(count, seed).leak() };
    let inputs = edge_pointers::Inputs { pairs: leak(n * n * h, 1), to: leak(n * h, 2), last: leak(h, 3) };
    let operations = (2 * n * n * n * h) as f64;
    let (mut logits, mut scratch) = (vec![0.0; n * n * n], Scratch::default());
    all.push(Entry::new(&format!("edge pointers, n = {n}"), operations, move || {
        edge_pointers::forward(isa, &inputs, &mut logits, &mut scratch);
    }));
    let (d_logits, mut scratch) = (numbers(n * n * n, 4), Scratch::default());
    let (mut pairs, mut to, mut last) = (vec![0.0; n * n * h], vec![0.0; n * h], vec![0.0; h]);
    all.push(Entry::new(&format!("edge pointers back, n = {n}"), operations, move || {
        let gradients = edge_pointers::Gradients { pairs: &mut pairs, to: &mut to, last: &mut last };
        edge_pointers::backward(isa, &inputs, &d_logits, gradients, &mut scratch);
    }));
}

/// Per triplet and feature, an addition and a maximum; backward two additions per pair and feature.
fn triplet_maxima(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const FEATURES: usize = 8;
    let len = n * n * FEATURES;
    let (a, b) = (numbers(len, 1), numbers(len, 2));
    let (mut out, mut winners, mut scratch) = (vec![0.0; len], vec![0; len], Scratch::default());
    triplets::forward(isa, (n, FEATURES), &a, &b, &mut out, Some(&mut winners), &mut scratch);
    let kept = winners.clone();
    all.push(Entry::new(&format!("triplets, n = {n}"), (2 * len * n) as f64, move || {
        triplets::forward(isa, (n, FEATURES), &a, &b, &mut out, Some(&mut winners), &mut scratch);
    }));
    let (d_out, mut d_a, mut d_b) = (numbers(len, 3), vec![0.0; len], vec![0.0; len]);
    all.push(Entry::new(&format!("triplets back, n = {n}"), (2 * len) as f64, move || {
        triplets::backward((n, FEATURES), &kept, &d_out, &mut d_a, &mut d_b);
    }));
}

/// Per pair and column: a multiply-add for each channel and one for the score; per pair and hidden number one for the mean.
fn attentions(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const HEADS: usize = 8;
    let (h, c) = (HIDDEN, CHANNELS);
    let leak = |count, seed| -> &'static [f32] { numbers(count, seed).leak() };
    for (name, w) in [("gat", HEADS), ("gatv2", h)] {
        let inputs = attention::Inputs {
            nodes: n,
            heads: HEADS,
            asking: leak(n * w, 1),
            asked: leak(n * w, 2),
            edges: leak(n * n * c, 3),
            edge: leak(c * w, 4),
            score: (w == h).then(|| leak(w, 5)),
            values: leak(n * h, 6),
            neighbours: None,
        };
        let operations = (n * n * 2 * (w * (c + 1) + h)) as f64;
        let (mut out, mut tape, mut scratch) = (vec![0.0; n * h], attention::Tape::default(), Scratch::default());
        attention::forward(isa, &inputs, &mut out, &mut tape, &mut scratch);
        let kept = tape.clone();
        all.push(Entry::new(&format!("{name}, n = {n}"), operations, move || {
            attention::forward(isa, &inputs, &mut out, &mut tape, &mut scratch);
        }));
        for raw in [false, true] {
            let [mut asking, mut asked] = [0; 2].map(|_| vec![0.0; n * w]);
            let (mut edges, mut edge, mut score) = (vec![0.0; n * n * c], vec![0.0; c * w], vec![0.0; w]);
            let (mut values, d_out, tape, mut scratch) = (vec![0.0; n * h], numbers(n * h, 7), kept.clone(), Scratch::default());
            let with = if raw { ", channels" } else { "" };
            let products = if raw { 3 } else { 2 };
            let operations = (n * n * 2 * (w * (products * c + 1) + 2 * h)) as f64;
            all.push(Entry::new(&format!("{name} back, n = {n}{with}"), operations, move || {
                let gradients = attention::Gradients {
                    asking: &mut asking,
                    asked: &mut asked,
                    edges: raw.then_some(&mut edges),
                    edge: &mut edge,
                    score: (w == h).then_some(&mut score),
                    values: &mut values,
                };
                attention::backward(isa, &inputs, &tape, &d_out, gradients, &mut scratch);
            }));
        }
    }
}

/// Operations are not counted: these wait for memory, or for logarithms.
fn row_by_row(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let (x, scale, offset) = (numbers(n * h, 1), numbers(h, 2), numbers(h, 3));
    let (mut y, mut moments) = (vec![0.0; n * h], vec![0.0; 2 * n]);
    all.push(Entry::new(&format!("layer norm, n = {n}"), 0.0, move || {
        rows::layer_norm(isa, &x, &scale, &offset, &mut y, &mut moments);
    }));
    let logits = numbers(n * n, 4);
    let mut y = logits.clone();
    all.push(Entry::new(&format!("log softmax, n = {n}"), 0.0, move || {
        y.copy_from_slice(&logits);
        rows::log_softmax(isa, &mut y, n);
    }));
    let logits = numbers(n * n, 5);
    let (mut y, mut tape) = (logits.clone(), sinkhorn::Tape::default());
    sinkhorn::forward(isa, n, &mut y, 10, Some(&mut tape));
    let kept = tape.clone();
    all.push(Entry::new(&format!("sinkhorn, n = {n}, 10 rounds"), 0.0, move || {
        y.copy_from_slice(&logits);
        sinkhorn::forward(isa, n, &mut y, 10, Some(&mut tape));
    }));
    let d = numbers(n * n, 6);
    let mut d_logits = d.clone();
    all.push(Entry::new(&format!("sinkhorn back, n = {n}, 10 rounds"), 0.0, move || {
        d_logits.copy_from_slice(&d);
        sinkhorn::backward(isa, &kept, &mut d_logits);
    }));
    if n == 16 {
        let count = 200_000;
        let [gradient, mut values, mut first, mut second] = [7, 8, 9, 10].map(|seed| numbers(count, seed));
        for x in &mut second {
            *x = x.abs();
        }
        all.push(Entry::new("adam, 200 000 numbers", 0.0, move || {
            let rule = adam::Update { scale: 1.0, learning_rate: Some(1e-3), parts: [0.5, 0.5] };
            adam::update(isa, rule, Some(&gradient), &mut values, &mut first, &mut second);
        }));
        let x = numbers(count, 11);
        all.push(Entry::new("sum of squares, 200 000 numbers", 0.0, move || {
            std::hint::black_box(adam::sum_of_squares(isa, &x));
        }));
    }
}

/// A multiply-add per word and number of its embedding.
fn sentences(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const SIZE: usize = 16;
    let (rows, count, length) = ((n + 1) * (n + 1), HIDDEN - 1, HIDDEN);
    let table: &'static [f32] = numbers(count * SIZE, 1).leak();
    let positions: &'static [f32] = numbers(length * SIZE, 2).leak();
    let words: &'static [u16] = (0..rows * length).map(|i| (i * 7 % HIDDEN) as u16).collect::<Vec<_>>().leak();
    let inputs = words::Inputs { size: SIZE, table, positions, words };
    let operations = (2 * rows * length * SIZE) as f64;
    let mut out = vec![0.0; rows * SIZE];
    all.push(Entry::new(&format!("words, n = {n}"), operations, move || words::forward(isa, &inputs, &mut out)));
    let (d_out, mut d_table) = (numbers(rows * SIZE, 3), vec![0.0; count * SIZE]);
    all.push(Entry::new(&format!("words back, n = {n}"), operations, move || {
        words::backward(isa, &inputs, &d_out, &mut d_table);
    }));
}
