//! Elementwise functions and masked logits against their references.
//!
//! These kernels take no instruction set; `compare` calls them once for each that the machine has.

mod common;

use clrs_kernels::elementwise::{Unary, add, affine, multiply};
use clrs_kernels::reference::{Elementwise, MaskLogits, Product};
use clrs_kernels::{Isa, mask_logits};
use common::{KernelResult, compare};

#[test]
fn functions_of_one_array_equal_their_references() {
    for (seed, function) in (0..).zip([Unary::Relu, Unary::Sigmoid, Unary::Tanh, Unary::Exp]) {
        let reference = Elementwise { function, len: 37 };
        compare(
            &format!("{function:?}"),
            &reference,
            seed,
            |_| 1.0,
            |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| {
                let (mut y, mut d) = (inputs[0].clone(), d_out.to_vec());
                function.forward(&mut y);
                function.backward(&y, &mut d);
                (y, vec![d])
            },
        );
    }
}

#[test]
fn the_gradient_of_a_product_is_that_of_the_result_times_the_other_factor() {
    compare(
        "product",
        &Product { len: 21 },
        0,
        |_| 1.0,
        |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| -> KernelResult {
            let times = |x: &[f32], factor: &[f32]| {
                let mut product = x.to_vec();
                multiply(&mut product, factor);
                product
            };
            (times(&inputs[0], &inputs[1]), vec![times(d_out, &inputs[1]), times(d_out, &inputs[0])])
        },
    );
}

#[test]
fn sums_and_affine_functions_are_elementwise() {
    let mut x = [1.0, 2.0];
    add(&mut x, &[10.0, 20.0]);
    affine(&mut x, -2.0, 1.0);
    assert_eq!(x, [-21.0, -43.0]);
}

#[test]
fn masked_logits_equal_their_reference() {
    for (seed, len) in (0..).zip([1, 2, 9, 36, 49]) {
        for masked in 0..3 {
            let reference = MaskLogits { allowed: (0..len).map(|i| (i + masked) % 3 != 0).collect() };
            let name = format!("{len} logits, {masked}");
            compare(
                &name,
                &reference,
                seed,
                |_| 1.0,
                |_: Isa, inputs: &[Vec<f32>], d_out: &[f32]| {
                    let (mut out, mut d) = (inputs[0].clone(), d_out.to_vec());
                    mask_logits::forward(&mut out, &reference.allowed);
                    mask_logits::backward(&inputs[0], &reference.allowed, &mut d);
                    (out, vec![d])
                },
            );
        }
    }
}

#[test]
fn a_minimum_above_0_has_no_gradient_from_masked_logits() {
    let mut d = [1.0, 1.0];
    mask_logits::backward(&[3.0, 5.0], &[true, false], &mut d);
    assert_eq!(d, [1.0, 0.0]);
}
