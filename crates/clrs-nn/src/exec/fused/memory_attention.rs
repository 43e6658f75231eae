//! Attention of queries over the slots of a memory.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::memory_attention::{self as kernel, Gradients, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// Mean of the values of each query, weighted by the softmax of `query . (key + memory)` over the slots: `[Q, D]`, from queries
/// `[Q, D]`, keys and values `[Q * S, D]`, and the learned memory, `[M, D]`. Slots after the first `S` have no key and no value:
/// their key and value are 0.
pub(crate) fn memory_attention(
    ctx: &ForwardContext,
    query: Tensor<2>,
    key: Tensor<2>,
    value: Tensor<2>,
    memory: ParamId,
) -> Tensor<2> {
    let [queries, dim] = query.dims();
    let op = MemoryAttention { queries, dim, memory: ctx.weight_ref(FoldedWeight::Parameter(memory)) };
    apply(ctx, op, vec![input(query), input(key), input(value)])
}

struct MemoryAttention {
    queries: usize,
    dim: usize,
    memory: WeightRef,
}

impl MemoryAttention {
    fn inputs<'a>(&'a self, &[query, key, value, ..]: &InputSlices<'a>) -> Inputs<'a> {
        Inputs { dim: self.dim, query, key, value, memory: self.memory.matrix.values() }
    }
}

impl FusedOp for MemoryAttention {
    fn shape(&self) -> Vec<usize> {
        vec![self.queries, self.dim]
    }

    /// Saves the attention weights.
    fn forward(&self, slices: &InputSlices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let inputs = self.inputs(slices);
        let mut weights = vec![0.0; inputs.weights_len()];
        kernel::forward(Isa::best(), &inputs, out, &mut weights);
        Arc::new(weights)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let weights = back.saved::<Vec<f32>>();
        let inputs = self.inputs(&back.inputs);
        let [mut d_query, mut d_key, mut d_value] = [inputs.query, inputs.key, inputs.value].map(|input| vec![0.0; input.len()]);
        self.memory.grad.add(inputs.memory.len(), |d_memory| {
            let gradients = Gradients { query: &mut d_query, key: &mut d_key, value: &mut d_value, memory: d_memory };
            kernel::backward(Isa::best(), &inputs, &weights, back.d_out, gradients);
        });
        [Some(d_query), Some(d_key), Some(d_value), None, None, None, None]
    }
}
