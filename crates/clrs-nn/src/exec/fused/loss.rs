//! What is done with the rows of logits: what they cost, their chances, and Sinkhorn's method.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs::{Kind, Probe};
use clrs_kernels::rowwise::{log_softmax, log_softmax_backward, softmax, softmax_backward};
use clrs_kernels::{Isa, Scratch, sinkhorn};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input, only};
use crate::data::batch::MASKED_OUT;
use crate::exec::context::ForwardContext;

/// What logits `[B, R, K]` cost, given what is true and how much a cell counts: the sum over cells, added to what others cost, `[1]`.
pub(crate) fn add_loss(
    others: Option<Tensor<1>>,
    ctx: &ForwardContext,
    probe: &Probe,
    logits: Tensor<3>,
    mut truth: Vec<f32>,
    weight: f32,
) -> Tensor<1> {
    let [_, _, numbers] = logits.dims();
    if let Kind::Categorical { .. } = probe.kind {
        // A row without a 1 is not asked.
        truth.chunks_exact_mut(numbers).filter(|row| !row.contains(&1.0)).for_each(|row| row.fill(0.0));
    }
    let operation = Cost { kind: probe.kind, masked: probe.masked, numbers, truth, weight, has_others: others.is_some() };
    compute(ctx, operation, [input(logits)].into_iter().chain(others.map(input)).collect())
}

struct Cost {
    kind: Kind,
    masked: bool,
    numbers: usize,
    truth: Vec<f32>,
    weight: f32,
    has_others: bool,
}

impl Cost {
    fn is_choice(&self) -> bool {
        matches!(self.kind, Kind::MaskOne | Kind::Pointer | Kind::Categorical { .. })
    }

    /// What a number costs, and the gradient.
    fn of(&self, x: f32, truth: f32) -> (f32, f32) {
        match self.kind {
            Kind::Scalar => ((x - truth).powi(2), 2.0 * (x - truth)),
            Kind::Mask if self.masked && truth == MASKED_OUT => (0.0, 0.0),
            Kind::Mask => {
                let small = (-x.abs()).exp();
                (x.max(0.0) - x * truth + small.ln_1p(), chance(x) - truth)
            }
            // Logarithms of chances.
            _ => (-x * truth, -truth),
        }
    }
}

impl FusedOp for Cost {
    fn shape(&self) -> Vec<usize> {
        vec![1]
    }

    /// Keeps logarithms of chances where one is chosen.
    fn forward(&self, &[logits, others, ..]: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let mut probabilities = Vec::new();
        let sum: f64 = if self.is_choice() {
            probabilities = logits.to_vec();
            log_softmax(Isa::best(), &mut probabilities, self.numbers);
            let cells = probabilities.iter().zip(&self.truth).filter(|(_, truth)| **truth != 0.0);
            cells.map(|(chance, truth)| f64::from(-chance * truth)).sum()
        } else {
            logits.iter().zip(&self.truth).map(|(&x, &truth)| f64::from(self.of(x, truth).0)).sum()
        };
        #[expect(clippy::cast_possible_truncation, reason = "a loss is f32")]
        let cost = sum as f32 * self.weight;
        out.fill(if self.has_others { others[0] + cost } else { cost });
        Arc::new(probabilities)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let probabilities = back.kept::<Vec<f32>>();
        let BackwardInput { inputs: [logits, ..], d_out, .. } = back;
        let factor = d_out[0] * self.weight;
        let mut gradients = if self.is_choice() {
            let mut d: Vec<f32> = self.truth.iter().map(|truth| -truth * factor).collect();
            log_softmax_backward(Isa::best(), &probabilities, &mut d, self.numbers);
            only(d)
        } else {
            only(logits.iter().zip(&self.truth).map(|(&x, &truth)| self.of(x, truth).1 * factor).collect())
        };
        gradients[1] = self.has_others.then(|| d_out.to_vec());
        gradients
    }
}

/// The chance of yes; nothing where it is lost in rounding next to 1, and products with it would be denormal.
fn chance(x: f32) -> f32 {
    if x < -60.0 { 0.0 } else { 1.0 / (1.0 + (-x).exp()) }
}

/// Chances of logits `[B, R, K]`: of each number by itself, or of one in each row.
pub(crate) fn probabilities(ctx: &ForwardContext, logits: Tensor<3>, one_in_row: bool) -> Tensor<3> {
    let shape = logits.dims();
    compute(ctx, Chances { shape, one_in_row }, vec![input(logits)])
}

struct Chances {
    shape: [usize; 3],
    one_in_row: bool,
}

impl FusedOp for Chances {
    fn shape(&self) -> Vec<usize> {
        self.shape.to_vec()
    }

    fn forward(&self, &[logits, ..]: &Slices<'_>, out: &mut [f32], keep: bool, _: &mut Scratch) -> SavedState {
        out.copy_from_slice(logits);
        if self.one_in_row {
            softmax(Isa::best(), out, self.shape[2]);
        } else {
            for x in out.iter_mut() {
                *x = chance(*x);
            }
        }
        Arc::new(if keep { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let probabilities = back.kept::<Vec<f32>>();
        let mut d = back.d_out.to_vec();
        if self.one_in_row {
            softmax_backward(Isa::best(), &probabilities, &mut d, self.shape[2]);
        } else {
            d.iter_mut().zip(&*probabilities).for_each(|(d, chance)| *d *= chance * (1.0 - chance));
        }
        only(d)
    }
}

/// Sinkhorn's method on logits, `[B, N, N]`.
pub(crate) fn log_sinkhorn(ctx: &ForwardContext, logits: Tensor<3>, rounds: usize) -> Tensor<3> {
    let [samples, nodes, _] = logits.dims();
    compute(ctx, Sinkhorn { samples, nodes, rounds }, vec![input(logits)])
}

struct Sinkhorn {
    samples: usize,
    nodes: usize,
    rounds: usize,
}

impl FusedOp for Sinkhorn {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes]
    }

    fn forward(&self, &[logits, ..]: &Slices<'_>, out: &mut [f32], keep: bool, _: &mut Scratch) -> SavedState {
        out.copy_from_slice(logits);
        let mut tapes = Vec::new();
        for out in out.chunks_exact_mut(self.nodes * self.nodes) {
            let mut tape = keep.then(sinkhorn::Tape::default);
            sinkhorn::forward(Isa::best(), self.nodes, out, self.rounds, tape.as_mut());
            tapes.extend(tape);
        }
        Arc::new(tapes)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let tapes = back.kept::<Vec<sinkhorn::Tape>>();
        let mut d = back.d_out.to_vec();
        for (d, tape) in d.chunks_exact_mut(self.nodes * self.nodes).zip(&*tapes) {
            sinkhorn::backward(Isa::best(), tape, d);
        }
        only(d)
    }
}
