//! Products against plain loops.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::gemm::{End, Packed, Start, add_transposed_product, dense_product, product};
use common::{Random, close, narrow, with_scratch};

/// `a b`
fn plain([rows, k, n]: [usize; 3], a: &[f64], b: &[f64]) -> Vec<f64> {
    let element = |i: usize, j: usize| (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum();
    (0..rows * n).map(|at| element(at / n, at % n)).collect()
}

fn transpose(rows: usize, columns: usize, x: &[f64]) -> Vec<f64> {
    (0..rows * columns).map(|at| x[at % rows * columns + at / rows]).collect()
}

#[test]
fn all_forms_equal_plain_loops() {
    let mut random = Random::new(1);
    let sizes = [1, 2, 3, 5, 8, 13, 16, 17, 31, 33, 48, 129, 300];
    for _ in 0..300 {
        let [rows, k, n] = [0; 3].map(|_| sizes[random.below(sizes.len())]);
        let what = format!("[{rows}, {k}] [{k}, {n}]");
        let (a, b, bias) = (random.numbers(rows * k, 1.0), random.numbers(k * n, 1.0), random.numbers(n, 1.0));
        let old = random.numbers(rows * n, 1.0);
        let want = plain([rows, k, n], &a, &b);
        let with_bias: Vec<f64> = want.iter().enumerate().map(|(at, x)| (x + bias[at % n]).max(0.0)).collect();
        let with_old: Vec<f64> = want.iter().zip(&old).map(|(x, old)| x + old).collect();
        let (fa, fb, fbias) = (narrow(&a), narrow(&b), narrow(&bias));
        for isa in Isa::available() {
            let mut c = vec![f32::NAN; rows * n];
            product(isa, &fa, &Packed::new(&fb, k, n), Start::Zero, End::Linear, &mut c);
            close(&what, &c, &want, 1e-5);
            let turned = narrow(&transpose(k, n, &b));
            product(isa, &fa, &Packed::transposed(&turned, k, n), Start::Bias(&fbias), End::Relu, &mut c);
            close(&what, &c, &with_bias, 1e-5);
            let mut c = narrow(&old);
            dense_product(isa, [rows, k, n], &fa, &fb, Start::Result, End::Linear, &mut c);
            close(&what, &c, &with_old, 1e-5);
            let mut c = narrow(&old);
            let turned = narrow(&transpose(rows, k, &a));
            with_scratch(|scratch| add_transposed_product(isa, [k, rows, n], &turned, &fb, &mut c, scratch));
            close(&what, &c, &with_old, 1e-5);
        }
    }
}

/// What a row becomes does not depend on the rows around it, nor on the width of registers.
#[test]
fn every_row_has_the_same_bits_alone() {
    let mut random = Random::new(2);
    for n in [1, 50] {
        rows_alone(&mut random, 29, 300, n);
    }
}

fn rows_alone(random: &mut Random, rows: usize, k: usize, n: usize) {
    let (a, b) = (narrow(&random.numbers(rows * k, 1.0)), narrow(&random.numbers(k * n, 1.0)));
    let packed = Packed::new(&b, k, n);
    for isa in Isa::available() {
        let mut all = vec![0.0; rows * n];
        product(isa, &a, &packed, Start::Zero, End::Linear, &mut all);
        for row in 0..rows {
            let mut one = vec![0.0; n];
            product(isa, &a[row * k..][..k], &packed, Start::Zero, End::Linear, &mut one);
            assert!(one == all[row * n..][..n], "{isa}, row {row}");
        }
        if isa.fuses() {
            let mut best = vec![0.0; rows * n];
            product(Isa::best(), &a, &packed, Start::Zero, End::Linear, &mut best);
            assert!(best == all || !Isa::best().fuses(), "{isa}");
        }
    }
}

#[test]
fn nothing_times_something_is_what_it_started_from() {
    let (mut c, bias) = (vec![f32::NAN; 6], [1.0, -2.0, 3.0]);
    let isa = Isa::best();
    product(isa, &[], &Packed::new(&[], 0, 3), Start::Bias(&bias), End::Relu, &mut c);
    assert_eq!(c, [1.0, 0.0, 3.0, 1.0, 0.0, 3.0]);
    product(isa, &[], &Packed::new(&[], 3, 0), Start::Zero, End::Linear, &mut []);
    // Over several registers of columns, and several rows.
    let mut c = vec![f32::NAN; 17];
    product(isa, &[], &Packed::new(&[], 0, 17), Start::Zero, End::Linear, &mut c);
    assert_eq!(c, [0.0; 17]);
    let mut c = vec![1.0; 26];
    with_scratch(|scratch| add_transposed_product(isa, [0, 13, 2], &[], &[], &mut c, scratch));
    assert_eq!(c, [1.0; 26]);
}

/// Where the product of two lengths wraps around, it may be that of an empty slice.
#[test]
fn shapes_that_no_memory_has_are_refused() {
    let (isa, half) = (Isa::best(), 1 << (usize::BITS - 1));
    let refused = |call: &mut dyn FnMut()| {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    };
    refused(&mut || dense_product(isa, [half, 0, 2], &[], &[], Start::Zero, End::Linear, &mut []));
    refused(&mut || with_scratch(|scratch| add_transposed_product(isa, [0, half, 2], &[], &[], &mut [], scratch)));
    refused(&mut || drop(Packed::new(&[0.0; 16], half / 8 + 1, 16)));
    refused(&mut || drop(Packed::transposed(&[0.0; 16], half / 8 + 1, 16)));
}

#[test]
fn nan_passes_the_rectifier() {
    for isa in Isa::available() {
        let mut c = [0.0; 2];
        product(isa, &[f32::NAN], &Packed::new(&[1.0, 2.0], 1, 2), Start::Zero, End::Relu, &mut c);
        assert!(c.iter().all(|x| x.is_nan()), "{isa}");
    }
}
