//! Layer normalization.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::rowwise::{layer_norm as kernel, layer_norm_backward};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, InputSlices, SavedState, apply, input, only_first};
use crate::exec::context::{ForwardContext, WeightRef};
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// `(x - mean) / sqrt(variance + 1e-5) * scale + offset` for every row `x`, `[rows, H]`.
pub(crate) fn layer_norm(ctx: &ForwardContext, rows: Tensor<2>, scale: ParamId, offset: ParamId) -> Tensor<2> {
    let [count, dim] = rows.dims();
    let [scale, offset] = [scale, offset].map(|id| ctx.weight_ref(FoldedWeight::Parameter(id)));
    apply(ctx, LayerNorm { count, dim, scale, offset }, vec![input(rows)])
}

struct LayerNorm {
    /// Number of rows.
    count: usize,
    dim: usize,
    scale: WeightRef,
    offset: WeightRef,
}

impl FusedOp for LayerNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.count, self.dim]
    }

    /// Saves the mean and the reciprocal standard deviation of each row.
    fn forward(&self, &[rows, ..]: &InputSlices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let mut moments = vec![0.0; 2 * self.count];
        kernel(Isa::best(), rows, self.scale.matrix.values(), self.offset.matrix.values(), out, &mut moments);
        Arc::new(moments)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let moments = back.saved::<Vec<f32>>();
        let BackwardInput { inputs: [rows, ..], d_out, .. } = back;
        let mut d_rows = vec![0.0; rows.len()];
        self.scale.grad.add(self.dim, |d_scale| {
            self.offset.grad.add(self.dim, |d_offset| {
                let scale = self.scale.matrix.values();
                layer_norm_backward(Isa::best(), (rows, &moments), scale, d_out, &mut d_rows, d_scale, d_offset);
            });
        });
        only_first(d_rows)
    }
}
