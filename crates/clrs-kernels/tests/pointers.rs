//! Node and edge pointers against their references.

mod common;

use clrs_kernels::reference::{EdgePointers, Pointers};
use clrs_kernels::{Isa, Scratch, edge_pointers, pointers};
use common::{KernelResult, compare, compare_exactly, same_bits, shapes, with_scratch};

fn nodes(isa: Isa, inputs: &[Vec<f32>], d_logits: &[f32]) -> KernelResult {
    with_scratch(|scratch| nodes_with(isa, inputs, d_logits, scratch))
}

fn nodes_with(isa: Isa, inputs: &[Vec<f32>], d_logits: &[f32], scratch: &mut Scratch) -> KernelResult {
    let given = pointers::Inputs {
        source: &inputs[0],
        target: &inputs[1],
        edge_features: &inputs[2],
        edge_weight: &inputs[3],
        output_weight: &inputs[4],
        edge_hidden: inputs.get(5).map(|edge_hidden| &edge_hidden[..]),
    };
    let mut logits = vec![f32::NAN; d_logits.len()];
    pointers::forward(isa, &given, &mut logits, scratch);
    let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
    let (first, edge_hidden) = d.split_at_mut(5);
    let [source, target, edge_features, edge_weight, output_weight] = first else { panic!("five inputs") };
    edge_weight.fill(0.0);
    output_weight.fill(0.0);
    let edge_hidden = edge_hidden.first_mut().map(|edge_hidden| &mut edge_hidden[..]);
    let gradients =
        pointers::Gradients { source, target, edge_features: Some(edge_features), edge_weight, output_weight, edge_hidden };
    pointers::backward(isa, &given, d_logits, gradients, scratch);
    (logits, d)
}

fn edges(isa: Isa, inputs: &[Vec<f32>], d_logits: &[f32]) -> KernelResult {
    with_scratch(|scratch| edges_with(isa, inputs, d_logits, scratch))
}

fn edges_with(isa: Isa, inputs: &[Vec<f32>], d_logits: &[f32], scratch: &mut Scratch) -> KernelResult {
    let given = edge_pointers::Inputs { edge_hidden: &inputs[0], target: &inputs[1], output_weight: &inputs[2] };
    let mut logits = vec![f32::NAN; d_logits.len()];
    edge_pointers::forward(isa, &given, &mut logits, scratch);
    let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
    let [edge_hidden, target, output_weight] = &mut d[..] else { panic!("three inputs") };
    output_weight.fill(0.0);
    edge_pointers::backward(isa, &given, d_logits, edge_pointers::Gradients { edge_hidden, target, output_weight }, scratch);
    (logits, d)
}

#[test]
fn node_pointers_equal_reference() {
    for (i, (n, h, c)) in shapes().enumerate() {
        let reference = Pointers { nodes: n, hidden: h, channels: c, edge_hidden: i % 2 == 1 };
        compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.7, nodes);
    }
}

#[test]
fn edge_pointers_equal_reference() {
    for (i, (n, h, _)) in shapes().enumerate() {
        let reference = EdgePointers { nodes: n, hidden: h };
        compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.7, edges);
    }
}

#[test]
fn exact_sums_equal_reference_including_ties() {
    for (n, h, c) in [(1, 1, 1), (3, 8, 2), (8, 24, 3), (13, 16, 4)] {
        let reference = Pointers { nodes: n, hidden: h, channels: c, edge_hidden: n == 3 };
        compare_exactly(&format!("{reference:?}"), &reference, 1, nodes);
        let reference = EdgePointers { nodes: n, hidden: h };
        compare_exactly(&format!("{reference:?}"), &reference, 1, edges);
    }
}

#[test]
fn bits_do_not_depend_on_the_register_width() {
    same_bits(&Pointers { nodes: 11, hidden: 40, channels: 3, edge_hidden: true }, 1, nodes);
    same_bits(&EdgePointers { nodes: 11, hidden: 40 }, 1, edges);
}

#[test]
fn edges_may_have_no_features() {
    let reference = Pointers { nodes: 5, hidden: 20, channels: 0, edge_hidden: true };
    compare("no edge features", &reference, 1, |_| 0.7, nodes);
}
