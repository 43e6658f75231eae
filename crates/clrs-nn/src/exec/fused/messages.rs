//! Max-aggregated messages between nodes.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::Tensor;
use clrs::Location;
use clrs_kernels::messages::{self as kernel, Gradients, Inputs, PackedWeights, Tape, WeightGradients, Weights};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::{DeferredGradients, ForwardContext, WeightRef};
use crate::exec::parameters::Linear;
use crate::exec::weights::{FoldedWeight, add};

/// Nodes that send messages to a node.
#[derive(Clone, Debug)]
pub(crate) enum Senders {
    All,
    Itself,
    /// `[B, N, N]`, sender first.
    Neighbours(Arc<Vec<bool>>),
}

/// The layers of the message function: over edge features, and the two layers of the MLP on top.
#[derive(Clone, Copy)]
pub(crate) struct MessageLayers {
    pub(crate) edge: Linear,
    pub(crate) middle: Linear,
    pub(crate) last: Linear,
}

/// The layers of the message function in one forward pass.
struct MessageWeights {
    packed: Arc<PackedWeights>,
    edge: WeightRef,
    middle: WeightRef,
    middle_bias: WeightRef,
    last: WeightRef,
    last_bias: WeightRef,
    /// Gradients of all but the last bias in the kernel's layout, summed over steps.
    gradients: Mutex<Option<WeightGradients>>,
}

impl MessageWeights {
    fn new(ctx: &ForwardContext, MessageLayers { edge, middle, last }: MessageLayers) -> MessageWeights {
        let edge = ctx.weight_ref(FoldedWeight::Layer(edge, Location::Edge));
        let [middle_bias, last_bias] = [middle, last].map(|layer| ctx.weight_ref(FoldedWeight::Parameter(layer.bias)));
        let [middle_weight, last_weight] = [middle, last].map(|layer| ctx.weight_ref(FoldedWeight::Parameter(layer.weight)));
        let packed = ctx.weights().packed_messages(ctx.task(), middle.weight, || {
            PackedWeights::new(&Weights {
                edge_weight: edge.matrix.values(),
                hidden_weight: middle_weight.matrix.values(),
                hidden_bias: middle_bias.matrix.values(),
                output_weight: last_weight.matrix.values(),
            })
        });
        let gradients = Mutex::default();
        MessageWeights { packed, edge, middle: middle_weight, middle_bias, last: last_weight, last_bias, gradients }
    }

    /// Lets a closure add to the gradients.
    fn accumulate(&self, hidden: usize, channels: usize, add: impl FnOnce(&mut WeightGradients)) {
        let mut gradients = self.gradients.lock().unwrap_or_else(PoisonError::into_inner);
        add(gradients.get_or_insert_with(|| WeightGradients::new(hidden, channels)));
    }
}

impl DeferredGradients for MessageWeights {
    fn flush(&self) {
        let Some(gradients) = self.gradients.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let size = |weight: &WeightRef| weight.matrix.dims().iter().product();
        self.edge.grad.add(size(&self.edge), |edge| {
            self.middle.grad.add(size(&self.middle), |middle| {
                self.middle_bias.grad.add(size(&self.middle_bias), |bias| {
                    self.last.grad.add(size(&self.last), |last| gradients.add_to(edge, middle, bias, last));
                });
            });
        });
    }
}

/// Elementwise maximum over the messages to every node, `[B * N, H]`, from projected receivers and senders, `[B * N, H]` each, and raw
/// edge channels, `[B, N, N, channels]`.
pub(crate) fn messages(
    ctx: &ForwardContext,
    receivers: Tensor<2>,
    senders: Tensor<2>,
    edges: Tensor<4>,
    layers: MessageLayers,
    from: Senders,
) -> Tensor<2> {
    let [samples, nodes, _, channels] = edges.dims();
    let weights = ctx.deferred(layers.middle.weight, || MessageWeights::new(ctx, layers));
    let operation = Messages { from, samples, nodes, channels, hidden: ctx.hidden, weights };
    compute(ctx, operation, vec![input(receivers), input(senders), input(edges)])
}

struct Messages {
    from: Senders,
    samples: usize,
    nodes: usize,
    channels: usize,
    hidden: usize,
    weights: Arc<MessageWeights>,
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
            kernel::forward(isa, &self.weights.packed, &self.inputs(slices, sample), out, tape.as_mut(), scratch);
            tapes.extend(tape);
        }
        // The last bias is the same for all messages: it is added to the largest.
        for row in out.chunks_exact_mut(self.hidden) {
            add(row, self.weights.last_bias.matrix.values());
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
        self.weights.accumulate(h, self.channels, |layers| {
            for (sample, tape) in tapes.iter().enumerate() {
                let gradients = Gradients {
                    receivers: &mut d_receivers[sample * rows..][..rows],
                    senders: &mut d_senders[sample * rows..][..rows],
                    edge_features: d_edges.as_mut().map(|d_edges| &mut d_edges[sample * pairs..][..pairs]),
                    weights: layers,
                };
                let d_out = &d_out[sample * rows..][..rows];
                kernel::backward(isa, &self.weights.packed, &self.inputs(&slices, sample), tape, d_out, gradients, scratch);
            }
        });
        self.weights.last_bias.grad.add(h, |sum| {
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
