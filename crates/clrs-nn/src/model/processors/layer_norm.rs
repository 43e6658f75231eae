//! Layer normalization.

use crate::exec::context::ForwardContext;
use crate::exec::fused;
use crate::exec::parameters::{Init, ParamId, ParameterBuilder};
use crate::exec::tensor::Tensor;

/// Normalizes rows to mean 0 and variance 1, then applies a learned scale and offset.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm {
    scale: ParamId,
    offset: ParamId,
}

/// Added to the variance, as in Haiku.
const EPSILON: f32 = 1e-5;

impl LayerNorm {
    /// For rows of a given size.
    pub fn new(size: usize, builder: &mut ParameterBuilder) -> LayerNorm {
        LayerNorm {
            scale: builder.parameter("norm/scale", "layer_norm/scale", &[size], Init::Constant(1.0)),
            offset: builder.parameter("norm/offset", "layer_norm/offset", &[size], Init::Constant(0.0)),
        }
    }

    /// Normalizes rows.
    pub fn apply(&self, ctx: &ForwardContext, rows: Tensor<2>) -> Tensor<2> {
        if ctx.fused {
            return fused::layer_norm(ctx, rows, self.scale, self.offset);
        }
        let rows = rows.burn();
        let centered = rows.clone() - rows.mean_dim(1);
        let variance = centered.clone().square().mean_dim(1);
        (centered / (variance + EPSILON).sqrt() * ctx.parameter(self.scale) + ctx.parameter(self.offset)).into()
    }
}
