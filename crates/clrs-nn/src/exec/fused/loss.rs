//! Losses of probes, by their kind.

use clrs::{Kind, Probe};
use clrs_kernels::rowwise::{log_softmax, log_softmax_backward};
use clrs_kernels::{Isa, Scratch, loss as kernel};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::data::batch::MASKED_OUT;
use crate::exec::context::ForwardContext;

/// Adds the loss of logits `[B, R, K]` to a running total, `[1]`: the sum over cells, times `weight`. `target` has the shape of the
/// logits.
pub(crate) fn add_loss(
    total: Option<Tensor<1>>,
    ctx: &ForwardContext,
    probe: &Probe,
    logits: Tensor<3>,
    target: Vec<f32>,
    weight: f32,
) -> Tensor<1> {
    let [_, _, classes] = logits.dims();
    let op = ProbeLoss { weight, ..ProbeLoss::new(probe, classes, target) };
    apply(ctx, op, [logits.view()].into_iter().chain(total.map(Tensor::view)).collect(), [1])
}

/// Sum of the loss over cells, without a gradient. `classes` is the length of a row.
pub(crate) fn loss_sum(probe: &Probe, logits: &[f32], target: Vec<f32>, classes: usize) -> f64 {
    ProbeLoss::new(probe, classes, target).sum(logits).0
}

/// The loss of a cell.
enum CellLoss {
    SquaredError,
    BinaryCrossEntropy {
        /// Target of cells that are masked out.
        ignored: Option<f32>,
    },
    /// Of logits, over rows of `classes`.
    CrossEntropy {
        classes: usize,
    },
    /// Of log-probabilities.
    NegativeLogLikelihood,
}

struct ProbeLoss {
    cell_loss: CellLoss,
    target: Vec<f32>,
    weight: f32,
}

impl ProbeLoss {
    fn new(probe: &Probe, classes: usize, mut target: Vec<f32>) -> ProbeLoss {
        if let Kind::Categorical { .. } = probe.kind {
            // A row without a 1 is masked out; its other values do not count.
            target.chunks_exact_mut(classes).filter(|row| !row.contains(&1.0)).for_each(|row| row.fill(0.0));
        }
        let cell_loss = match probe.kind {
            Kind::Scalar => CellLoss::SquaredError,
            Kind::Mask => CellLoss::BinaryCrossEntropy { ignored: probe.masked.then_some(MASKED_OUT) },
            Kind::MaskOne | Kind::Pointer | Kind::Categorical { .. } => CellLoss::CrossEntropy { classes },
            // Decoders return log-probabilities of permutations.
            Kind::Permutation | Kind::CyclicPermutation => CellLoss::NegativeLogLikelihood,
        };
        ProbeLoss { cell_loss, target, weight: 1.0 }
    }

    /// Sum over cells, and log-probabilities for [`CellLoss::CrossEntropy`].
    fn sum(&self, logits: &[f32]) -> (f64, Vec<f32>) {
        let mut log_probabilities = Vec::new();
        let sum = match self.cell_loss {
            CellLoss::SquaredError => kernel::squared_error(logits, &self.target),
            CellLoss::BinaryCrossEntropy { ignored } => kernel::bce_with_logits(logits, &self.target, ignored),
            CellLoss::CrossEntropy { classes } => {
                log_probabilities = logits.to_vec();
                log_softmax(Isa::best(), &mut log_probabilities, classes);
                kernel::nll(&log_probabilities, &self.target)
            }
            CellLoss::NegativeLogLikelihood => kernel::nll(logits, &self.target),
        };
        (sum, log_probabilities)
    }
}

impl Op for ProbeLoss {
    /// Saves log-probabilities for [`CellLoss::CrossEntropy`].
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let (sum, log_probabilities) = self.sum(inputs.get(0));
        #[expect(clippy::cast_possible_truncation, reason = "a loss is f32")]
        let loss = sum as f32 * self.weight;
        out[0] = if inputs.len() > 1 { inputs.get(1)[0] + loss } else { loss };
        Box::new(log_probabilities)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let (log_probabilities, logits) = (back.saved::<Vec<f32>>(), back.inputs.get(0));
        let d_loss = back.d_out[0] * self.weight;
        let mut d_logits = vec![0.0; logits.len()];
        match self.cell_loss {
            CellLoss::SquaredError => kernel::squared_error_backward(logits, &self.target, d_loss, &mut d_logits),
            CellLoss::BinaryCrossEntropy { ignored } => {
                kernel::bce_with_logits_backward(logits, &self.target, ignored, d_loss, &mut d_logits);
            }
            CellLoss::CrossEntropy { classes } => {
                kernel::nll_backward(&self.target, d_loss, &mut d_logits);
                log_softmax_backward(Isa::best(), &log_probabilities, &mut d_logits, classes);
            }
            CellLoss::NegativeLogLikelihood => kernel::nll_backward(&self.target, d_loss, &mut d_logits),
        }
        back.add(0, d_logits);
        if back.inputs.len() > 1 {
            let d_total = std::mem::take(&mut back.d_out);
            back.add(1, d_total);
        }
    }
}
