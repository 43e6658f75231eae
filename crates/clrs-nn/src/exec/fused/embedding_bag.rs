//! Position-weighted sums of embeddings.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::embedding_bag::{self as kernel, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// Sums of the embeddings of `[B, L]` indices, weighted by position, `[L, D]`: `[B, D]`.
pub(crate) fn embedding_bag(ctx: &ForwardContext, words: Arc<Vec<u16>>, table: ParamId, positions: Arc<Vec<f32>>) -> Tensor<2> {
    let table = ctx.weight_ref(FoldedWeight::Parameter(table));
    compute(ctx, EmbeddingBag { words, positions, table }, Vec::new())
}

struct EmbeddingBag {
    words: Arc<Vec<u16>>,
    positions: Arc<Vec<f32>>,
    table: WeightRef,
}

impl EmbeddingBag {
    fn inputs(&self) -> Inputs<'_> {
        let [_, size] = self.table.matrix.dims();
        Inputs {
            embedding_dim: size,
            table: self.table.matrix.values(),
            position_encoding: &self.positions,
            indices: &self.words,
        }
    }
}

impl FusedOp for EmbeddingBag {
    fn shape(&self) -> Vec<usize> {
        let [_, size] = self.table.matrix.dims();
        vec![self.words.len() * size / self.positions.len(), size]
    }

    fn forward(&self, _: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        kernel::forward(Isa::best(), &self.inputs(), out);
        Arc::new(())
    }

    fn backward(&self, BackwardInput { d_out, .. }: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let count = self.table.matrix.values().len();
        self.table.grad.add(count, |sum| kernel::backward(Isa::best(), &self.inputs(), d_out, sum));
        InputGradients::default()
    }
}
