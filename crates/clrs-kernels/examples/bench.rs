//! Times the kernels: `cargo run --release -p clrs-kernels --example bench [seconds] [part of a name]`.
//!
//! The machine may be shared, so that every measurement is short, all are taken in turns, and the fastest of each counts. Rates
//! count the products that are really done; the share is that of the multiply-add peak, measured in the same run.

use std::time::{Duration, Instant};

use clrs_kernels::gemm::{self, End, Packed, Start};
use clrs_kernels::messages::{self, Gradients, InputGradients, Inputs, Prepared, Senders, Tape, Weights};
use clrs_kernels::{Isa, Scratch, peak};

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
        println!("{name:34} {:9.1} us {:7.1} GFLOP/s {:4.0}%", fastest * 1e6, rate / 1e9, 100.0 * rate / peak);
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
    let (b, mut c) = (numbers(rows * h, 4), vec![0.0; h * h]);
    all.push(Entry::new(&format!("gemm weights, {rows} rows"), operations, move || {
        gemm::add_transposed_product(isa, [rows, h, h], &a, &b, &mut c);
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
    for keep in [true, false] {
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
            let (mut d_edges, mut gradients) = (vec![0.0; n * n * c], Gradients::new(h, c));
            let (d_out, tape, mut scratch) = (numbers(n * h, 8), kept.clone(), Scratch::default());
            let how = if keep { "kept" } else { "anew" };
            let with = if raw { ", channels" } else { "" };
            all.push(Entry::new(&format!("messages back, n = {n}, {how}{with}"), operations, move || {
                let d_inputs =
                    InputGradients { receivers: &mut d_receivers, senders: &mut d_senders, edges: raw.then_some(&mut d_edges) };
                messages::backward(isa, prepared, &inputs, &tape, &d_out, d_inputs, &mut gradients, &mut scratch);
            }));
        }
    }
    let [edge, middle, last, bias] = [edge, middle, last, bias].map(|x| -> &'static [f32] { x.leak() });
    all.push(Entry::new(&format!("messages, prepare"), 0.0, move || {
        std::hint::black_box(Prepared::new(&Weights { edge, middle, middle_bias: bias, last }));
    }));
}
