//! Times the kernels: `cargo run --release -p clrs-kernels --example bench [seconds] [part of a name]`.
//!
//! The machine may be shared, so that every measurement is short, all are taken in turns, and the fastest of each counts. Rates
//! count the products that are really done; the share is that of the multiply-add peak, measured in the same run.

use std::time::{Duration, Instant};

use clrs_kernels::gemm::{self, End, Packed, Start};
use clrs_kernels::{Isa, peak};

const HIDDEN: usize = 128;

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
