//! Attention against plain loops.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::attention::{Gradients, Inputs, Tape, backward, forward};
use clrs_kernels::reference::Attention;
use common::{Random, Result, compare, same_bits, shapes, with_scratch};

fn kernel(twin: &Attention) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> Result {
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let given = Inputs {
                nodes: twin.nodes,
                heads: twin.heads,
                asking: &inputs[0],
                asked: &inputs[1],
                edges: &inputs[2],
                edge: &inputs[3],
                values: &inputs[4],
                score: inputs.get(5).map(|score| &score[..]),
                neighbours: twin.neighbours.as_deref(),
            };
            let mut tape = Tape::default();
            let mut out = vec![f32::NAN; d_out.len()];
            forward(isa, &given, &mut out, &mut tape, scratch);
            let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
            let (first, score) = d.split_at_mut(5);
            let [asking, asked, edges, edge, values] = first else { panic!("five") };
            edge.fill(0.0);
            let score = score.first_mut().map(|score| {
                score.fill(0.0);
                &mut score[..]
            });
            let gradients = Gradients { asking, asked, edges: Some(edges), edge, score, values };
            backward(isa, &given, &tape, d_out, gradients, scratch);
            (out, d)
        })
    }
}

fn heads(h: usize) -> usize {
    if h.is_multiple_of(8) { 8 } else { 1 }
}

/// Some may ask themselves only; with `nobody`, some nobody at all.
fn neighbours(n: usize, nobody: bool) -> Vec<bool> {
    let mut random = Random::new(n as u64);
    let mut near = |x: usize, y: usize| match x % 3 {
        1 => x == y && !nobody,
        _ => x == y || random.uniform() < 0.4,
    };
    (0..n * n).map(|pair| near(pair / n, pair % n)).collect()
}

#[test]
fn with_a_number_per_head_equals_its_twin() {
    for (i, (nodes, hidden, channels)) in shapes().enumerate() {
        let heads = heads(hidden);
        for neighbours in [None, Some(neighbours(nodes, false))] {
            let twin = Attention { nodes, heads, width: heads, channels, hidden, layer: false, neighbours };
            compare(&format!("{twin:?}"), &twin, i as u64, |_| 0.8, kernel(&twin));
        }
    }
}

#[test]
fn with_a_layer_per_head_equals_its_twin() {
    for (i, (nodes, hidden, channels)) in shapes().enumerate() {
        let heads = heads(hidden);
        let neighbours = (i % 2 == 1).then(|| neighbours(nodes, false));
        let twin = Attention { nodes, heads, width: hidden, channels, hidden, layer: true, neighbours };
        compare(&format!("{twin:?}"), &twin, i as u64, |_| 0.8, kernel(&twin));
    }
}

#[test]
fn of_who_may_ask_nobody_is_shared_equally() {
    for (layer, width) in [(false, 2), (true, 24)] {
        let neighbours = Some(neighbours(7, true));
        let twin = Attention { nodes: 7, heads: 2, width, channels: 2, hidden: 24, layer, neighbours };
        compare(&format!("{twin:?}"), &twin, 5, |_| 0.8, kernel(&twin));
    }
}

#[test]
fn the_width_of_registers_does_not_show() {
    let twin = Attention { nodes: 19, heads: 2, width: 40, channels: 3, hidden: 24, layer: true, neighbours: None };
    same_bits(&twin, 1, kernel(&twin));
}

#[test]
fn values_need_no_width() {
    let with_values = Attention { nodes: 5, heads: 2, width: 6, channels: 2, hidden: 4, layer: true, neighbours: None };
    compare("some values", &with_values, 1, |_| 0.8, kernel(&with_values));
    let twin = Attention { hidden: 0, ..with_values };
    compare("no values", &twin, 1, |_| 0.8, kernel(&twin));
}

/// The product of both wraps around to that of one head.
#[test]
#[should_panic(expected = "a shape that fits into memory")]
fn more_heads_than_memory_has_are_refused() {
    let heads = (1 << (usize::BITS - 4)) + 1;
    let inputs =
        Inputs { nodes: 1, heads, asking: &[], asked: &[], edges: &[], edge: &[], score: None, values: &[], neighbours: None };
    with_scratch(|scratch| forward(Isa::best(), &inputs, &mut [], &mut Tape::default(), scratch));
}

#[test]
fn edges_need_no_channels() {
    let twin = Attention { nodes: 5, heads: 1, width: 6, channels: 0, hidden: 3, layer: true, neighbours: None };
    compare("no channels", &twin, 1, |_| 0.8, kernel(&twin));
}
