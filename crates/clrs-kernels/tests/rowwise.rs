//! Layer norm, softmax, Sinkhorn and Adam against plain loops.

mod common;

use clrs_kernels::reference::{LayerNorm, Sinkhorn, Softmax};
use clrs_kernels::{Isa, adam, rowwise, sinkhorn};
use common::{KernelResult, Random, compare, narrow, same_bits};

fn layer_norm(isa: Isa, inputs: &[Vec<f32>], d_out: &[f32]) -> KernelResult {
    let [x, scale, offset] = inputs else { panic!("three") };
    let (mut out, mut moments) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len() / scale.len() * 2]);
    rowwise::layer_norm(isa, x, scale, offset, &mut out, &mut moments);
    let mut d = vec![vec![f32::NAN; x.len()], vec![0.0; scale.len()], vec![0.0; scale.len()]];
    let [d_x, d_scale, d_offset] = &mut d[..] else { panic!("three") };
    rowwise::layer_norm_backward(isa, (x, &moments), scale, d_out, d_x, d_scale, d_offset);
    (out, d)
}

fn softmax(reference: &Softmax) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        let (mut out, mut d) = (inputs[0].clone(), d_out.to_vec());
        if reference.log {
            rowwise::log_softmax(isa, &mut out, reference.len);
            rowwise::log_softmax_backward(isa, &out, &mut d, reference.len);
        } else {
            rowwise::softmax(isa, &mut out, reference.len);
            rowwise::softmax_backward(isa, &out, &mut d, reference.len);
        }
        (out, vec![d])
    }
}

fn permutation(reference: &Sinkhorn) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        let (mut out, mut d) = (inputs[0].clone(), d_out.to_vec());
        let mut tape = sinkhorn::Tape::default();
        sinkhorn::forward(isa, reference.nodes, &mut out, reference.iterations, Some(&mut tape));
        let mut without = inputs[0].clone();
        sinkhorn::forward(isa, reference.nodes, &mut without, reference.iterations, None);
        assert_eq!(out, without, "a tape changes nothing");
        out.iter_mut().step_by(reference.nodes + 1).for_each(|x| *x = 0.0);
        d.iter_mut().step_by(reference.nodes + 1).for_each(|d| *d = 0.0);
        sinkhorn::backward(isa, &tape, &mut d);
        (out, vec![d])
    }
}

#[test]
fn layer_norm_equals_its_twin() {
    for (i, rows) in [1, 2, 7].into_iter().enumerate() {
        // Of two or three numbers little is left but what cancels.
        for len in [5, 8, 15, 16, 17, 24, 33, 128, 200] {
            let reference = LayerNorm { rows, len };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 1.0, layer_norm);
        }
    }
    same_bits(&LayerNorm { rows: 5, len: 41 }, 1, layer_norm);
}

#[test]
fn a_row_of_one_number_is_its_offset() {
    for isa in Isa::available() {
        let (mut y, mut moments) = ([f32::NAN; 2], [f32::NAN; 4]);
        rowwise::layer_norm(isa, &[3.0, -4.0], &[2.0], &[0.5], &mut y, &mut moments);
        assert_eq!(y, [0.5; 2], "{isa}");
    }
}

#[test]
fn softmax_equals_its_twin() {
    for (i, rows) in [1, 2, 7].into_iter().enumerate() {
        for len in [1, 2, 3, 8, 15, 16, 17, 24, 33, 128, 200] {
            for log in [false, true] {
                let reference = Softmax { rows, len, log };
                compare(&format!("{reference:?}"), &reference, i as u64, |_| 4.0, softmax(&reference));
            }
        }
    }
    let reference = Softmax { rows: 5, len: 41, log: false };
    same_bits(&reference, 1, softmax(&reference));
}

#[test]
fn one_nan_makes_a_row_nan() {
    for isa in Isa::available() {
        for at in [0, 5, 18] {
            let mut row = vec![1.0; 20];
            row[at] = f32::NAN;
            let (mut softmax, mut log, mut norm, mut moments) = (row.clone(), row.clone(), row.clone(), [0.0; 2]);
            rowwise::softmax(isa, &mut softmax, 20);
            rowwise::log_softmax(isa, &mut log, 20);
            rowwise::layer_norm(isa, &row, &[1.0; 20], &[0.0; 20], &mut norm, &mut moments);
            assert!([softmax, log, norm].iter().flatten().all(|x| x.is_nan()), "{isa}, {at}");
        }
    }
}

#[test]
fn softmax_of_far_numbers() {
    for isa in Isa::available() {
        let mut row = vec![-1e9; 20];
        rowwise::softmax(isa, &mut row, 20);
        assert!(row.iter().all(|&x| (x - 0.05).abs() < 1e-7), "{isa}: {row:?}");
        let mut row = vec![-1e9, 3.0, -1e9];
        rowwise::softmax(isa, &mut row, 3);
        assert_eq!(row, [0.0, 1.0, 0.0], "{isa}");
    }
}

#[test]
fn sinkhorn_equals_its_twin() {
    for (i, nodes) in [2, 3, 5, 16, 17, 33].into_iter().enumerate() {
        for iterations in [1, 10, 25] {
            let reference = Sinkhorn { nodes, iterations };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.3, permutation(&reference));
        }
    }
    let reference = Sinkhorn { nodes: 19, iterations: 4 };
    same_bits(&reference, 1, permutation(&reference));
}

/// As `clrs-nn` has it.
fn plain(rule: adam::Update, gradient: f32, value: &mut f32, first: &mut f32, second: &mut f32) {
    let gradient = gradient * rule.gradient_scale;
    *first = 0.9 * *first + (1.0 - 0.9) * gradient;
    *second = 0.999 * *second + (1.0 - 0.999) * gradient * gradient;
    if let Some(rate) = rule.learning_rate {
        let step = (*first / rule.bias_corrections[0]) / ((*second / rule.bias_corrections[1]).sqrt() + 1e-8);
        *value -= rate * step;
    }
}

#[test]
fn adam_has_the_bits_of_the_plain_loop() {
    let mut random = Random::new(1);
    for isa in Isa::available() {
        for len in [0, 1, 15, 16, 17, 100] {
            for learning_rate in [Some(1e-3), None] {
                let mut state = [0; 3].map(|_| narrow(&random.values(len, 1.0)));
                state[2].iter_mut().for_each(|x| *x = x.abs());
                let mut want = state.clone();
                for update in 1..4 {
                    let gradient = (update != 2).then(|| narrow(&random.values(len, 1.0)));
                    let bias_corrections = [1.0 - 0.9f32.powi(update), 1.0 - 0.999f32.powi(update)];
                    let rule = adam::Update { gradient_scale: 0.7, learning_rate, bias_corrections };
                    let [values, first, second] = &mut state;
                    adam::update(isa, rule, gradient.as_deref(), values, first, second);
                    let [values, first, second] = &mut want;
                    for at in 0..len {
                        let gradient = gradient.as_ref().map_or(0.0, |gradient| gradient[at]);
                        plain(rule, gradient, &mut values[at], &mut first[at], &mut second[at]);
                    }
                    assert_eq!(state, want, "{isa}, {len} numbers");
                }
            }
        }
    }
}

#[test]
fn sums_of_squares_are_the_same_everywhere() {
    let x = narrow(&Random::new(2).values(1003, 1.0));
    let want: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let sums: Vec<f64> = Isa::available().into_iter().map(|isa| adam::sum_of_squares(isa, &x)).collect();
    assert!(sums.iter().all(|&sum| sum == sums[0] && (sum - want).abs() < 1e-9 * want), "{sums:?}, {want}");
}
