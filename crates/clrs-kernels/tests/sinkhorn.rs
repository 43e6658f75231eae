//! The Sinkhorn operator against its reference.

mod common;

use clrs_kernels::reference::Sinkhorn;
use clrs_kernels::{Isa, sinkhorn};
use common::{KernelResult, compare, same_bits};

fn kernel(reference: &Sinkhorn) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        let (mut out, mut d) = (inputs[0].clone(), d_out.to_vec());
        let mut tape = sinkhorn::Tape::default();
        sinkhorn::forward(isa, reference.nodes, &mut out, reference.iterations, Some(&mut tape));
        let mut without = inputs[0].clone();
        sinkhorn::forward(isa, reference.nodes, &mut without, reference.iterations, None);
        assert_eq!(out, without, "recording a tape changes nothing");
        out.iter_mut().step_by(reference.nodes + 1).for_each(|x| *x = 0.0);
        d.iter_mut().step_by(reference.nodes + 1).for_each(|d| *d = 0.0);
        sinkhorn::backward(isa, &tape, &mut d);
        (out, vec![d])
    }
}

#[test]
fn equals_reference() {
    for (i, nodes) in [2, 3, 5, 16, 17, 33].into_iter().enumerate() {
        for iterations in [1, 10, 25] {
            let reference = Sinkhorn { nodes, iterations };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.3, kernel(&reference));
        }
    }
    let reference = Sinkhorn { nodes: 19, iterations: 4 };
    same_bits(&reference, 1, kernel(&reference));
}
