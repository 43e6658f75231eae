//! Layer norm.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::rowwise::{layer_norm as kernel, layer_norm_backward};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, FusedOp, InputGradients, SavedState, Slices, compute, input, only};
use crate::exec::context::ForwardContext;
use crate::exec::context::WeightRef;
use crate::exec::parameters::ParamId;
use crate::exec::weights::FoldedWeight;

/// Rows, normalised, `[rows, H]`.
pub(crate) fn layer_norm(ctx: &ForwardContext, rows: Tensor<2>, scale: ParamId, offset: ParamId) -> Tensor<2> {
    let [count, size] = rows.dims();
    let [scale, offset] = [scale, offset].map(|handle| ctx.weight_ref(FoldedWeight::Parameter(handle)));
    compute(ctx, LayerNorm { count, size, scale, offset }, vec![input(rows)])
}

struct LayerNorm {
    count: usize,
    size: usize,
    scale: WeightRef,
    offset: WeightRef,
}

impl FusedOp for LayerNorm {
    fn shape(&self) -> Vec<usize> {
        vec![self.count, self.size]
    }

    fn forward(&self, &[rows, ..]: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let mut moments = vec![0.0; 2 * self.count];
        kernel(Isa::best(), rows, self.scale.matrix.values(), self.offset.matrix.values(), out, &mut moments);
        Arc::new(moments)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let moments = back.kept::<Vec<f32>>();
        let BackwardInput { inputs: [rows, ..], d_out, .. } = back;
        let mut d_rows = vec![0.0; rows.len()];
        self.scale.grad.add(self.size, |d_scale| {
            self.offset.grad.add(self.size, |d_offset| {
                let scale = self.scale.matrix.values();
                layer_norm_backward(Isa::best(), (rows, &moments), scale, d_out, &mut d_rows, d_scale, d_offset);
            });
        });
        only(d_rows)
    }
}
