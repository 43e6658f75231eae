//! A range of columns.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::{Scratch, narrow as kernel};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input, only_first};
use crate::exec::context::ForwardContext;

/// The columns `range` of rows `[rows, width]`, in any shape with the same number of elements.
pub(crate) fn narrow<const D: usize>(ctx: &ForwardContext, rows: Tensor<2>, range: Range<usize>, shape: [usize; D]) -> Tensor<D> {
    let [_, width] = rows.dims();
    apply(ctx, Narrow { shape: shape.to_vec(), width, range }, vec![input(rows)])
}

struct Narrow {
    shape: Vec<usize>,
    /// Columns of the input.
    width: usize,
    range: Range<usize>,
}

impl FusedOp for Narrow {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn forward(&self, &[rows, ..]: &InputSlices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        kernel::forward(rows, self.width, self.range.clone(), out);
        Arc::new(())
    }

    fn backward(&self, BackwardInput { inputs: [rows, ..], d_out, .. }: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let mut d_rows = vec![0.0; rows.len()];
        kernel::backward(d_out, self.width, self.range.clone(), &mut d_rows);
        only_first(d_rows)
    }
}
