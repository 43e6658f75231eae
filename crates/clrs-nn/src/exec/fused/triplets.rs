//! Maximum over the first node of triplets.

use clrs_kernels::{Isa, Scratch, triplets as kernel};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// `max over i of a[i, j] + b[i, k]` for every pair `j`, `k`, `[B, N, N, features]`, from `a` and `b` of the same shape. The first of
/// equal sums takes the gradient.
pub(crate) fn triplets(ctx: &ForwardContext, a: Tensor<4>, b: Tensor<4>) -> Tensor<4> {
    let [samples, nodes, _, features] = a.dims();
    apply(ctx, Triplets { nodes, features }, vec![a.view(), b.view()], [samples, nodes, nodes, features])
}

struct Triplets {
    nodes: usize,
    features: usize,
}

impl Op for Triplets {
    /// Saves the `i` of each maximum.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, scratch: &mut Scratch) -> Saved {
        let [a, b] = inputs.values();
        let len = self.nodes * self.nodes * self.features;
        let mut argmax = vec![0u16; if save { out.len() } else { 0 }];
        for (sample, out) in out.chunks_exact_mut(len).enumerate() {
            let range = sample * len..(sample + 1) * len;
            let argmax = save.then(|| &mut argmax[range.clone()]);
            let size = (self.nodes, self.features);
            kernel::forward(Isa::best(), size, &a[range.clone()], &b[range], out, argmax, scratch);
        }
        Box::new(argmax)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let argmax = back.saved::<Vec<u16>>();
        let d_out = &back.d_out;
        let len = self.nodes * self.nodes * self.features;
        let (mut d_a, mut d_b) = (vec![0.0; d_out.len()], vec![0.0; d_out.len()]);
        let samples = d_out.chunks_exact(len).zip(argmax.chunks_exact(len));
        for (((d_out, argmax), d_a), d_b) in samples.zip(d_a.chunks_exact_mut(len)).zip(d_b.chunks_exact_mut(len)) {
            kernel::backward((self.nodes, self.features), argmax, d_out, d_a, d_b);
        }
        back.add(0, d_a);
        back.add(1, d_b);
    }
}
