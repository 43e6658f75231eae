//! Position-weighted sums of embeddings.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::embedding_bag::{self as kernel, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// `sum over l of table[indices[b, l]] * positions[l]` for every bag `b`: `[B, D]`, from `indices` `[B, L]`, `table` `[V, D]` and
/// `positions` `[L, D]`.
pub(crate) fn embedding_bag(ctx: &ForwardContext, indices: Arc<Vec<u16>>, table: ParamId, positions: Arc<Vec<f32>>) -> Tensor<2> {
    let table = ctx.weight_ref(FoldedWeight::Parameter(table));
    apply(ctx, EmbeddingBag { indices, positions, table }, Vec::new())
}

struct EmbeddingBag {
    indices: Arc<Vec<u16>>,
    positions: Arc<Vec<f32>>,
    table: WeightRef,
}

impl EmbeddingBag {
    fn inputs(&self) -> Inputs<'_> {
        let [_, dim] = self.table.matrix.dims();
        Inputs {
            embedding_dim: dim,
            table: self.table.matrix.values(),
            position_encoding: &self.positions,
            indices: &self.indices,
        }
    }
}

impl FusedOp for EmbeddingBag {
    fn shape(&self) -> Vec<usize> {
        let [_, dim] = self.table.matrix.dims();
        vec![self.indices.len() * dim / self.positions.len(), dim]
    }

    fn forward(&self, _: &InputSlices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        kernel::forward(Isa::best(), &self.inputs(), out);
        Arc::new(())
    }

    fn backward(&self, BackwardInput { d_out, .. }: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let len = self.table.matrix.values().len();
        self.table.grad.add(len, |sum| kernel::backward(Isa::best(), &self.inputs(), d_out, sum));
        InputGradients::default()
    }
}
