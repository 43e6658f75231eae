//! Position-weighted sums of embeddings.

use std::rc::Rc;

use clrs_kernels::embedding_bag as kernel;
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// `sum over l of table[indices[b, l]] * positions[l]` for every bag `b`: `[B, D]`, from `indices` `[B, L]`, `table` `[V, D]` and
/// `positions` `[L, D]`.
pub(crate) fn embedding_bag(ctx: &ForwardContext, indices: Rc<Vec<u16>>, table: ParamId, positions: Rc<Vec<f32>>) -> Tensor<2> {
    let table = ctx.weight_ref(FoldedWeight::Parameter(table));
    let [_, dim] = table.matrix.dims();
    let shape = [indices.len() * dim / positions.len(), dim];
    apply(ctx, EmbeddingBag { indices, positions, table }, Vec::new(), shape)
}

struct EmbeddingBag {
    indices: Rc<Vec<u16>>,
    positions: Rc<Vec<f32>>,
    table: WeightRef,
}

impl EmbeddingBag {
    fn inputs(&self) -> kernel::Inputs<'_> {
        let [_, dim] = self.table.matrix.dims();
        kernel::Inputs {
            embedding_dim: dim,
            table: self.table.matrix.values(),
            position_encoding: &self.positions,
            indices: &self.indices,
        }
    }
}

impl Op for EmbeddingBag {
    fn forward(&self, _: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        kernel::forward(Isa::best(), &self.inputs(), out);
        Box::new(())
    }

    fn backward(&self, back: Backward<'_>, _: &mut Scratch) {
        let len = self.table.matrix.values().len();
        self.table.grad.add(len, |sum| kernel::backward(Isa::best(), &self.inputs(), &back.d_out, sum));
    }
}
