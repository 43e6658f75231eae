//! Matrix products against plain loops.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::gemm::{Accumulate, Epilogue, PackedMatrix, add_matmul_tn, matmul, matmul_packed, relu_backward};
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
        let (a, b, bias) = (random.values(rows * k, 1.0), random.values(k * n, 1.0), random.values(n, 1.0));
        let old = random.values(rows * n, 1.0);
        let want = plain([rows, k, n], &a, &b);
        let with_bias: Vec<f64> = want.iter().enumerate().map(|(at, x)| (x + bias[at % n]).max(0.0)).collect();
        let with_old: Vec<f64> = want.iter().zip(&old).map(|(x, old)| x + old).collect();
        let (fa, fb, fbias) = (narrow(&a), narrow(&b), narrow(&bias));
        for isa in Isa::available() {
            let mut c = vec![f32::NAN; rows * n];
            matmul_packed(isa, &fa, &PackedMatrix::new(&fb, k, n), Accumulate::Zero, Epilogue::Identity, &mut c);
            close(&what, &c, &want, 1e-5);
            let transposed = narrow(&transpose(k, n, &b));
            matmul_packed(
                isa,
                &fa,
                &PackedMatrix::transposed(&transposed, k, n),
                Accumulate::Bias(&fbias),
                Epilogue::Relu,
                &mut c,
            );
            close(&what, &c, &with_bias, 1e-5);
            let mut c = narrow(&old);
            matmul(isa, [rows, k, n], &fa, &fb, Accumulate::Output, Epilogue::Identity, &mut c);
            close(&what, &c, &with_old, 1e-5);
            let mut c = narrow(&old);
            let transposed = narrow(&transpose(rows, k, &a));
            with_scratch(|scratch| add_matmul_tn(isa, [k, rows, n], &transposed, &fb, &mut c, scratch));
            close(&what, &c, &with_old, 1e-5);
        }
    }
}

#[test]
fn bits_of_a_row_do_not_depend_on_other_rows_or_the_register_width() {
    let mut random = Random::new(2);
    for n in [1, 50] {
        check_rows_alone(&mut random, 29, 300, n);
    }
}

fn check_rows_alone(random: &mut Random, rows: usize, k: usize, n: usize) {
    let (a, b) = (narrow(&random.values(rows * k, 1.0)), narrow(&random.values(k * n, 1.0)));
    let packed = PackedMatrix::new(&b, k, n);
    for isa in Isa::available() {
        let mut all = vec![0.0; rows * n];
        matmul_packed(isa, &a, &packed, Accumulate::Zero, Epilogue::Identity, &mut all);
        for row in 0..rows {
            let mut one = vec![0.0; n];
            matmul_packed(isa, &a[row * k..][..k], &packed, Accumulate::Zero, Epilogue::Identity, &mut one);
            assert!(one == all[row * n..][..n], "{isa}, row {row}");
        }
        if isa.has_fma() {
            let mut best = vec![0.0; rows * n];
            matmul_packed(Isa::best(), &a, &packed, Accumulate::Zero, Epilogue::Identity, &mut best);
            assert!(best == all || !Isa::best().has_fma(), "{isa}");
        }
    }
}

#[test]
fn empty_product_is_the_initial_value() {
    let (mut c, bias) = (vec![f32::NAN; 6], [1.0, -2.0, 3.0]);
    let isa = Isa::best();
    matmul_packed(isa, &[], &PackedMatrix::new(&[], 0, 3), Accumulate::Bias(&bias), Epilogue::Relu, &mut c);
    assert_eq!(c, [1.0, 0.0, 3.0, 1.0, 0.0, 3.0]);
    matmul_packed(isa, &[], &PackedMatrix::new(&[], 3, 0), Accumulate::Zero, Epilogue::Identity, &mut []);
    // Several vectors of columns, and several rows.
    let mut c = vec![f32::NAN; 17];
    matmul_packed(isa, &[], &PackedMatrix::new(&[], 0, 17), Accumulate::Zero, Epilogue::Identity, &mut c);
    assert_eq!(c, [0.0; 17]);
    let mut c = vec![1.0; 26];
    with_scratch(|scratch| add_matmul_tn(isa, [0, 13, 2], &[], &[], &mut c, scratch));
    assert_eq!(c, [1.0; 26]);
}

/// A product of lengths that wraps around may equal the length of an empty slice.
#[test]
fn shape_that_overflows_panics() {
    let (isa, half) = (Isa::best(), 1 << (usize::BITS - 1));
    let panics = |call: &mut dyn FnMut()| {
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    };
    panics(&mut || matmul(isa, [half, 0, 2], &[], &[], Accumulate::Zero, Epilogue::Identity, &mut []));
    panics(&mut || with_scratch(|scratch| add_matmul_tn(isa, [0, half, 2], &[], &[], &mut [], scratch)));
    panics(&mut || drop(PackedMatrix::new(&[0.0; 16], half / 8 + 1, 16)));
    panics(&mut || drop(PackedMatrix::transposed(&[0.0; 16], half / 8 + 1, 16)));
}

#[test]
fn relu_propagates_nan() {
    for isa in Isa::available() {
        let mut c = [0.0; 2];
        matmul_packed(isa, &[f32::NAN], &PackedMatrix::new(&[1.0, 2.0], 1, 2), Accumulate::Zero, Epilogue::Relu, &mut c);
        assert!(c.iter().all(|x| x.is_nan()), "{isa}");
    }
}

#[test]
fn relu_passes_gradients_of_positive_results_only() {
    let (y, d_y) = ([2.0, 0.0, 1e-30, 0.0], [3.0, 5.0, -1.0, f32::NAN]);
    let mut d_x = [f32::NAN; 4];
    relu_backward(&y, &d_y, &mut d_x);
    assert_eq!(d_x, [3.0, 0.0, -1.0, 0.0]);
}
