//! The largest over the first nodes of triplets.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Isa, Scratch, triplets as kernel};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;

/// The largest over `i` of `a[i, j] + b[i, k]`, `[B, N, N, features]` as both are.
pub(crate) fn triplets(ctx: &ForwardContext, a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    let [samples, nodes, _, features] = a.dims();
    compute(ctx, Triplets { samples, nodes, features }, vec![input(a), input(b)])
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

    fn forward(&self, &[a, b, ..]: &Slices<'_>, out: &mut [f32], keep: bool, scratch: &mut Scratch) -> SavedState {
        let all = self.nodes * self.nodes * self.features;
        let mut winners = vec![0u16; if keep { out.len() } else { 0 }];
        for (sample, out) in out.chunks_exact_mut(all).enumerate() {
            let range = sample * all..(sample + 1) * all;
            let winners = keep.then(|| &mut winners[range.clone()]);
            let size = (self.nodes, self.features);
            kernel::forward(Isa::best(), size, &a[range.clone()], &b[range], out, winners, scratch);
        }
        Arc::new(winners)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let (winners, d_out) = (back.kept::<Vec<u16>>(), back.d_out);
        let all = self.nodes * self.nodes * self.features;
        let (mut d_a, mut d_b) = (vec![0.0; d_out.len()], vec![0.0; d_out.len()]);
        let parts = d_out.chunks_exact(all).zip(winners.chunks_exact(all));
        for (((d_out, winners), d_a), d_b) in parts.zip(d_a.chunks_exact_mut(all)).zip(d_b.chunks_exact_mut(all)) {
            kernel::backward((self.nodes, self.features), winners, d_out, d_a, d_b);
        }
        [Some(d_a), Some(d_b), None, None, None, None, None]
    }
}
