//! Times every kernel: `cargo xtask bench [--seconds SECONDS] [FILTER]`.
//!
//! The machine may be shared, so measurements are short and interleaved, and the fastest of each kernel counts. All kernels run on
//! one thread. Rates count the operations actually done, a multiply-add as two, and are compared with a limit measured in the same
//! run: the peak rate of the multiply-add units or, for memory-bound kernels, a copy of as many bytes.
//!
//! On some AMD processors, glibc's `memcpy` is fifteen times slower if source and destination have almost the same page offset, so
//! that copies, and kernels that are timed together with one, depend on the memory layout. The environment variable
//! `GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=100000000` avoids that.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its results")]
#![expect(clippy::cast_possible_truncation, reason = "sizes are small")]

mod graph;
mod rowwise;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clrs_kernels::{Isa, peak};

/// Hidden elements.
pub(crate) const HIDDEN: usize = 128;
/// Nodes of the training and test sets of the CLRS benchmark, and four times as many.
const NODES: [usize; 3] = [16, 64, 256];
/// Time per kernel and round, at least one call.
const TURN: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    let isa = match Isa::from_env() {
        Ok(isa) => isa,
        Err(error) => {
            eprintln!("error: CLRS_ISA: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(10, |seconds| seconds.parse().expect("SECONDS must be an integer"));
    let filter = arguments.next().unwrap_or_default();
    let mut all = entries(isa);
    all.retain(|entry| entry.name.contains(&filter));
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
        println!("{:48} {:9.1} us  {}", entry.name, entry.fastest * 1e6, entry.format_rate(&all));
    }
    if "edge pointers".contains(&filter) || filter.contains("edge pointers") {
        println!("edge pointers, n = 256: skipped, the logits alone are 67 MB");
    }
    ExitCode::SUCCESS
}

fn entries(isa: Isa) -> Vec<Entry> {
    let mut all = Vec::new();
    for rows in [1, 16, 17, 64, 256] {
        rowwise::gemm(isa, rows, &mut all);
    }
    for n in NODES {
        graph::messages(isa, n, &mut all);
        graph::node_pointers(isa, n, &mut all);
        if n <= 64 {
            graph::edge_pointers(isa, n, &mut all);
        }
        graph::triplets(isa, n, &mut all);
        graph::attention(isa, n, &mut all);
        graph::embedding_bag(isa, n, &mut all);
        graph::memory_attention(isa, n, &mut all);
        graph::max_pool(isa, n, &mut all);
        rowwise::layer_norm(isa, n, &mut all);
        rowwise::softmax(isa, n, &mut all);
        rowwise::sinkhorn(isa, n, &mut all);
    }
    rowwise::adam(isa, &mut all);
    all
}

/// The limits that rates are compared with: the peak rate, and a copy for each number of bytes.
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

/// A kernel call and its shortest time in seconds.
pub(crate) struct Entry {
    name: String,
    work: Work,
    fastest: f64,
    run: Box<dyn FnMut()>,
}

/// Work of a call.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Floating-point operations.
    Operations(f64),
    /// Bytes read and written, for memory-bound kernels.
    Bytes(usize),
    /// Copies into another layout, without a rate.
    Packing,
}

impl Entry {
    pub(crate) fn new(name: &str, work: Work, run: impl FnMut() + 'static) -> Entry {
        Entry { name: name.into(), work, fastest: f64::MAX, run: Box::new(run) }
    }

    /// Formats the rate and its fraction of the limit.
    fn format_rate(&self, all: &[Entry]) -> String {
        let (per_second, unit, limit) = match self.work {
            Work::Operations(count) => (count / self.fastest / 1e9, "GFLOP/s", PEAK.to_string()),
            Work::Bytes(count) => (count as f64 / self.fastest / 1e9, "GB/s", copy_name(count)),
            Work::Packing => return String::new(),
        };
        let limit = all.iter().find(|entry| entry.name == limit).expect("every kind of work has a limit");
        let limit_work = match limit.work {
            Work::Operations(count) => count,
            Work::Bytes(count) => count as f64,
            Work::Packing => unreachable!("limits have a rate"),
        };
        let share = per_second * 1e9 / (limit_work / limit.fastest);
        let of = if matches!(self.work, Work::Bytes(_)) { "of copy" } else { "of peak" };
        format!("{per_second:7.1} {unit:7} {:4.0}% {of}", 100.0 * share)
    }
}

/// Pseudorandom values from -1 to 1.
pub(crate) fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
