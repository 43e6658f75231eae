//! Times every kernel: `cargo xtask bench [--seconds SECONDS] [PART OF A NAME]`.
//!
//! The machine may be shared, so that every measurement is short, all are taken in turns, and the fastest of each counts. One
//! thread does the work. Rates count what is really done, a multiply-add as two operations, and stand beside the limit, measured in
//! the same run: what multiply-add units can do, or, for kernels that wait for memory, a plain copy of as many bytes.

#![expect(clippy::print_stdout, clippy::cast_possible_truncation, reason = "it prints what it measures of small numbers")]

mod nodes;
mod rowwise;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use clrs_kernels::{Isa, peak};

/// Size of hidden vectors.
pub(crate) const HIDDEN: usize = 128;
/// Of the benchmark's training and test sets, and four times as many.
const NODES: [usize; 3] = [16, 64, 256];
/// How long a kernel is timed before it is the turn of the next, at least one call.
const TURN: Duration = Duration::from_millis(5);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(10, |seconds| seconds.parse().expect("a number of seconds"));
    let only = arguments.next().unwrap_or_default();
    let isa = Isa::best();
    let mut all = entries(isa);
    all.retain(|entry| entry.name.contains(&only));
    all.splice(0..0, limits(isa, &all));

    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(seconds) {
        for entry in &mut all {
            let turn = Instant::now();
            while turn.elapsed() < TURN {
                let once = Instant::now();
                (entry.run)();
                entry.fastest = entry.fastest.min(once.elapsed().as_secs_f64());
            }
        }
    }
    println!("{isa}, one thread");
    for entry in &all {
        println!("{:40} {:9.1} us  {}", entry.name, entry.fastest * 1e6, entry.shown(&all));
    }
    if "edge pointers".contains(&only) || only.contains("edge pointers") {
        println!("edge pointers, n = 256: left out, its logits alone are 67 MB");
    }
}

fn entries(isa: Isa) -> Vec<Entry> {
    let mut all = Vec::new();
    for rows in [1, 16, 17, 64, 256] {
        rowwise::products(isa, rows, &mut all);
    }
    for n in NODES {
        nodes::messages(isa, n, &mut all);
        nodes::node_pointers(isa, n, &mut all);
        if n <= 64 {
            nodes::pointers_of_edges(isa, n, &mut all);
        }
        nodes::triplet_maxima(isa, n, &mut all);
        nodes::attentions(isa, n, &mut all);
        nodes::sentences(isa, n, &mut all);
        rowwise::norms(isa, n, &mut all);
        rowwise::softmaxes(isa, n, &mut all);
        rowwise::permutations(isa, n, &mut all);
    }
    rowwise::updates(isa, &mut all);
    all
}

/// What others are shares of: the peak, and a copy for each number of bytes.
fn limits(isa: Isa, all: &[Entry]) -> Vec<Entry> {
    const ROUNDS: u32 = 20_000;
    let operations = Work::Operations(peak::run_fma_chains(isa, ROUNDS));
    let peak = Entry::new(PEAK, operations, move || {
        peak::run_fma_chains(isa, ROUNDS);
    });
    let sizes = all.iter().filter_map(|entry| if let Work::Bytes(bytes) = entry.work { Some(bytes) } else { None });
    let copy = |bytes: usize| {
        let (from, mut to) = (values(bytes / 8, 1), vec![0.0; bytes / 8]);
        Entry::new(&copy_name(bytes), Work::Bytes(bytes), move || {
            to.copy_from_slice(&from);
            std::hint::black_box(&mut to);
        })
    };
    std::iter::once(peak).chain(sizes.collect::<BTreeSet<_>>().into_iter().map(copy)).collect()
}

const PEAK: &str = "peak";

fn copy_name(bytes: usize) -> String {
    format!("copy, {} KB read and written", bytes / 1000)
}

/// A call of a kernel, and the shortest time that one took.
pub(crate) struct Entry {
    name: String,
    work: Work,
    fastest: f64,
    run: Box<dyn FnMut()>,
}

/// What a call does.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Floating-point operations.
    Operations(f64),
    /// Read and written, for kernels that wait for them.
    Bytes(usize),
    /// Neither: copies into another layout.
    Preparation,
}

impl Entry {
    pub(crate) fn new(name: &str, work: Work, run: impl FnMut() + 'static) -> Entry {
        Entry { name: name.into(), work, fastest: f64::MAX, run: Box::new(run) }
    }

    /// Rate, and share of the limit.
    fn shown(&self, all: &[Entry]) -> String {
        let (per_second, unit, limit) = match self.work {
            Work::Operations(count) => (count / self.fastest / 1e9, "GFLOP/s", PEAK.to_string()),
            Work::Bytes(count) => (count as f64 / self.fastest / 1e9, "GB/s", copy_name(count)),
            Work::Preparation => return String::new(),
        };
        let limit = all.iter().find(|entry| entry.name == limit).expect("a limit for each");
        let most = match limit.work {
            Work::Operations(count) => count,
            Work::Bytes(count) => count as f64,
            Work::Preparation => unreachable!("no limit"),
        };
        let share = per_second * 1e9 / (most / limit.fastest);
        let of = if matches!(self.work, Work::Bytes(_)) { "of a copy" } else { "of the peak" };
        format!("{per_second:7.1} {unit:7} {:4.0}% {of}", 100.0 * share)
    }
}

/// Numbers between -1 and 1 that look random.
pub(crate) fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
