//! Attention of queries over the slots of a memory.

use clrs_kernels::memory_attention::{self as kernel, Gradients};
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
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
    let op = MemoryAttention { dim, memory: ctx.weight_ref(FoldedWeight::Parameter(memory)) };
    apply(ctx, op, vec![query.view(), key.view(), value.view()], [queries, dim])
}

struct MemoryAttention {
    dim: usize,
    memory: WeightRef,
}

impl MemoryAttention {
    fn inputs<'a>(&'a self, inputs: Inputs<'a>) -> kernel::Inputs<'a> {
        let [query, key, value] = inputs.values();
        kernel::Inputs { dim: self.dim, query, key, value, memory: self.memory.matrix.values() }
    }
}

impl Op for MemoryAttention {
    /// Saves the attention weights.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let inputs = self.inputs(inputs);
        let mut weights = vec![0.0; inputs.weights_len()];
        kernel::forward(Isa::best(), &inputs, out, &mut weights);
        Box::new(weights)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let weights = back.saved::<Vec<f32>>();
        let inputs = self.inputs(back.inputs);
        let [mut d_query, mut d_key, mut d_value] = [inputs.query, inputs.key, inputs.value].map(|input| vec![0.0; input.len()]);
        self.memory.grad.add(inputs.memory.len(), |d_memory| {
            let gradients = Gradients { query: &mut d_query, key: &mut d_key, value: &mut d_value, memory: d_memory };
            kernel::backward(Isa::best(), &inputs, &weights, &back.d_out, gradients);
        });
        for (index, gradient) in [d_query, d_key, d_value].into_iter().enumerate() {
            back.add(index, gradient);
        }
    }
}
