//! Maximum over the nodes of a sample.

use clrs_kernels::{Isa, Scratch, max_pool as kernel};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// Maximum over the nodes of each sample, `[B, D]`, from rows `[B * N, D]`. The first of equal elements takes the gradient.
pub(crate) fn max_pool(ctx: &ForwardContext, rows: Tensor<2>, nodes: usize) -> Tensor<2> {
    let [count, dim] = rows.dims();
    apply(ctx, MaxPool { nodes, dim }, vec![rows.view()], [count / nodes, dim])
}

struct MaxPool {
    nodes: usize,
    dim: usize,
}

impl Op for MaxPool {
    /// Saves the node of each maximum.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, _: &mut Scratch) -> Saved {
        let mut argmax = vec![0u32; if save { out.len() } else { 0 }];
        let samples = inputs.get(0).chunks_exact(self.nodes * self.dim).zip(out.chunks_exact_mut(self.dim));
        for (sample, (rows, out)) in samples.enumerate() {
            let argmax = save.then(|| &mut argmax[sample * self.dim..][..self.dim]);
            kernel::forward(Isa::best(), rows, out, argmax);
        }
        Box::new(argmax)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let argmax = back.saved::<Vec<u32>>();
        let mut d_rows = vec![0.0; back.inputs.get(0).len()];
        let samples = argmax.chunks_exact(self.dim).zip(back.d_out.chunks_exact(self.dim));
        for ((argmax, d_out), d_rows) in samples.zip(d_rows.chunks_exact_mut(self.nodes * self.dim)) {
            kernel::backward(argmax, d_out, d_rows);
        }
        back.add(0, d_rows);
    }
}
