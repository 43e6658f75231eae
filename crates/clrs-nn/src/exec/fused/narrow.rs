//! A range of columns.

use clrs_kernels::{Scratch, narrow as kernel};
use std::ops::Range;

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::ForwardContext;

/// The columns `range` of rows `[rows, width]`, in any shape with the same number of elements.
pub(crate) fn narrow<const D: usize>(ctx: &ForwardContext, rows: Tensor<2>, range: Range<usize>, shape: [usize; D]) -> Tensor<D> {
    let [_, width] = rows.dims();
    apply(ctx, Narrow { width, range }, vec![rows.view()], shape)
}

struct Narrow {
    /// Columns of the input.
    width: usize,
    range: Range<usize>,
}

impl Op for Narrow {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        kernel::forward(inputs.get(0), self.width, self.range.clone(), out);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut d_rows = vec![0.0; back.inputs.get(0).len()];
        kernel::backward(&back.d_out, self.width, self.range.clone(), &mut d_rows);
        back.add(0, d_rows);
    }
}
