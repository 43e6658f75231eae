//! Comparison of kernels with their references.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::cast_possible_truncation, reason = "kernels work on f32")]

use std::cell::RefCell;

use clrs_kernels::reference::ReferenceOp;
use clrs_kernels::{Isa, Scratch};

/// Pseudorandom values: the high bits of Knuth's MMIX linear congruential generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.uniform();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Uniform in `[0, 1)`.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 31) as f64
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).expect("31 bits") % bound
    }

    /// Values around 0, of the order of `scale`, that `f32` represents exactly.
    pub(crate) fn values(&mut self, count: usize, scale: f64) -> Vec<f64> {
        let one = |random: &mut Random| (random.uniform() + random.uniform() + random.uniform() - 1.5) * 2.0 * scale;
        (0..count).map(|_| f64::from(one(self) as f32)).collect()
    }

    /// Multiples of 1/4 from -1 to 1: sums of a few products of them are exact, and often equal.
    pub(crate) fn grid(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.below(9) as f64 / 4.0 - 1.0).collect()
    }
}

pub(crate) fn narrow(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

/// Reuses one scratch for all calls of a thread, so that leftovers of one shape would affect the next.
pub(crate) fn with_scratch<R>(run: impl FnOnce(&mut Scratch) -> R) -> R {
    thread_local!(static SCRATCH: RefCell<Scratch> = RefCell::default());
    SCRATCH.with_borrow_mut(run)
}

/// The output of a kernel, and the gradients of all inputs.
pub(crate) type KernelResult = (Vec<f32>, Vec<Vec<f32>>);

/// Compares a kernel with its reference on all instruction sets: output and gradients to 1e-5 of the largest element. Also compares
/// some gradients of the reference with finite differences. `scale` is the order of magnitude of the input of that name.
pub(crate) fn compare<T: ReferenceOp>(
    what: &str,
    reference: &T,
    seed: u64,
    scale: impl Fn(&str) -> f64,
    kernel: impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult,
) {
    // Skip inputs for which rounding could change an argmax or the sign before a ReLU.
    let (inputs, want) = (seed * 1000..)
        .find_map(|seed| {
            let mut random = Random::new(seed);
            let inputs: Vec<_> = reference.inputs().iter().map(|&(name, len)| random.values(len, scale(name))).collect();
            let (want, margin) = reference.forward(&inputs);
            (margin > 4e-6).then_some((inputs, want))
        })
        .expect("a seed without close decisions");
    let mut random = Random::new(seed + 1);
    let d_output = random.values(want.len(), 1.0);
    let d_want = reference.backward(&inputs, &d_output);
    if reference.is_differentiable() {
        check_finite_differences(what, reference, &inputs, &d_output, &d_want, &mut random);
    }

    let narrowed: Vec<Vec<f32>> = inputs.iter().map(|x| narrow(x)).collect();
    for isa in Isa::available() {
        let (got, d_got) = kernel(isa, &narrowed, &narrow(&d_output));
        close(&format!("{what}, {isa}, output"), &got, &want, 1e-5);
        assert_eq!(d_got.len(), d_want.len());
        for (((name, _), d_got), d_want) in reference.inputs().iter().zip(&d_got).zip(&d_want) {
            close(&format!("{what}, {isa}, gradient of {name}"), d_got, d_want, 1e-5);
        }
    }
}

/// Compares gradients of the reference with finite differences of its output, for two elements of each input.
fn check_finite_differences<T: ReferenceOp>(
    what: &str,
    reference: &T,
    inputs: &[Vec<f64>],
    d_output: &[f64],
    d_want: &[Vec<f64>],
    random: &mut Random,
) {
    const STEP: f64 = 1e-6;
    let loss = |inputs: &[Vec<f64>]| -> f64 { reference.forward(inputs).0.iter().zip(d_output).map(|(y, d)| y * d).sum() };
    for (input, (name, len)) in reference.inputs().into_iter().enumerate() {
        let top = d_want[input].iter().fold(0f64, |top, d| top.max(d.abs())).max(1e-3);
        for _ in 0..if len == 0 { 0 } else { 2 } {
            let at = random.below(len);
            let mut moved = inputs.to_vec();
            moved[input][at] += STEP;
            let above = loss(&moved);
            moved[input][at] = inputs[input][at] - STEP;
            let slope = (above - loss(&moved)) / (2.0 * STEP);
            let far = (slope - d_want[input][at]).abs() / top;
            assert!(far < 1e-3, "{what}, {name}[{at}]: slope {slope}, gradient {}", d_want[input][at]);
        }
    }
}

pub(crate) fn close(what: &str, got: &[f32], want: &[f64], limit: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    // Inputs are of the order of 1: values that cancel to about 0 are compared on that scale, not relative to themselves.
    let top = want.iter().fold(1e-3f64, |top, x| top.max(x.abs()));
    for (at, (&got, &want)) in got.iter().zip(want).enumerate() {
        let far = (f64::from(got) - want).abs() / top;
        assert!(far <= limit, "{what}: {got} at {at}, not {want}: {far:.1e} of {top}");
    }
}

/// Compares a kernel with its reference on inputs for which all sums are exact, so that both must be equal, ties included.
pub(crate) fn compare_exactly<T: ReferenceOp>(
    what: &str,
    reference: &T,
    seed: u64,
    kernel: impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult,
) {
    let mut random = Random::new(seed);
    let inputs: Vec<Vec<f64>> = reference.inputs().iter().map(|&(_, len)| random.grid(len)).collect();
    let (want, _) = reference.forward(&inputs);
    let d_output = random.grid(want.len());
    let d_want = reference.backward(&inputs, &d_output);
    let narrowed: Vec<Vec<f32>> = inputs.iter().map(|x| narrow(x)).collect();
    for isa in Isa::available() {
        let (got, d_got) = kernel(isa, &narrowed, &narrow(&d_output));
        close(&format!("{what}, {isa}, output"), &got, &want, 0.0);
        assert_eq!(d_got.len(), d_want.len(), "{what}, {isa}");
        for (((name, _), d_got), d_want) in reference.inputs().iter().zip(&d_got).zip(&d_want) {
            close(&format!("{what}, {isa}, gradient of {name}"), d_got, d_want, 0.0);
        }
    }
}

/// Asserts that all instruction sets with fused multiply-add give the same bits.
pub(crate) fn same_bits<T: ReferenceOp>(reference: &T, seed: u64, kernel: impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult) {
    let fused: Vec<Isa> = Isa::available().into_iter().filter(|isa| isa.has_fma()).collect();
    check_bits(&fused, reference, seed, kernel);
}

/// Asserts that all instruction sets give the same bits, for kernels that do not use fused multiply-add.
pub(crate) fn same_bits_without_fma<T: ReferenceOp>(
    reference: &T,
    seed: u64,
    kernel: impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult,
) {
    check_bits(&Isa::available(), reference, seed, kernel);
}

fn check_bits<T: ReferenceOp>(isas: &[Isa], reference: &T, seed: u64, kernel: impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult) {
    let mut random = Random::new(seed);
    let inputs: Vec<Vec<f64>> = reference.inputs().iter().map(|&(_, len)| random.values(len, 0.5)).collect();
    let d_output = narrow(&random.values(reference.forward(&inputs).0.len(), 1.0));
    let inputs: Vec<Vec<f32>> = inputs.iter().map(|x| narrow(x)).collect();
    let bits = |(output, gradients): KernelResult| -> Vec<Vec<u32>> {
        let all = std::iter::once(output).chain(gradients);
        all.map(|x| x.iter().map(|x| x.to_bits()).collect()).collect()
    };
    for pair in isas.windows(2) {
        let [a, b] = [0, 1].map(|i| bits(kernel(pair[i], &inputs, &d_output)));
        assert!(a == b, "{} and {} give different bits", pair[0], pair[1]);
    }
}

/// Shapes to test kernels on: nodes, hidden elements, features per edge.
pub(crate) fn shapes() -> impl Iterator<Item = (usize, usize, usize)> {
    let all = [1, 2, 3, 5, 16, 17, 33].into_iter().flat_map(|n| [1, 8, 24, 128, 200].map(|h| (n, h)));
    all.enumerate().map(|(i, (n, h))| (n, h, i % 5 + 1))
}
