//! Pointers of nodes and of edges against plain loops.

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
        edge_hidden: inputs.get(5).map(|state| &state[..]),
    };
    let mut logits = vec![f32::NAN; d_logits.len()];
    pointers::forward(isa, &given, &mut logits, scratch);
    let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
    let (first, state) = d.split_at_mut(5);
    let [from, to, edges, edge, last] = first else { panic!("five") };
    edge.fill(0.0);
    last.fill(0.0);
    let state = state.first_mut().map(|state| &mut state[..]);
    let gradients = pointers::Gradients {
        source: from,
        target: to,
        edge_features: Some(edges),
        edge_weight: edge,
        output_weight: last,
        edge_hidden: state,
    };
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
    let [pairs, to, last] = &mut d[..] else { panic!("three") };
    last.fill(0.0);
    edge_pointers::backward(
        isa,
        &given,
        d_logits,
        edge_pointers::Gradients { edge_hidden: pairs, target: to, output_weight: last },
        scratch,
    );
    (logits, d)
}

#[test]
fn of_nodes_equal_their_twin() {
    for (i, (n, h, c)) in shapes().enumerate() {
        let reference = Pointers { nodes: n, hidden: h, channels: c, edge_hidden: i % 2 == 1 };
        compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.7, nodes);
    }
}

#[test]
fn of_edges_equal_their_twin() {
    for (i, (n, h, _)) in shapes().enumerate() {
        let reference = EdgePointers { nodes: n, hidden: h };
        compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.7, edges);
    }
}

#[test]
fn on_a_grid_are_equal_ties_included() {
    for (n, h, c) in [(1, 1, 1), (3, 8, 2), (8, 24, 3), (13, 16, 4)] {
        let reference = Pointers { nodes: n, hidden: h, channels: c, edge_hidden: n == 3 };
        compare_exactly(&format!("{reference:?}"), &reference, 1, nodes);
        let reference = EdgePointers { nodes: n, hidden: h };
        compare_exactly(&format!("{reference:?}"), &reference, 1, edges);
    }
}

#[test]
fn the_width_of_registers_does_not_show() {
    same_bits(&Pointers { nodes: 11, hidden: 40, channels: 3, edge_hidden: true }, 1, nodes);
    same_bits(&EdgePointers { nodes: 11, hidden: 40 }, 1, edges);
}

#[test]
fn edges_need_no_channels() {
    let reference = Pointers { nodes: 5, hidden: 20, channels: 0, edge_hidden: true };
    compare("no channels", &reference, 1, |_| 0.7, nodes);
}
