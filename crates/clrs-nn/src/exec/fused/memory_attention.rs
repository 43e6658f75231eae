//! Attention of queries over the slots of a memory.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::memory_attention::{self as kernel, Gradients, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// The mean of the values, weighted by how well a query matches each key plus the learned memory of its slot: `[Q, D]`, from
/// queries `[Q, D]`, and keys and values `[Q * S, D]`. Slots without a key have their memory alone, and no value.
pub(crate) fn memory_attention(
    ctx: &ForwardContext,
    query: Tensor<2>,
    key: Tensor<2>,
    value: Tensor<2>,
    memory: ParamId,
) -> Tensor<2> {
    let [queries, dim] = query.dims();
    let operation = MemoryAttention { queries, dim, memory: ctx.weight_ref(FoldedWeight::Parameter(memory)) };
    compute(ctx, operation, vec![input(query), input(key), input(value)])
}

struct MemoryAttention {
    queries: usize,
    dim: usize,
    memory: WeightRef,
}

impl MemoryAttention {
    fn inputs<'a>(&'a self, &[query, key, value, ..]: &Slices<'a>) -> Inputs<'a> {
        Inputs { dim: self.dim, query, key, value, memory: self.memory.matrix.values() }
    }
}

impl FusedOp for MemoryAttention {
    fn shape(&self) -> Vec<usize> {
        vec![self.queries, self.dim]
    }

    /// Saves the attention weights.
    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let inputs = self.inputs(slices);
        let mut weights = vec![0.0; inputs.weights_len()];
        kernel::forward(Isa::best(), &inputs, out, &mut weights);
        Arc::new(weights)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let weights = back.kept::<Vec<f32>>();
        let inputs = self.inputs(&back.inputs);
        let [mut query, mut key, mut value] = [inputs.query, inputs.key, inputs.value].map(|input| vec![0.0; input.len()]);
        self.memory.grad.add(inputs.memory.len(), |memory| {
            let gradients = Gradients { query: &mut query, key: &mut key, value: &mut value, memory };
            kernel::backward(Isa::best(), &inputs, &weights, back.d_out, gradients);
        });
        [Some(query), Some(key), Some(value), None, None, None, None]
    }
}
