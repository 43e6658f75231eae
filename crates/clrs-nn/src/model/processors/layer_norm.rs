//! Layer normalization.

use clrs_kernels::rowwise::LAYER_NORM_EPSILON;

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

impl LayerNorm {
    /// For rows of a given size. The parameters are named `NAME/scale` and `NAME/offset`.
    pub fn new(name: &str, size: usize, builder: &mut ParameterBuilder) -> LayerNorm {
        let mut parameter = |part: &str, value: f32| {
            let (name, dm_clrs_name) = (format!("{name}/{part}"), format!("layer_norm/{part}"));
            builder.parameter((&*name, &*dm_clrs_name), &[size], Init::Constant(value))
        };
        LayerNorm { scale: parameter("scale", 1.0), offset: parameter("offset", 0.0) }
    }

    /// Normalizes rows.
    pub fn apply(&self, ctx: &ForwardContext, rows: Tensor<2>) -> Tensor<2> {
        if ctx.fused {
            return fused::layer_norm(ctx, rows, self.scale, self.offset);
        }
        let rows = rows.burn();
        let centered = rows.clone() - rows.mean_dim(1);
        let variance = centered.clone().square().mean_dim(1);
        (centered / (variance + LAYER_NORM_EPSILON).sqrt() * ctx.parameter(self.scale) + ctx.parameter(self.offset)).into()
    }
}
