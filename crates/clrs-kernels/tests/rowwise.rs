//! Layer norm, softmax and log-softmax against their references.

mod common;

use clrs_kernels::reference::{LayerNorm, Softmax};
use clrs_kernels::{Isa, rowwise};
use common::{KernelResult, compare, same_bits};

fn layer_norm(isa: Isa, inputs: &[Vec<f32>], d_out: &[f32]) -> KernelResult {
    let [x, scale, offset] = inputs else { panic!("three inputs") };
    let (mut out, mut moments) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len() / scale.len() * 2]);
    rowwise::layer_norm(isa, x, scale, offset, &mut out, &mut moments);
    let mut d = vec![vec![f32::NAN; x.len()], vec![0.0; scale.len()], vec![0.0; scale.len()]];
    let [d_x, d_scale, d_offset] = &mut d[..] else { panic!("three inputs") };
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

#[test]
fn layer_norm_equals_reference() {
    for (i, rows) in [1, 2, 7].into_iter().enumerate() {
        // Rows of two or three elements are dominated by cancellation.
        for len in [5, 8, 15, 16, 17, 24, 33, 128, 200] {
            let reference = LayerNorm { rows, len };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 1.0, layer_norm);
        }
    }
    same_bits(&LayerNorm { rows: 5, len: 41 }, 1, layer_norm);
}

#[test]
fn layer_norm_of_one_element_is_the_offset() {
    for isa in Isa::available() {
        let (mut y, mut moments) = ([f32::NAN; 2], [f32::NAN; 4]);
        rowwise::layer_norm(isa, &[3.0, -4.0], &[2.0], &[0.5], &mut y, &mut moments);
        assert_eq!(y, [0.5; 2], "{isa}");
    }
}

#[test]
fn softmax_equals_reference() {
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
fn nan_makes_the_row_nan() {
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
fn softmax_of_large_negative_logits_is_exact() {
    for isa in Isa::available() {
        let mut row = vec![-1e9; 20];
        rowwise::softmax(isa, &mut row, 20);
        assert!(row.iter().all(|&x| (x - 0.05).abs() < 1e-7), "{isa}: {row:?}");
        let mut row = vec![-1e9, 3.0, -1e9];
        rowwise::softmax(isa, &mut row, 3);
        assert_eq!(row, [0.0, 1.0, 0.0], "{isa}");
    }
}
