//! Messages between nodes, and the largest of them.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::Tensor;
use clrs_kernels::messages::{self as kernel, Gradients, Inputs, Tape, WeightGradients, Weights};
use clrs_kernels::{Isa, Scratch};

use super::{Back, InputGradients, Kept, Operation, Slices, compute, input};
use crate::encode::Place;
use crate::features::{Input, Pass};
use crate::parameters::Linear;
use crate::pass::Learnt;
use crate::weights::{Piece, add};

pub(crate) use clrs_kernels::messages::PackedWeights;

/// From whom a node hears.
#[derive(Clone, Debug)]
pub(crate) enum Senders {
    All,
    Itself,
    /// `[B, N, N]`, sender first.
    Neighbours(Arc<Vec<bool>>),
}

/// The layers of messages.
#[derive(Clone, Copy)]
pub(crate) struct Layers {
    pub(crate) edge: Linear,
    pub(crate) middle: Linear,
    pub(crate) last: Linear,
}

/// The layers of messages in one pass.
pub(crate) struct LearntLayers {
    prepared: Arc<PackedWeights>,
    edge: Learnt,
    middle: Learnt,
    middle_bias: Learnt,
    last: Learnt,
    last_bias: Learnt,
    /// Gradients of all but the last bias, as the kernel lays them out, until those of all steps are there.
    found: Mutex<Option<WeightGradients>>,
}

impl LearntLayers {
    pub(crate) fn new(pass: &Pass, Layers { edge, middle, last }: Layers) -> LearntLayers {
        let edge = pass.learnt(Piece::Layer(edge, Place::Edges));
        let [middle_bias, last_bias] = [middle, last].map(|layer| pass.learnt(Piece::Whole(layer.bias)));
        let [middle_weight, last_weight] = [middle, last].map(|layer| pass.learnt(Piece::Whole(layer.weight)));
        let prepared = pass.weights.messages(pass.task, middle.weight, || {
            PackedWeights::new(&Weights {
                edge_weight: edge.matrix.values(),
                hidden_weight: middle_weight.matrix.values(),
                hidden_bias: middle_bias.matrix.values(),
                output_weight: last_weight.matrix.values(),
            })
        });
        LearntLayers { prepared, edge, middle: middle_weight, middle_bias, last: last_weight, last_bias, found: Mutex::default() }
    }

    /// Adds to the gradients.
    fn find(&self, hidden: usize, channels: usize, to: impl FnOnce(&mut WeightGradients)) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        to(found.get_or_insert_with(|| WeightGradients::new(hidden, channels)));
    }

    /// Hands the gradients on to their pieces, where all others are.
    pub(crate) fn hand_on(&self) {
        let Some(found) = self.found.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let size = |learnt: &Learnt| learnt.matrix.dims().iter().product();
        self.edge.sum.add(size(&self.edge), |edge| {
            self.middle.sum.add(size(&self.middle), |middle| {
                self.middle_bias.sum.add(size(&self.middle_bias), |bias| {
                    self.last.sum.add(size(&self.last), |last| found.add_to(edge, middle, bias, last));
                });
            });
        });
    }
}

/// The largest message to every node, `[B * N, H]`, of receivers and senders, `[B * N, H]` too.
pub(crate) fn messages(
    pass: &Pass,
    data: &Input<'_>,
    receivers: Tensor<2>,
    senders: Tensor<2>,
    layers: Layers,
    from: Senders,
) -> Tensor<2> {
    let [samples, nodes, _, channels] = data.edges.raw.dims();
    let operation = Messages { from, samples, nodes, channels, hidden: pass.hidden, layers: pass.messages(layers) };
    compute(pass, operation, vec![input(receivers), input(senders), input(data.edges.raw.clone())])
}

struct Messages {
    from: Senders,
    samples: usize,
    nodes: usize,
    channels: usize,
    hidden: usize,
    layers: Arc<LearntLayers>,
}

thread_local! {
    /// Tapes that were gone back over: large, and soon wanted again.
    static TAPES: RefCell<Vec<Tape>> = RefCell::default();
}

impl Messages {
    fn inputs<'a>(&'a self, &[receivers, senders, edges, ..]: &Slices<'a>, sample: usize) -> Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        Inputs {
            receivers: &receivers[sample * rows..][..rows],
            senders: &senders[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            adjacency: match &self.from {
                Senders::All => kernel::Adjacency::Full,
                Senders::Itself => kernel::Adjacency::SelfLoops,
                Senders::Neighbours(of) => kernel::Adjacency::Mask(&of[sample * pairs..][..pairs]),
            },
        }
    }
}

impl Operation for Messages {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples * self.nodes, self.hidden]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> Kept {
        let isa = Isa::best();
        let mut tapes = Vec::new();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            let mut tape = keep.then(|| TAPES.with_borrow_mut(Vec::pop).unwrap_or_else(|| Tape::new(true)));
            kernel::forward(isa, &self.layers.prepared, &self.inputs(slices, sample), out, tape.as_mut(), scratch);
            tapes.extend(tape);
        }
        // The last bias is the same for all messages: it is added to the largest.
        for row in out.chunks_exact_mut(self.hidden) {
            add(row, self.layers.last_bias.matrix.values());
        }
        Arc::new(tapes)
    }

    fn backward(&self, back: Back<'_>, scratch: &mut Scratch) -> InputGradients {
        let tapes = back.kept::<Vec<Tape>>();
        let Back { inputs: slices, d_out, wanted, .. } = back;
        let (isa, h) = (Isa::best(), self.hidden);
        let (rows, pairs) = (self.nodes * h, self.nodes * self.nodes * self.channels);
        let zeros = |count: usize| vec![0.0; count];
        let (mut d_receivers, mut d_senders) = (zeros(self.samples * rows), zeros(self.samples * rows));
        let mut d_edges = wanted[2].then(|| zeros(self.samples * pairs));
        self.layers.find(h, self.channels, |layers| {
            for (sample, tape) in tapes.iter().enumerate() {
                let gradients = Gradients {
                    receivers: &mut d_receivers[sample * rows..][..rows],
                    senders: &mut d_senders[sample * rows..][..rows],
                    edge_features: d_edges.as_mut().map(|d_edges| &mut d_edges[sample * pairs..][..pairs]),
                    weights: layers,
                };
                let d_out = &d_out[sample * rows..][..rows];
                kernel::backward(isa, &self.layers.prepared, &self.inputs(&slices, sample), tape, d_out, gradients, scratch);
            }
        });
        self.layers.last_bias.sum.add(h, |sum| {
            for row in d_out.chunks_exact(h) {
                add(sum, row);
            }
        });
        drop(back.kept);
        if let Some(tapes) = Arc::into_inner(tapes) {
            TAPES.with_borrow_mut(|free| free.extend(tapes));
        }
        [Some(d_receivers), Some(d_senders), d_edges, None, None, None, None]
    }
}
