//! Maximum over the first node of triplets.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Isa, Scratch, triplets as kernel};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
use crate::exec::context::ForwardContext;

/// `max over i of a[i, j] + b[i, k]` for every pair `j`, `k`, `[B, N, N, features]`, from `a` and `b` of the same shape. The first of
/// equal sums takes the gradient.
pub(crate) fn triplets(ctx: &ForwardContext, a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    let [samples, nodes, _, features] = a.dims();
    apply(ctx, Triplets { samples, nodes, features }, vec![input(a), input(b)])
}

struct Triplets {
    samples: usize,
    nodes: usize,
    features: usize,
}

impl FusedOp for Triplets {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.nodes, self.nodes, self.features]
    }

    /// Saves the `i` of each maximum.
    fn forward(
        &self,
        &[a, b, ..]: &InputSlices<'_>,
        out: &mut [f32],
        save_for_backward: bool,
        scratch: &mut Scratch,
    ) -> SavedState {
        let len = self.nodes * self.nodes * self.features;
        let mut argmax = vec![0u16; if save_for_backward { out.len() } else { 0 }];
        for (sample, out) in out.chunks_exact_mut(len).enumerate() {
            let range = sample * len..(sample + 1) * len;
            let argmax = save_for_backward.then(|| &mut argmax[range.clone()]);
            let size = (self.nodes, self.features);
            kernel::forward(Isa::best(), size, &a[range.clone()], &b[range], out, argmax, scratch);
        }
        Arc::new(argmax)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let (argmax, d_out) = (back.saved::<Vec<u16>>(), back.d_out);
        let len = self.nodes * self.nodes * self.features;
        let (mut d_a, mut d_b) = (vec![0.0; d_out.len()], vec![0.0; d_out.len()]);
        let samples = d_out.chunks_exact(len).zip(argmax.chunks_exact(len));
        for (((d_out, argmax), d_a), d_b) in samples.zip(d_a.chunks_exact_mut(len)).zip(d_b.chunks_exact_mut(len)) {
            kernel::backward((self.nodes, self.features), argmax, d_out, d_a, d_b);
        }
        [Some(d_a), Some(d_b), None, None, None, None, None]
    }
}
