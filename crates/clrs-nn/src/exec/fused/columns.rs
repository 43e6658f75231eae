//! Some columns of many.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::Scratch;

use super::{BackwardInput, InputGradients, SavedState, FusedOp, Slices, compute, input, only};
use crate::exec::features::ForwardContext;

/// A range of the columns of rows, in a shape of as many numbers.
pub(crate) fn columns<const D: usize>(pass: &ForwardContext, rows: Tensor<2>, range: Range<usize>, shape: [usize; D]) -> Tensor<D> {
    let [_, width] = rows.dims();
    compute(pass, Columns { shape: shape.to_vec(), width, range }, vec![input(rows)])
}

struct Columns {
    shape: Vec<usize>,
    /// Of all columns.
    width: usize,
    range: Range<usize>,
}

impl FusedOp for Columns {
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    fn forward(&self, &[rows, ..]: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        for (row, out) in rows.chunks_exact(self.width).zip(out.chunks_exact_mut(self.range.len())) {
            out.copy_from_slice(&row[self.range.clone()]);
        }
        Arc::new(())
    }

    fn backward(&self, BackwardInput { inputs: [rows, ..], d_out, .. }: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let mut d_rows = vec![0.0; rows.len()];
        for (d_row, d_out) in d_rows.chunks_exact_mut(self.width).zip(d_out.chunks_exact(self.range.len())) {
            d_row[self.range.clone()].copy_from_slice(d_out);
        }
        only(d_rows)
    }
}
