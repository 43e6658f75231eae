//! Triplet maxima against their reference.

mod common;

use clrs_kernels::reference::Triplets;
use clrs_kernels::{Isa, triplets};
use common::{KernelResult, compare, compare_exactly, same_bits_without_fma, with_scratch};

fn kernel(reference: &Triplets) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    let shape = (reference.nodes, reference.features);
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let (mut out, mut argmax) = (vec![f32::NAN; d_out.len()], vec![0; d_out.len()]);
            triplets::forward(isa, shape, &inputs[0], &inputs[1], &mut out, None, scratch);
            let without = out.clone();
            triplets::forward(isa, shape, &inputs[0], &inputs[1], &mut out, Some(&mut argmax), scratch);
            assert_eq!(out, without, "recording the argmax changes nothing");
            let mut d = vec![vec![f32::NAN; d_out.len()]; 2];
            let [d_a, d_b] = &mut d[..] else { panic!("two inputs") };
            triplets::backward(shape, &argmax, d_out, d_a, d_b);
            (out, d)
        })
    }
}

#[test]
fn equals_reference() {
    for (i, nodes) in [1, 2, 3, 5, 16, 17, 33].into_iter().enumerate() {
        for features in [1, 2, 3, 8, 11, 16, 17, 40] {
            let reference = Triplets { nodes, features };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 1.0, kernel(&reference));
        }
    }
}

#[test]
fn exact_sums_equal_reference_including_ties() {
    for nodes in [2, 7, 19] {
        let reference = Triplets { nodes, features: 8 };
        compare_exactly(&format!("{reference:?}"), &reference, 1, kernel(&reference));
        same_bits_without_fma(&reference, 1, kernel(&reference));
    }
}
