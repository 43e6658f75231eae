//! Messages between nodes, and the largest of them.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::Tensor;
use clrs_kernels::messages::{self as kernel, Gradients, Inputs, Tape, WeightGradients, Weights};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, InputGradients, SavedState, FusedOp, Slices, compute, input};
use crate::model::encoders::Place;
use crate::exec::features::{Input, ForwardContext};
use crate::exec::parameters::Linear;
use crate::exec::context::WeightRef;
use crate::exec::weights::{FoldedWeight, add};

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
pub(crate) struct MessageLayerRefs {
    prepared: Arc<PackedWeights>,
    edge: WeightRef,
    middle: WeightRef,
    middle_bias: WeightRef,
    last: WeightRef,
    last_bias: WeightRef,
    /// Gradients of all but the last bias, as the kernel lays them out, until those of all steps are there.
    found: Mutex<Option<WeightGradients>>,
}

impl MessageLayerRefs {
    pub(crate) fn new(pass: &ForwardContext, Layers { edge, middle, last }: Layers) -> MessageLayerRefs {
        let edge = pass.weight_ref(FoldedWeight::Layer(edge, Place::Edges));
        let [middle_bias, last_bias] = [middle, last].map(|layer| pass.weight_ref(FoldedWeight::Whole(layer.bias)));
        let [middle_weight, last_weight] = [middle, last].map(|layer| pass.weight_ref(FoldedWeight::Whole(layer.weight)));
        let prepared = pass.weights.messages(pass.task, middle.weight, || {
            PackedWeights::new(&Weights {
                edge_weight: edge.matrix.values(),
                hidden_weight: middle_weight.matrix.values(),
                hidden_bias: middle_bias.matrix.values(),
                output_weight: last_weight.matrix.values(),
            })
        });
        MessageLayerRefs { prepared, edge, middle: middle_weight, middle_bias, last: last_weight, last_bias, found: Mutex::default() }
    }

    /// Adds to the gradients.
    fn find(&self, hidden: usize, channels: usize, to: impl FnOnce(&mut WeightGradients)) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        to(found.get_or_insert_with(|| WeightGradients::new(hidden, channels)));
    }

    /// Hands the gradients on to their pieces, where all others are.
    pub(crate) fn hand_on(&self) {
        let Some(found) = self.found.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let size = |weight_ref: &WeightRef| weight_ref.matrix.dims().iter().product();
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
    pass: &ForwardContext,
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
    layers: Arc<MessageLayerRefs>,
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

impl FusedOp for Messages {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples * self.nodes, self.hidden]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> SavedState {
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

    fn backward(&self, back: BackwardInput<'_>, scratch: &mut Scratch) -> InputGradients {
        let tapes = back.kept::<Vec<Tape>>();
        let BackwardInput { inputs: slices, d_out, wanted, .. } = back;
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
