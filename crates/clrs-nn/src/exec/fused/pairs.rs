//! Layers over ordered pairs of nodes.

use clrs_kernels::gemm::{Accumulate, Epilogue, matmul_packed};
use clrs_kernels::{Isa, Scratch, pairwise_sum};

use super::affine::term_backward;
use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::weights::FoldedWeight;

/// `first[i] + second[j] + sum(x[i, j] W)` for every pair of nodes `i`, `j`: `[B, N, N, outputs]`, from `first` and `second`,
/// `[B, N, outputs]`, and terms `(x, W)` with a row per pair, `[B * N * N, inputs]`.
pub(crate) fn pairs(
    ctx: &ForwardContext,
    first: Tensor<3>,
    second: Tensor<3>,
    pair_terms: Vec<(Tensor<2>, FoldedWeight)>,
) -> Tensor<4> {
    let [samples, nodes, outputs] = first.dims();
    let (rows, weights): (Vec<_>, Vec<_>) =
        pair_terms.into_iter().map(|(rows, weight)| (rows.view(), ctx.weight_ref(weight))).unzip();
    let shape = [samples, nodes, nodes, outputs];
    apply(ctx, Pairs { nodes, outputs, weights }, [first.view(), second.view()].into_iter().chain(rows).collect(), shape)
}

struct Pairs {
    nodes: usize,
    outputs: usize,
    /// Weights of the terms with a row per pair.
    weights: Vec<WeightRef>,
}

/// Inputs before those of the terms: `first` and `second`.
const NODE_INPUTS: usize = 2;

impl Op for Pairs {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let rows = self.nodes * self.outputs;
        let nodes = inputs.get(0).chunks_exact(rows).zip(inputs.get(1).chunks_exact(rows));
        for ((first, second), out) in nodes.zip(out.chunks_exact_mut(self.nodes * rows)) {
            pairwise_sum::forward(first, second, self.outputs, out);
        }
        for (index, WeightRef { matrix, .. }) in (NODE_INPUTS..).zip(&self.weights) {
            matmul_packed(Isa::best(), inputs.get(index), matrix.packed(), Accumulate::Output, Epilogue::Identity, out);
        }
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, scratch: &mut Scratch) {
        let rows = self.nodes * self.outputs;
        let (mut d_first, mut d_second) = (vec![0.0; back.inputs.get(0).len()], vec![0.0; back.inputs.get(1).len()]);
        let nodes = d_first.chunks_exact_mut(rows).zip(d_second.chunks_exact_mut(rows));
        for ((d_first, d_second), d_out) in nodes.zip(back.d_out.chunks_exact(self.nodes * rows)) {
            pairwise_sum::backward(d_out, self.outputs, d_first, d_second);
        }
        back.add(0, d_first);
        back.add(1, d_second);
        let d_out = std::mem::take(&mut back.d_out);
        for (index, weight) in (NODE_INPUTS..).zip(&self.weights) {
            term_backward(weight, &mut back, index, &d_out, scratch);
        }
    }
}
