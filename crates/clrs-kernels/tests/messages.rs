//! Messages against their reference.

mod common;

use std::cell::Cell;

use clrs_kernels::messages::{Adjacency, Gradients, Inputs, PackedWeights, Tape, WeightGradients, Weights, backward, forward};
use clrs_kernels::reference::Messages;
use clrs_kernels::{Isa, Scratch};
use common::{KernelResult, Random, compare, compare_exactly, same_bits, shapes, with_scratch};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Full,
    SelfLoops,
    Masked,
}

fn reference(kind: Kind, (nodes, hidden, channels): (usize, usize, usize)) -> Messages {
    let mut random = Random::new(nodes as u64);
    let mut adjacency = |x: usize, y: usize| match kind {
        Kind::Full => true,
        Kind::SelfLoops => x == y,
        // Every third node receives from itself only.
        Kind::Masked => x == y || y % 3 != 1 && random.uniform() < 0.4,
    };
    let adjacency = (0..nodes * nodes).map(|pair| adjacency(pair / nodes, pair % nodes)).collect();
    Messages { nodes, hidden, channels, adjacency, masked: kind == Kind::Masked }
}

thread_local! {
    /// Reused by all tests of a thread, as a network does: one tape without hidden rows, one with.
    static TAPES: [Cell<Tape>; 2] = [false, true].map(|save_hidden| Cell::new(Tape::new(save_hidden)));
}

fn kernel(reference: &Messages, kind: Kind, save_hidden: bool) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let [receivers, senders, edges, edge, middle, hidden_bias, last] = inputs else { panic!("seven inputs") };
            let from = match kind {
                Kind::Full => Adjacency::Full,
                Kind::SelfLoops => Adjacency::SelfLoops,
                Kind::Masked => Adjacency::Mask(&reference.adjacency),
            };
            let prepared =
                PackedWeights::new(&Weights { edge_weight: edge, hidden_weight: middle, hidden_bias, output_weight: last });
            let given = Inputs { receivers, senders, edge_features: edges, adjacency: from };
            let mut out = vec![f32::NAN; receivers.len()];
            let mut without = out.clone();
            let mut tape = TAPES.with(|tapes| tapes[usize::from(save_hidden)].take());
            forward(isa, &prepared, &given, &mut without, None, scratch);
            forward(isa, &prepared, &given, &mut out, Some(&mut tape), scratch);
            assert_eq!(out, without, "recording a tape changes nothing");
            let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
            let [d_receivers, d_senders, d_edges, d_edge, d_middle, d_bias, d_last] = &mut d[..] else { panic!("seven inputs") };
            let mut layers = WeightGradients::new(reference.hidden, reference.channels);
            let gradients =
                Gradients { receivers: d_receivers, senders: d_senders, edge_features: Some(d_edges), weights: &mut layers };
            backward(isa, &prepared, &given, &tape, d_out, gradients, scratch);
            for d in [&mut *d_edge, d_middle, d_bias, d_last] {
                d.fill(0.0);
            }
            layers.add_to(d_edge, d_middle, d_bias, d_last);
            TAPES.with(|tapes| tapes[usize::from(save_hidden)].set(tape));
            (out, d)
        })
    }
}

fn scale(reference: &Messages) -> impl Fn(&str) -> f64 {
    let width = 1.5 / (reference.hidden as f64).sqrt();
    move |name| if ["hidden_weight", "output_weight"].contains(&name) { width } else { 0.7 }
}

fn all_shapes(kind: Kind) {
    for (i, shape) in shapes().enumerate() {
        let reference = reference(kind, shape);
        let what = format!("{kind:?} {shape:?}");
        compare(&what, &reference, i as u64, scale(&reference), kernel(&reference, kind, i % 2 == 0));
    }
}

#[test]
fn full_adjacency_equals_reference() {
    all_shapes(Kind::Full);
}

#[test]
fn masked_adjacency_equals_reference() {
    all_shapes(Kind::Masked);
}

#[test]
fn self_loops_equal_reference() {
    all_shapes(Kind::SelfLoops);
}

#[test]
fn exact_sums_equal_reference_including_ties() {
    for (i, kind) in [Kind::Full, Kind::SelfLoops, Kind::Masked].into_iter().enumerate() {
        for shape in [(1, 1, 1), (2, 8, 3), (5, 8, 2), (12, 4, 1), (17, 8, 2)] {
            let reference = reference(kind, shape);
            compare_exactly(&format!("{kind:?} {shape:?}"), &reference, i as u64, kernel(&reference, kind, i % 2 == 0));
        }
    }
}

#[test]
fn bits_do_not_depend_on_saving_hidden_rows_or_the_register_width() {
    let reference = reference(Kind::Full, (12, 40, 3));
    same_bits(&reference, 1, kernel(&reference, Kind::Full, true));
    let mut random = Random::new(3);
    let inputs: Vec<Vec<f32>> = {
        use clrs_kernels::reference::ReferenceOp;
        reference.inputs().iter().map(|&(_, len)| common::narrow(&random.values(len, 0.5))).collect()
    };
    let d_out = common::narrow(&random.values(12 * 40, 1.0));
    let isa = Isa::best();
    let [saved, recomputed] = [true, false].map(|save_hidden| kernel(&reference, Kind::Full, save_hidden)(isa, &inputs, &d_out));
    assert!(saved == recomputed);
}

#[test]
fn receivers_that_span_tiles_equal_reference() {
    for (kind, save_hidden) in [(Kind::Full, true), (Kind::Full, false), (Kind::Masked, true)] {
        let reference = reference(kind, (150, 8, 2));
        compare("150 nodes", &reference, 7, scale(&reference), kernel(&reference, kind, save_hidden));
    }
}

#[test]
fn more_edge_features_than_hidden_elements_equal_reference() {
    let reference = reference(Kind::Full, (6, 3, 70));
    compare("70 edge features", &reference, 7, |_| 0.3, kernel(&reference, Kind::Full, true));
}

/// One hidden element: the message from `x` is `relu(relu(s[x])) * output_weight`.
fn small(senders: &[f32], output_weight: f32, adjacency: &[bool]) -> (Vec<f32>, Vec<Option<usize>>) {
    let n = senders.len();
    let prepared = PackedWeights::new(&Weights {
        edge_weight: &[0.0],
        hidden_weight: &[1.0],
        hidden_bias: &[0.0],
        output_weight: &[output_weight],
    });
    let (receivers, edges) = (vec![0.0; n], vec![0.0; n * n]);
    let inputs = Inputs { receivers: &receivers, senders, edge_features: &edges, adjacency: Adjacency::Mask(adjacency) };
    let mut tape = Tape::new(true);
    let mut out = vec![0.0; n];
    forward(Isa::best(), &prepared, &inputs, &mut out, Some(&mut tape), &mut Scratch::default());
    (out, (0..n).map(|y| tape.argmax(y, 0)).collect())
}

#[test]
fn mask_value_is_the_maximum_where_all_messages_are_masked_or_less() {
    let adjacency = [true, false, false, false];
    assert_eq!(small(&[2.0, 3.0], 1.0, &adjacency), (vec![2.0, -1e6], vec![Some(0), None]));
    assert_eq!(small(&[2.0, 3.0], -1e6, &adjacency), (vec![-1e6, -1e6], vec![None, None]));
    // Without masked messages there is no mask value.
    assert_eq!(small(&[2.0, 3.0], -1e6, &[true; 4]), (vec![-2e6, -2e6], vec![Some(0), Some(0)]));
}

#[test]
fn argmax_is_the_first_of_equal_messages() {
    assert_eq!(small(&[1.0, 2.0, 2.0], 1.0, &[true; 9]), (vec![2.0; 3], vec![Some(1); 3]));
}

#[test]
fn nan_counts_only_in_the_first_message() {
    let (out, argmax) = small(&[f32::NAN, 2.0], 1.0, &[true; 4]);
    assert!(out.iter().all(|x| x.is_nan()) && argmax == [Some(0); 2]);
    assert_eq!(small(&[2.0, f32::NAN], 1.0, &[true; 4]), (vec![2.0; 2], vec![Some(0); 2]));
}
