//! Messages against plain loops.

mod common;

use std::cell::Cell;

use clrs_kernels::messages::{Adjacency, Gradients, Inputs, PackedWeights, Tape, WeightGradients, Weights, backward, forward};
use clrs_kernels::reference::Messages;
use clrs_kernels::{Isa, Scratch};
use common::{KernelResult, Random, compare, compare_exactly, same_bits, shapes, with_scratch};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    All,
    Itself,
    Neighbours,
}

fn reference(kind: Kind, (nodes, hidden, channels): (usize, usize, usize)) -> Messages {
    let mut random = Random::new(nodes as u64);
    let mut heard = |x: usize, y: usize| match kind {
        Kind::All => true,
        Kind::Itself => x == y,
        // Some nodes hear themselves only.
        Kind::Neighbours => x == y || y % 3 != 1 && random.uniform() < 0.4,
    };
    let heard = (0..nodes * nodes).map(|pair| heard(pair / nodes, pair % nodes)).collect();
    Messages { nodes, hidden, channels, adjacency: heard, masked: kind == Kind::Neighbours }
}

thread_local! {
    /// Used again and again, as a network does: one without hidden rows, one with.
    static TAPES: [Cell<Tape>; 2] = [false, true].map(|keep| Cell::new(Tape::new(keep)));
}

fn kernel(reference: &Messages, kind: Kind, keep: bool) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        with_scratch(|scratch| {
            let [receivers, senders, edges, edge, middle, hidden_bias, last] = inputs else { panic!("seven inputs") };
            let from = match kind {
                Kind::All => Adjacency::Full,
                Kind::Itself => Adjacency::SelfLoops,
                Kind::Neighbours => Adjacency::Mask(&reference.adjacency),
            };
            let prepared =
                PackedWeights::new(&Weights { edge_weight: edge, hidden_weight: middle, hidden_bias, output_weight: last });
            let given = Inputs { receivers, senders, edge_features: edges, adjacency: from };
            let mut out = vec![f32::NAN; receivers.len()];
            let mut without = out.clone();
            let mut tape = TAPES.with(|tapes| tapes[usize::from(keep)].take());
            forward(isa, &prepared, &given, &mut without, None, scratch);
            forward(isa, &prepared, &given, &mut out, Some(&mut tape), scratch);
            assert_eq!(out, without, "a tape changes nothing");
            let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
            let [d_receivers, d_senders, d_edges, d_edge, d_middle, d_bias, d_last] = &mut d[..] else { panic!("seven") };
            let mut layers = WeightGradients::new(reference.hidden, reference.channels);
            let gradients =
                Gradients { receivers: d_receivers, senders: d_senders, edge_features: Some(d_edges), weights: &mut layers };
            backward(isa, &prepared, &given, &tape, d_out, gradients, scratch);
            for d in [&mut *d_edge, d_middle, d_bias, d_last] {
                d.fill(0.0);
            }
            layers.add_to(d_edge, d_middle, d_bias, d_last);
            TAPES.with(|tapes| tapes[usize::from(keep)].set(tape));
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
fn of_all_nodes_equal_their_twin() {
    all_shapes(Kind::All);
}

#[test]
fn of_neighbours_equal_their_twin() {
    all_shapes(Kind::Neighbours);
}

#[test]
fn of_the_node_itself_equal_their_twin() {
    all_shapes(Kind::Itself);
}

#[test]
fn on_a_grid_are_equal_ties_included() {
    for (i, kind) in [Kind::All, Kind::Itself, Kind::Neighbours].into_iter().enumerate() {
        for shape in [(1, 1, 1), (2, 8, 3), (5, 8, 2), (12, 4, 1), (17, 8, 2)] {
            let reference = reference(kind, shape);
            compare_exactly(&format!("{kind:?} {shape:?}"), &reference, i as u64, kernel(&reference, kind, i % 2 == 0));
        }
    }
}

#[test]
fn tiles_that_are_as_sparse_have_the_same_bits_kept_or_computed_anew_and_on_registers_of_any_width() {
    let reference = reference(Kind::All, (12, 40, 3));
    same_bits(&reference, 1, kernel(&reference, Kind::All, true));
    let mut random = Random::new(3);
    let inputs: Vec<Vec<f32>> = {
        use clrs_kernels::reference::ReferenceOp;
        reference.inputs().iter().map(|&(_, len)| common::narrow(&random.values(len, 0.5))).collect()
    };
    let d_out = common::narrow(&random.values(12 * 40, 1.0));
    let isa = Isa::best();
    let [kept, anew] = [true, false].map(|keep| kernel(&reference, Kind::All, keep)(isa, &inputs, &d_out));
    assert!(kept == anew);
}

#[test]
fn a_tile_may_end_inside_a_receiver() {
    for (kind, keep) in [(Kind::All, true), (Kind::All, false), (Kind::Neighbours, true)] {
        let reference = reference(kind, (150, 8, 2));
        compare("150 nodes", &reference, 7, scale(&reference), kernel(&reference, kind, keep));
    }
}

#[test]
fn more_channels_than_hidden_numbers() {
    let reference = reference(Kind::All, (6, 3, 70));
    compare("70 channels", &reference, 7, |_| 0.3, kernel(&reference, Kind::All, true));
}

/// One hidden number: the message from `x` is `relu(relu(s[x])) * last`.
fn small(senders: &[f32], last: f32, heard: &[bool]) -> (Vec<f32>, Vec<Option<usize>>) {
    let n = senders.len();
    let prepared =
        PackedWeights::new(&Weights { edge_weight: &[0.0], hidden_weight: &[1.0], hidden_bias: &[0.0], output_weight: &[last] });
    let (receivers, edges) = (vec![0.0; n], vec![0.0; n * n]);
    let inputs = Inputs { receivers: &receivers, senders, edge_features: &edges, adjacency: Adjacency::Mask(heard) };
    let mut tape = Tape::new(true);
    let mut out = vec![0.0; n];
    forward(Isa::best(), &prepared, &inputs, &mut out, Some(&mut tape), &mut Scratch::default());
    (out, (0..n).map(|y| tape.argmax(y, 0)).collect())
}

#[test]
fn silence_wins_where_nobody_speaks_or_all_is_less() {
    let heard = [true, false, false, false];
    assert_eq!(small(&[2.0, 3.0], 1.0, &heard), (vec![2.0, -1e6], vec![Some(0), None]));
    assert_eq!(small(&[2.0, 3.0], -1e6, &heard), (vec![-1e6, -1e6], vec![None, None]));
    // Where all speak, there is no silence.
    assert_eq!(small(&[2.0, 3.0], -1e6, &[true; 4]), (vec![-2e6, -2e6], vec![Some(0), Some(0)]));
}

#[test]
fn the_first_of_equal_messages_wins() {
    assert_eq!(small(&[1.0, 2.0, 2.0], 1.0, &[true; 9]), (vec![2.0; 3], vec![Some(1); 3]));
}

#[test]
fn nan_wins_only_if_it_is_first() {
    let (out, winners) = small(&[f32::NAN, 2.0], 1.0, &[true; 4]);
    assert!(out.iter().all(|x| x.is_nan()) && winners == [Some(0); 2]);
    assert_eq!(small(&[2.0, f32::NAN], 1.0, &[true; 4]), (vec![2.0; 2], vec![Some(0); 2]));
}
