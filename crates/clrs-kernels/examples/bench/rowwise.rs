//! Kernels over rows and matrices.

use clrs_kernels::gemm::{self, Accumulate, Epilogue, PackedMatrix};
use clrs_kernels::{Isa, Scratch, adam, rowwise, sinkhorn};

use crate::{Entry, HIDDEN, Work, values};

/// Operations of an exponential: two for the exponent, four for the argument reduction, the rest for the polynomial.
const EXP: usize = 21;

pub(crate) fn gemm(isa: Isa, rows: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let work = Work::Operations((2 * rows * h * h) as f64);
    let (a, b, bias) = (values(rows * h, 1), values(h * h, 2), values(h, 3));
    let packed = PackedMatrix::new(&b, h, h);
    let mut c = vec![0.0; rows * h];
    let left = a.clone();
    all.push(Entry::new(&format!("gemm packed, {rows} rows"), work, move || {
        gemm::matmul_packed(isa, &left, &packed, Accumulate::Bias(&bias), Epilogue::Relu, &mut c);
    }));
    let (left, mut c) = (a.clone(), vec![0.0; rows * h]);
    all.push(Entry::new(&format!("gemm dense, {rows} rows"), work, move || {
        gemm::matmul(isa, [rows, h, h], &left, &b, Accumulate::Zero, Epilogue::Identity, &mut c);
    }));
    let (b, mut c, mut scratch) = (values(rows * h, 4), vec![0.0; h * h], Scratch::default());
    all.push(Entry::new(&format!("gemm weights, {rows} rows"), work, move || {
        gemm::add_matmul_tn(isa, [rows, h, h], &a, &b, &mut c, &mut scratch);
    }));
}

/// Forward reads one row and writes one; backward reads two.
pub(crate) fn layer_norm(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let h = HIDDEN;
    let (x, scale, offset) = (values(n * h, 1), values(h, 2), values(h, 3));
    let (mut y, mut moments) = (vec![0.0; n * h], vec![0.0; 2 * n]);
    rowwise::layer_norm(isa, &x, &scale, &offset, &mut y, &mut moments);
    let (saved, rows_in, factors) = (moments.clone(), x.clone(), scale.clone());
    all.push(Entry::new(&format!("layer norm, n = {n}"), Work::Bytes(8 * n * h), move || {
        rowwise::layer_norm(isa, &x, &scale, &offset, &mut y, &mut moments);
    }));
    let (d_y, mut d_x) = (values(n * h, 4), vec![0.0; n * h]);
    let (mut d_scale, mut d_offset) = (vec![0.0; h], vec![0.0; h]);
    all.push(Entry::new(&format!("layer norm back, n = {n}"), Work::Bytes(12 * n * h), move || {
        rowwise::layer_norm_backward(isa, (&rows_in, &saved), &factors, &d_y, &mut d_x, &mut d_scale, &mut d_offset);
    }));
}

/// Per element: a comparison, a difference, an exponential, a sum, and a product or another difference. Backward: two products, a sum
/// and a difference, or with the logarithm an exponential instead of a product.
pub(crate) fn softmax(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    let work = |each: usize| Work::Operations((n * n * each) as f64);
    let logits = values(n * n, 1);
    for (name, forward, backward, backward_operations) in [
        (
            "softmax",
            rowwise::softmax as fn(Isa, &mut [f32], usize),
            rowwise::softmax_backward as fn(Isa, &[f32], &mut [f32], usize),
            4,
        ),
        ("log softmax", rowwise::log_softmax, rowwise::log_softmax_backward, EXP + 3),
    ] {
        let (given, mut y) = (logits.clone(), logits.clone());
        forward(isa, &mut y, n);
        let saved = y.clone();
        all.push(Entry::new(&format!("{name}, n = {n}"), work(EXP + 4), move || {
            y.copy_from_slice(&given);
            forward(isa, &mut y, n);
        }));
        let (given, mut d) = (values(n * n, 2), vec![0.0; n * n]);
        all.push(Entry::new(&format!("{name} back, n = {n}"), work(backward_operations), move || {
            d.copy_from_slice(&given);
            backward(isa, &saved, &mut d, n);
        }));
    }
}

/// Two log-softmaxes per iteration, over rows and columns.
pub(crate) fn sinkhorn(isa: Isa, n: usize, all: &mut Vec<Entry>) {
    const ITERATIONS: usize = 10;
    let work = |each: usize| Work::Operations((2 * ITERATIONS * n * n * each) as f64);
    let logits = values(n * n, 5);
    let (mut y, mut tape) = (logits.clone(), sinkhorn::Tape::default());
    sinkhorn::forward(isa, n, &mut y, ITERATIONS, Some(&mut tape));
    let saved = tape.clone();
    all.push(Entry::new(&format!("sinkhorn, n = {n}, {ITERATIONS} iterations"), work(EXP + 4), move || {
        y.copy_from_slice(&logits);
        sinkhorn::forward(isa, n, &mut y, ITERATIONS, Some(&mut tape));
    }));
    let d = values(n * n, 6);
    let mut d_logits = d.clone();
    all.push(Entry::new(&format!("sinkhorn back, n = {n}, {ITERATIONS} iterations"), work(EXP + 3), move || {
        d_logits.copy_from_slice(&d);
        sinkhorn::backward(isa, &saved, &mut d_logits);
    }));
}

/// As many parameters as a small and a large network have.
pub(crate) fn adam(isa: Isa, all: &mut Vec<Entry>) {
    for count in [200_000, 2_000_000] {
        let [gradient, mut parameters, mut first, mut second] = [7, 8, 9, 10].map(|seed| values(count, seed));
        for x in &mut second {
            *x = x.abs();
        }
        // Four arrays are read, three written.
        all.push(Entry::new(&format!("adam, {count} parameters"), Work::Bytes(7 * 4 * count), move || {
            let scalars = adam::Update { gradient_scale: 1.0, learning_rate: Some(1e-3), bias_corrections: [0.5, 0.5] };
            adam::update(isa, scalars, Some(&gradient), &mut parameters, &mut first, &mut second);
        }));
        let x = values(count, 11);
        all.push(Entry::new(&format!("sum of squares, {count} parameters"), Work::Bytes(4 * count), move || {
            std::hint::black_box(adam::sum_of_squares(isa, &x));
        }));
    }
}
