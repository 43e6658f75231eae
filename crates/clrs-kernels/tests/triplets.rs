//! The largest over triplets against plain loops.

mod common;

use clrs_kernels::reference::Triplets;
use clrs_kernels::{Isa, triplets};
use common::{KernelResult, compare, compare_exactly, same_bits, with_scratch};

fn kernel(reference: &Triplets) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    let shape = (reference.nodes, reference.features);
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let (mut out, mut winners) = (vec![f32::NAN; d_out.len()], vec![0; d_out.len()]);
            triplets::forward(isa, shape, &inputs[0], &inputs[1], &mut out, None, scratch);
            let without = out.clone();
            triplets::forward(isa, shape, &inputs[0], &inputs[1], &mut out, Some(&mut winners), scratch);
            assert_eq!(out, without, "winners change nothing");
            let mut d = vec![vec![f32::NAN; d_out.len()]; 2];
            let [d_a, d_b] = &mut d[..] else { panic!("two") };
            triplets::backward(shape, &winners, d_out, d_a, d_b);
            (out, d)
        })
    }
}

#[test]
fn equal_their_twin() {
    for (i, nodes) in [1, 2, 3, 5, 16, 17, 33].into_iter().enumerate() {
        for features in [1, 2, 3, 8, 11, 16, 17, 40] {
            let reference = Triplets { nodes, features };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 1.0, kernel(&reference));
        }
    }
}

#[test]
fn on_a_grid_are_equal_ties_included() {
    for nodes in [2, 7, 19] {
        let reference = Triplets { nodes, features: 8 };
        compare_exactly(&format!("{reference:?}"), &reference, 1, kernel(&reference));
        same_bits(&reference, 1, kernel(&reference));
    }
}
