//! Attention against its reference.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::attention::{Gradients, Inputs, Tape, backward, forward};
use clrs_kernels::reference::Attention;
use common::{KernelResult, Random, compare, same_bits, shapes, with_scratch};

fn kernel(reference: &Attention) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let given = Inputs {
                nodes: reference.nodes,
                heads: reference.heads,
                query: &inputs[0],
                key: &inputs[1],
                edge_features: &inputs[2],
                edge_weight: &inputs[3],
                value: &inputs[4],
                score_weight: inputs.get(5).map(|score| &score[..]),
                adjacency: reference.adjacency.as_deref(),
            };
            let mut tape = Tape::default();
            let mut out = vec![f32::NAN; d_out.len()];
            forward(isa, &given, &mut out, &mut tape, scratch);
            let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
            let (first, score) = d.split_at_mut(5);
            let [query, key, edge_features, edge_weight, value] = first else { panic!("five inputs") };
            edge_weight.fill(0.0);
            let score = score.first_mut().map(|score| {
                score.fill(0.0);
                &mut score[..]
            });
            let gradients = Gradients { query, key, edge_features: Some(edge_features), edge_weight, score_weight: score, value };
            backward(isa, &given, &tape, d_out, gradients, scratch);
            (out, d)
        })
    }
}

fn heads(h: usize) -> usize {
    if h.is_multiple_of(8) { 8 } else { 1 }
}

/// Every third node has itself as its only neighbor, or with `isolated`, none at all.
fn adjacency(n: usize, isolated: bool) -> Vec<bool> {
    let mut random = Random::new(n as u64);
    let mut is_neighbor = |x: usize, y: usize| match x % 3 {
        1 => x == y && !isolated,
        _ => x == y || random.uniform() < 0.4,
    };
    (0..n * n).map(|pair| is_neighbor(pair / n, pair % n)).collect()
}

#[test]
fn gat_equals_reference() {
    for (i, (nodes, hidden, channels)) in shapes().enumerate() {
        let heads = heads(hidden);
        for adjacency in [None, Some(adjacency(nodes, false))] {
            let reference = Attention { nodes, heads, width: heads, channels, hidden, has_score_weight: false, adjacency };
            compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.8, kernel(&reference));
        }
    }
}

#[test]
fn gatv2_equals_reference() {
    for (i, (nodes, hidden, channels)) in shapes().enumerate() {
        let heads = heads(hidden);
        let adjacency = (i % 2 == 1).then(|| adjacency(nodes, false));
        let reference = Attention { nodes, heads, width: hidden, channels, hidden, has_score_weight: true, adjacency };
        compare(&format!("{reference:?}"), &reference, i as u64, |_| 0.8, kernel(&reference));
    }
}

#[test]
fn query_without_neighbors_attends_to_all_nodes_equally() {
    for (has_score_weight, width) in [(false, 2), (true, 24)] {
        let adjacency = Some(adjacency(7, true));
        let reference = Attention { nodes: 7, heads: 2, width, channels: 2, hidden: 24, has_score_weight, adjacency };
        compare(&format!("{reference:?}"), &reference, 5, |_| 0.8, kernel(&reference));
    }
}

#[test]
fn bits_do_not_depend_on_the_register_width() {
    let reference =
        Attention { nodes: 19, heads: 2, width: 40, channels: 3, hidden: 24, has_score_weight: true, adjacency: None };
    same_bits(&reference, 1, kernel(&reference));
}

#[test]
fn values_may_have_width_zero() {
    let with_values = Attention { nodes: 5, heads: 2, width: 6, channels: 2, hidden: 4, has_score_weight: true, adjacency: None };
    compare("some values", &with_values, 1, |_| 0.8, kernel(&with_values));
    let reference = Attention { hidden: 0, ..with_values };
    compare("no values", &reference, 1, |_| 0.8, kernel(&reference));
}

/// The number of heads times the number of nodes wraps around to that of one head.
#[test]
#[should_panic(expected = "a shape that fits into memory")]
fn shape_that_overflows_panics() {
    let heads = (1 << (usize::BITS - 4)) + 1;
    let inputs = Inputs {
        nodes: 1,
        heads,
        query: &[],
        key: &[],
        edge_features: &[],
        edge_weight: &[],
        score_weight: None,
        value: &[],
        adjacency: None,
    };
    with_scratch(|scratch| forward(Isa::best(), &inputs, &mut [], &mut Tape::default(), scratch));
}

#[test]
fn edges_may_have_no_features() {
    let reference = Attention { nodes: 5, heads: 1, width: 6, channels: 0, hidden: 3, has_score_weight: true, adjacency: None };
    compare("no edge features", &reference, 1, |_| 0.8, kernel(&reference));
}
