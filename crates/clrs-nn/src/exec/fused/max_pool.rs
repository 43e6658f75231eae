//! Maximum over the nodes of a sample.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Isa, Scratch, max_pool as kernel};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input, only_first};
use crate::exec::context::ForwardContext;

/// Maximum over the nodes of each sample, `[B, D]`, from rows `[B * N, D]`. The first of equal elements takes the gradient.
pub(crate) fn max_pool(ctx: &ForwardContext, rows: Tensor<2>, nodes: usize) -> Tensor<2> {
    let [count, dim] = rows.dims();
    apply(ctx, MaxPool { samples: count / nodes, nodes, dim }, vec![input(rows)])
}

struct MaxPool {
    samples: usize,
    nodes: usize,
    dim: usize,
}

impl FusedOp for MaxPool {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.dim]
    }

    /// Saves the node of each maximum.
    fn forward(&self, &[rows, ..]: &InputSlices<'_>, out: &mut [f32], save_for_backward: bool, _: &mut Scratch) -> SavedState {
        let mut argmax = vec![0u32; if save_for_backward { out.len() } else { 0 }];
        let samples = rows.chunks_exact(self.nodes * self.dim).zip(out.chunks_exact_mut(self.dim));
        for (sample, (rows, out)) in samples.enumerate() {
            let argmax = save_for_backward.then(|| &mut argmax[sample * self.dim..][..self.dim]);
            kernel::forward(Isa::best(), rows, out, argmax);
        }
        Arc::new(argmax)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let argmax = back.saved::<Vec<u32>>();
        let mut d_rows = vec![0.0; self.samples * self.nodes * self.dim];
        let samples = argmax.chunks_exact(self.dim).zip(back.d_out.chunks_exact(self.dim));
        for ((argmax, d_out), d_rows) in samples.zip(d_rows.chunks_exact_mut(self.nodes * self.dim)) {
            kernel::backward(argmax, d_out, d_rows);
        }
        only_first(d_rows)
    }
}
