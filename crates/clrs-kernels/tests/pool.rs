//! Max pooling and column ranges against their references.

mod common;

use clrs_kernels::reference::{MaxPool, Narrow};
use clrs_kernels::{Isa, max_pool, narrow};
use common::{KernelResult, compare, compare_exactly, same_bits_without_fma};

fn pool(isa: Isa, inputs: &[Vec<f32>], d_out: &[f32]) -> KernelResult {
    let (mut out, mut argmax) = (vec![f32::NAN; d_out.len()], vec![u32::MAX; d_out.len()]);
    max_pool::forward(isa, &inputs[0], &mut out, None);
    let without = out.clone();
    max_pool::forward(isa, &inputs[0], &mut out, Some(&mut argmax));
    assert_eq!(out, without, "recording the argmax changes nothing");
    let mut d_x = vec![f32::NAN; inputs[0].len()];
    max_pool::backward(&argmax, d_out, &mut d_x);
    (out, vec![d_x])
}

#[test]
fn max_pool_equals_reference() {
    for (seed, nodes) in (0..).zip([1, 2, 3, 16, 17, 64]) {
        for dim in [1, 3, 8, 15, 16, 17, 33, 128] {
            let reference = MaxPool { nodes, dim };
            compare(&format!("{reference:?}"), &reference, seed, |_| 1.0, pool);
            // Ties on a grid of nine values.
            compare_exactly(&format!("{reference:?}"), &reference, seed, pool);
            same_bits_without_fma(&reference, seed, pool);
        }
    }
}

#[test]
fn max_pool_keeps_a_nan_of_the_first_row_only() {
    for isa in Isa::available() {
        let (mut out, mut argmax) = ([0.0; 2], [9; 2]);
        max_pool::forward(isa, &[f32::NAN, 1.0, 2.0, f32::NAN, 3.0, 0.5], &mut out, Some(&mut argmax));
        assert!(out[0].is_nan() && out[1] == 1.0 && argmax == [0, 0], "{isa}: {out:?}, {argmax:?}");
    }
}

#[test]
fn narrow_equals_reference() {
    for (rows, width, range) in [(1, 1, 0..1), (3, 7, 2..5), (4, 40, 0..40), (5, 33, 32..33), (2, 3, 1..1)] {
        let reference = Narrow { rows, width, range: range.clone() };
        let kernel = |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| {
            let (mut out, mut d_x) = (vec![f32::NAN; d_out.len()], vec![f32::NAN; inputs[0].len()]);
            narrow::forward(&inputs[0], width, range.clone(), &mut out);
            narrow::backward(d_out, width, range.clone(), &mut d_x);
            (out, vec![d_x])
        };
        compare_exactly(&format!("{reference:?}"), &reference, 1, kernel);
    }
}

#[test]
#[should_panic(expected = "inside the width")]
fn narrow_range_outside_the_width_panics() {
    narrow::forward(&[0.0; 4], 2, 1..3, &mut [0.0; 4]);
}
