//! Repeated rows and pairwise sums against their references.
//!
//! These kernels take no instruction set; `compare` calls them once for each that the machine has.

mod common;

use clrs_kernels::reference::{Expand, PairwiseSum};
use clrs_kernels::{Isa, expand, pairwise_sum};
use common::{KernelResult, compare, compare_exactly};

#[test]
fn expand_equals_reference() {
    for (seed, (rows, dim, copies)) in (0..).zip([(1, 1, 1), (3, 7, 2), (2, 16, 5), (4, 33, 16), (1, 128, 64)]) {
        let reference = Expand { rows, dim, copies };
        let kernel = |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| -> KernelResult {
            let (mut out, mut d_x) = (vec![f32::NAN; d_out.len()], vec![f32::NAN; inputs[0].len()]);
            expand::forward(&inputs[0], dim, copies, &mut out);
            expand::backward(d_out, dim, copies, &mut d_x);
            (out, vec![d_x])
        };
        compare(&format!("{reference:?}"), &reference, seed, |_| 1.0, kernel);
        compare_exactly(&format!("{reference:?}"), &reference, seed, kernel);
    }
}

#[test]
fn the_gradient_of_no_copies_is_0() {
    let mut d_x = [f32::NAN; 2];
    expand::backward(&[], 2, 0, &mut d_x);
    assert_eq!(d_x, [0.0; 2]);
}

#[test]
fn pairwise_sum_equals_reference() {
    for (seed, (nodes, dim)) in (0..).zip([(1, 1), (2, 1), (3, 7), (5, 16), (16, 17), (4, 128)]) {
        let reference = PairwiseSum { nodes, dim };
        let kernel = |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| -> KernelResult {
            let mut out = vec![f32::NAN; d_out.len()];
            pairwise_sum::forward(&inputs[0], &inputs[1], dim, &mut out);
            let (mut d_first, mut d_second) = (vec![f32::NAN; nodes * dim], vec![f32::NAN; nodes * dim]);
            pairwise_sum::backward(d_out, dim, &mut d_first, &mut d_second);
            (out, vec![d_first, d_second])
        };
        compare(&format!("{reference:?}"), &reference, seed, |_| 1.0, kernel);
        compare_exactly(&format!("{reference:?}"), &reference, seed, kernel);
    }
}

#[test]
#[should_panic(expected = "out must be [N, N, D]")]
fn pairwise_sum_of_other_lengths_panics() {
    pairwise_sum::forward(&[0.0; 4], &[0.0; 4], 2, &mut [0.0; 4]);
}
