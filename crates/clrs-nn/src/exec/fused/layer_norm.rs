//! Layer normalization.

use clrs_kernels::rowwise::{layer_norm as kernel, layer_norm_backward};
use clrs_kernels::{Isa, Scratch};

use super::{Backward, Inputs, Op, Saved, Tensor, apply};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// `(x - mean) / sqrt(variance + 1e-5) * scale + offset` for every row `x`, `[rows, H]`.
pub(crate) fn layer_norm(ctx: &ForwardContext, rows: Tensor<2>, scale: ParamId, offset: ParamId) -> Tensor<2> {
    let [count, dim] = rows.dims();
    let [scale, offset] = [scale, offset].map(|id| ctx.weight_ref(FoldedWeight::Parameter(id)));
    apply(ctx, LayerNorm { count, dim, scale, offset }, vec![rows.view()], [count, dim])
}

struct LayerNorm {
    /// Number of rows.
    count: usize,
    dim: usize,
    scale: WeightRef,
    offset: WeightRef,
}

impl Op for LayerNorm {
    /// Saves the mean and the reciprocal standard deviation of each row.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let mut moments = vec![0.0; 2 * self.count];
        kernel(Isa::best(), inputs.get(0), self.scale.matrix.values(), self.offset.matrix.values(), out, &mut moments);
        Box::new(moments)
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let (moments, rows) = (back.saved::<Vec<f32>>(), back.inputs.get(0));
        let mut d_rows = vec![0.0; rows.len()];
        self.scale.grad.add(self.dim, |d_scale| {
            self.offset.grad.add(self.dim, |d_offset| {
                let scale = self.scale.matrix.values();
                layer_norm_backward(Isa::best(), (rows, &moments), scale, &back.d_out, &mut d_rows, d_scale, d_offset);
            });
        });
        back.add(0, d_rows);
    }
}
