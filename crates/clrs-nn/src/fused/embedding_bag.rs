//! Position-weighted sums of embeddings.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::embedding_bag::{self as kernel, Inputs};
use clrs_kernels::{Isa, Scratch};

use super::{Back, InputGradients, Kept, Operation, Slices, compute};
use crate::features::Pass;
use crate::parameters::Handle;
use crate::pass::Learnt;
use crate::weights::Piece;

/// Sums of the embeddings of `[B, L]` indices, weighted by position, `[L, D]`: `[B, D]`.
pub(crate) fn embedding_bag(pass: &Pass, words: Arc<Vec<u16>>, table: Handle, positions: Arc<Vec<f32>>) -> Tensor<2> {
    let table = pass.learnt(Piece::Whole(table));
    compute(pass, EmbeddingBag { words, positions, table }, Vec::new())
}

struct EmbeddingBag {
    words: Arc<Vec<u16>>,
    positions: Arc<Vec<f32>>,
    table: Learnt,
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

impl Operation for EmbeddingBag {
    fn shape(&self) -> Vec<usize> {
        let [_, size] = self.table.matrix.dims();
        vec![self.words.len() * size / self.positions.len(), size]
    }

    fn forward(&self, _: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Kept {
        kernel::forward(Isa::best(), &self.inputs(), out);
        Arc::new(())
    }

    fn backward(&self, Back { d_out, .. }: Back<'_>, _: &mut Scratch) -> InputGradients {
        let count = self.table.matrix.values().len();
        self.table.sum.add(count, |sum| kernel::backward(Isa::best(), &self.inputs(), d_out, sum));
        InputGradients::default()
    }
}
