//! Messages between nodes, and the largest of them.

use std::any::Any;
use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::messages::{self as kernel, Gradients, Inputs, LayerGradients, Tape, Weights};
use clrs_kernels::{Isa, Scratch};

use super::{InputGradients, Kept, Operation, Slices, compute, input};

pub(crate) use clrs_kernels::messages::Prepared;

/// From whom a node hears.
#[derive(Clone, Debug)]
pub(crate) enum Senders {
    All,
    Itself,
    /// `[B, N, N]`, sender first.
    Neighbours(Arc<Vec<bool>>),
}

/// The layers of messages.
pub(crate) struct Layers {
    /// `[channels, H]`
    pub(crate) edge: Tensor<2>,
    /// `[H, H]`
    pub(crate) middle: Tensor<2>,
    /// `[1, H]`
    pub(crate) middle_bias: Tensor<2>,
    /// `[H, H]`
    pub(crate) last: Tensor<2>,
}

impl Layers {
    /// As the kernels read them.
    pub(crate) fn prepare(&self) -> Prepared {
        let values = |tensor: &Tensor<2>| -> Vec<f32> { tensor.clone().detach().try_into_vec_as().expect("f32") };
        let (edge, middle) = (values(&self.edge), values(&self.middle));
        let (middle_bias, last) = (values(&self.middle_bias), values(&self.last));
        Prepared::new(&Weights { edge: &edge, middle: &middle, middle_bias: &middle_bias, last: &last })
    }
}

/// The largest message to every node, `[B, N, H]`, of receivers and senders `[B, N, H]` and raw channels `[B, N, N, channels]`.
pub(crate) fn messages(
    receivers: Tensor<3>,
    senders: Tensor<3>,
    raw: Tensor<4>,
    layers: Layers,
    prepared: Arc<Prepared>,
    from: Senders,
) -> Tensor<3> {
    let [samples, nodes, _, channels] = raw.dims();
    let [_, _, hidden] = receivers.dims();
    let operation = Messages { prepared, from, samples, nodes, channels, hidden };
    let Layers { edge, middle, middle_bias, last } = layers;
    compute(
        operation,
        vec![input(receivers), input(senders), input(raw), input(edge), input(middle), input(middle_bias), input(last)],
    )
}

#[derive(Debug)]
struct Messages {
    prepared: Arc<Prepared>,
    from: Senders,
    samples: usize,
    nodes: usize,
    channels: usize,
    hidden: usize,
}

impl Messages {
    fn inputs<'a>(&'a self, &[receivers, senders, edges, ..]: &Slices<'a>, sample: usize) -> Inputs<'a> {
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes);
        Inputs {
            receivers: &receivers[sample * rows..][..rows],
            senders: &senders[sample * rows..][..rows],
            edges: &edges[sample * pairs * self.channels..][..pairs * self.channels],
            from: match &self.from {
                Senders::All => kernel::Senders::All,
                Senders::Itself => kernel::Senders::Itself,
                Senders::Neighbours(of) => kernel::Senders::Neighbours(&of[sample * pairs..][..pairs]),
            },
        }
    }
}

impl Operation for Messages {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.hidden]
    }

    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> Kept {
        let isa = Isa::best();
        let mut tapes = Vec::new();
        for (sample, out) in out.chunks_exact_mut(self.nodes * self.hidden).enumerate() {
            let mut tape = keep.then(|| Tape::new(true));
            kernel::forward(isa, &self.prepared, &self.inputs(slices, sample), out, tape.as_mut(), scratch);
            tapes.extend(tape);
        }
        Arc::new(tapes)
    }

    fn backward(&self, slices: &Slices<'_>, kept: &Kept, d_out: &[f32], scratch: &mut Scratch) -> InputGradients {
        let isa = Isa::best();
        let kept: &(dyn Any + Send + Sync) = &**kept;
        let tapes: &Vec<Tape> = kept.downcast_ref().expect("what forward kept");
        let (rows, pairs) = (self.nodes * self.hidden, self.nodes * self.nodes * self.channels);
        let mut sum = LayerGradients::new(self.hidden, self.channels);
        let zeros = |count: usize| vec![0.0; count];
        let (mut d_receivers, mut d_senders) = (zeros(self.samples * rows), zeros(self.samples * rows));
        let mut d_edges = zeros(self.samples * pairs);
        for (sample, tape) in tapes.iter().enumerate() {
            let gradients = Gradients {
                receivers: &mut d_receivers[sample * rows..][..rows],
                senders: &mut d_senders[sample * rows..][..rows],
                edges: Some(&mut d_edges[sample * pairs..][..pairs]),
                layers: &mut sum,
            };
            let d_out = &d_out[sample * rows..][..rows];
            kernel::backward(isa, &self.prepared, &self.inputs(slices, sample), tape, d_out, gradients, scratch);
        }
        let (mut d_edge, mut d_middle) = (zeros(self.channels * self.hidden), zeros(self.hidden * self.hidden));
        let (mut d_bias, mut d_last) = (zeros(self.hidden), zeros(self.hidden * self.hidden));
        sum.add_to(&mut d_edge, &mut d_middle, &mut d_bias, &mut d_last);
        [d_receivers, d_senders, d_edges, d_edge, d_middle, d_bias, d_last].map(Some)
    }
}
