//! Attention of queries over the slots of a memory.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::memory_attention::{self as kernel, Gradients, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{Back, InputGradients, Kept, Operation, Slices, compute, input};
use crate::features::Pass;
use crate::parameters::Handle;
use crate::pass::Learnt;
use crate::weights::Piece;

/// The mean of the values, weighted by how well a query matches each key plus the learned memory of its slot: `[Q, D]`, from
/// queries `[Q, D]`, and keys and values `[Q * S, D]`. Slots without a key have their memory alone, and no value.
pub(crate) fn memory_attention(pass: &Pass, query: Tensor<2>, key: Tensor<2>, value: Tensor<2>, memory: Handle) -> Tensor<2> {
    let [queries, dim] = query.dims();
    let operation = MemoryAttention { queries, dim, memory: pass.learnt(Piece::Whole(memory)) };
    compute(pass, operation, vec![input(query), input(key), input(value)])
}

struct MemoryAttention {
    queries: usize,
    dim: usize,
    memory: Learnt,
}

impl MemoryAttention {
    fn inputs<'a>(&'a self, &[query, key, value, ..]: &Slices<'a>) -> Inputs<'a> {
        Inputs { dim: self.dim, query, key, value, memory: self.memory.matrix.values() }
    }
}

impl Operation for MemoryAttention {
    fn shape(&self) -> Vec<usize> {
        vec![self.queries, self.dim]
    }

    /// Saves the attention weights.
    fn forward(&self, slices: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Kept {
        let inputs = self.inputs(slices);
        let mut weights = vec![0.0; inputs.weights_len()];
        kernel::forward(Isa::best(), &inputs, out, &mut weights);
        Arc::new(weights)
    }

    fn backward(&self, back: Back<'_>, _: &mut Scratch) -> InputGradients {
        let weights = back.kept::<Vec<f32>>();
        let inputs = self.inputs(&back.inputs);
        let [mut query, mut key, mut value] = [inputs.query, inputs.key, inputs.value].map(|input| vec![0.0; input.len()]);
        self.memory.sum.add(inputs.memory.len(), |memory| {
            let gradients = Gradients { query: &mut query, key: &mut key, value: &mut value, memory };
            kernel::backward(Isa::best(), &inputs, &weights, back.d_out, gradients);
        });
        [Some(query), Some(key), Some(value), None, None, None, None]
    }
}
