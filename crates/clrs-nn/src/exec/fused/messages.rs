//! Max-aggregated messages between nodes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use clrs::Location;
use clrs_kernels::messages::{self as kernel, Gradients, PackedWeights, Tape, WeightGradients, Weights};
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::{DeferredGradients, ForwardContext, WeightRef};
use crate::exec::parameters::Linear;
use crate::exec::weights::{FoldedWeight, add};

/// Nodes that a node receives messages from.
#[derive(Clone, Debug)]
pub(crate) enum Senders {
    All,
    Itself,
    /// Adjacency matrix, `[B, N, N]`, sender first.
    Neighbors(Rc<Vec<bool>>),
}

/// Layers of the message function: over edges, and the hidden and output layer of the MLP on top.
#[derive(Clone, Copy)]
pub(crate) struct MessageLayers {
    pub(crate) edge: Linear,
    pub(crate) hidden: Linear,
    pub(crate) output: Linear,
}

/// Weights of the message function in one forward pass, shared by all steps.
struct MessageWeights {
    packed: Arc<PackedWeights>,
    edge: WeightRef,
    hidden: WeightRef,
    hidden_bias: WeightRef,
    output: WeightRef,
    output_bias: WeightRef,
    /// Gradients of all but the output bias in the kernel's layout, summed over steps.
    gradients: RefCell<Option<WeightGradients>>,
}

impl MessageWeights {
    fn new(ctx: &ForwardContext, MessageLayers { edge, hidden, output }: MessageLayers) -> MessageWeights {
        let edge = ctx.weight_ref(FoldedWeight::Layer(edge, Location::Edge));
        let [hidden_bias, output_bias] = [hidden, output].map(|layer| ctx.weight_ref(FoldedWeight::Parameter(layer.bias)));
        let [hidden_weight, output_weight] = [hidden, output].map(|layer| ctx.weight_ref(FoldedWeight::Parameter(layer.weight)));
        let packed = ctx.weights().packed_messages(ctx.task(), hidden.weight, || {
            PackedWeights::new(&Weights {
                edge_weight: edge.matrix.values(),
                hidden_weight: hidden_weight.matrix.values(),
                hidden_bias: hidden_bias.matrix.values(),
                output_weight: output_weight.matrix.values(),
            })
        });
        let gradients = RefCell::default();
        MessageWeights { packed, edge, hidden: hidden_weight, hidden_bias, output: output_weight, output_bias, gradients }
    }

    /// Lets a closure add to the gradients.
    fn accumulate(&self, hidden: usize, channels: usize, add: impl FnOnce(&mut WeightGradients)) {
        let mut gradients = self.gradients.borrow_mut();
        add(gradients.get_or_insert_with(|| WeightGradients::new(hidden, channels)));
    }
}

impl DeferredGradients for MessageWeights {
    fn flush(&self) {
        let Some(gradients) = self.gradients.take() else { return };
        let len = |weight: &WeightRef| weight.matrix.dims().iter().product();
        self.edge.grad.add(len(&self.edge), |edge| {
            self.hidden.grad.add(len(&self.hidden), |hidden| {
                self.hidden_bias.grad.add(len(&self.hidden_bias), |bias| {
                    self.output.grad.add(len(&self.output), |output| gradients.add_to(edge, hidden, bias, output));
                });
            });
        });
    }
}

/// Elementwise maximum over the messages to every node, `[B * N, H]`:
/// `max over x of output(relu(hidden(relu(receivers[y] + senders[x] + edge(edges[x, y])))))` for node `y`.
///
/// `receivers` and `senders` are `[B * N, H]`; `edges` are raw channels, `[B, N, N, channels]`. The bias of the layer `edge` is not
/// added: it is part of `receivers`.
pub(crate) fn messages(
    ctx: &ForwardContext,
    receivers: Tensor<2>,
    senders: Tensor<2>,
    edges: Tensor<4>,
    layers: MessageLayers,
    from: Senders,
) -> Tensor<2> {
    let [samples, nodes, _, channels] = edges.dims();
    let weights = ctx.deferred(layers.hidden.weight, || MessageWeights::new(ctx, layers));
    let op = Messages { from, nodes, channels, hidden: ctx.hidden, weights };
    let shape = [samples * nodes, ctx.hidden];
    apply(ctx, op, vec![receivers.view(), senders.view(), edges.view()], shape)
}

struct Messages {
    from: Senders,
    nodes: usize,
    channels: usize,
    hidden: usize,
    weights: Rc<MessageWeights>,
}

thread_local! {
    /// Tapes that backward has consumed. They are large, and later steps reuse their memory.
    static TAPES: RefCell<Vec<Tape>> = RefCell::default();
}

impl Messages {
    fn inputs<'a>(&'a self, inputs: Inputs<'a>, sample: usize) -> kernel::Inputs<'a> {
        let [receivers, senders, edges] = inputs.values();
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        kernel::Inputs {
            receivers: &receivers[sample * rows..][..rows],
            senders: &senders[sample * rows..][..rows],
            edge_features: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            adjacency: match &self.from {
                Senders::All => kernel::Adjacency::Full,
                Senders::Itself => kernel::Adjacency::SelfLoops,
                Senders::Neighbors(mask) => kernel::Adjacency::Mask(&mask[sample * pairs..][..pairs]),
            },
        }
    }
}

impl Op for Messages {
    /// Saves the tape of every sample.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, scratch: &mut Scratch) -> Saved {
        let isa = Isa::best();
        let mut tapes = Vec::new();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            let mut tape = save.then(|| TAPES.with_borrow_mut(Vec::pop).unwrap_or_else(|| Tape::new(true)));
            kernel::forward(isa, &self.weights.packed, &self.inputs(inputs, sample), out, tape.as_mut(), scratch);
            tapes.extend(tape);
        }
        // The output bias is the same for all messages, so it is added to their maximum.
        for row in out.chunks_exact_mut(self.hidden) {
            add(row, self.weights.output_bias.matrix.values());
        }
        Box::new(tapes)
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let tapes = back.saved::<Vec<Tape>>();
        let (isa, h) = (Isa::best(), self.hidden);
        let (rows, pairs) = (self.nodes * h, self.nodes * self.nodes * self.channels);
        let zeros = |len: usize| vec![0.0; tapes.len() * len];
        let (mut d_receivers, mut d_senders) = (zeros(rows), zeros(rows));
        let mut d_edges = back.needs_grad(2).then(|| zeros(pairs));
        self.weights.accumulate(h, self.channels, |d_weights| {
            for (sample, tape) in tapes.iter().enumerate() {
                let gradients = Gradients {
                    receivers: &mut d_receivers[sample * rows..][..rows],
                    senders: &mut d_senders[sample * rows..][..rows],
                    edge_features: d_edges.as_mut().map(|d_edges| &mut d_edges[sample * pairs..][..pairs]),
                    weights: d_weights,
                };
                let d_out = &back.d_out[sample * rows..][..rows];
                kernel::backward(isa, &self.weights.packed, &self.inputs(back.inputs, sample), tape, d_out, gradients, scratch);
            }
        });
        self.weights.output_bias.grad.add(h, |sum| {
            for row in back.d_out.chunks_exact(h) {
                add(sum, row);
            }
        });
        TAPES.with_borrow_mut(|unused| unused.extend(tapes));
        for (index, gradient) in [Some(d_receivers), Some(d_senders), d_edges].into_iter().enumerate() {
            if let Some(gradient) = gradient {
                back.add(index, gradient);
            }
        }
    }
}
