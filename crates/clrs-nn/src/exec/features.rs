//! Features of nodes, edges and the graph as processors and decoders read them: raw channels with linear layers on top.
//!
//! Shapes: `B` active samples, `N` nodes, `H` hidden size. Encoders are folded into the layers (see [`weights`](super::weights)), so
//! encodings are computed only where they are read.

use burn::tensor::Tensor as BurnTensor;
use clrs::Location;

use super::context::ForwardContext;
use super::fused;
use super::parameters::Linear;
use super::tensor::Tensor;
use super::weights::FoldedWeight;

impl ForwardContext {
    /// `x W + b` over rows of hidden vectors.
    pub fn linear(&self, layer: Linear, x: Tensor<2>) -> Tensor<2> {
        let rows = x.dims()[0];
        Affine::new(self, rows, 1).over(layer, x).rows()
    }
}

/// A sum of linear layers with a row per node, evaluated in one pass over the result.
#[must_use]
pub struct Affine<'c> {
    ctx: &'c ForwardContext,
    samples: usize,
    nodes: usize,
    /// Products with a row per node: `[B * N, inputs]` and the weight.
    node_terms: Vec<(Tensor<2>, FoldedWeight)>,
    /// Products with a row per sample, `[B, inputs]`, shared by its nodes.
    sample_terms: Vec<(Tensor<2>, FoldedWeight)>,
    constants: Vec<FoldedWeight>,
}

impl<'c> Affine<'c> {
    pub(crate) fn new(ctx: &'c ForwardContext, samples: usize, nodes: usize) -> Affine<'c> {
        Affine { ctx, samples, nodes, node_terms: Vec::new(), sample_terms: Vec::new(), constants: Vec::new() }
    }

    /// Adds a layer over node encodings and hidden states.
    pub fn nodes(mut self, nodes: &NodeFeatures<'_>, layer: Linear) -> Self {
        self.node_terms.push((nodes.raw.clone(), FoldedWeight::Layer(layer, Location::Node)));
        if let Some(hidden) = &nodes.hidden {
            self.node_terms.push((hidden.clone(), FoldedWeight::Block(layer.weight, 1)));
        }
        self.constants.push(FoldedWeight::LayerBias(layer, Location::Node));
        self
    }

    /// Adds a layer over graph encodings.
    pub fn graph(mut self, graph: &GraphFeatures<'_>, layer: Linear) -> Self {
        self.sample_terms.push((graph.raw.clone(), FoldedWeight::Layer(layer, Location::Graph)));
        self.constants.push(FoldedWeight::LayerBias(layer, Location::Graph));
        self
    }

    /// Adds [`EdgeFeatures::bias`] of a layer over edge encodings.
    pub fn edge_bias(mut self, layer: Linear) -> Self {
        self.constants.push(FoldedWeight::LayerBias(layer, Location::Edge));
        self
    }

    /// Adds a layer over given rows, `[B * N, inputs]`.
    pub fn over(mut self, layer: Linear, rows: Tensor<2>) -> Self {
        self.node_terms.push((rows, FoldedWeight::Parameter(layer.weight)));
        self.constants.push(FoldedWeight::Parameter(layer.bias));
        self
    }

    /// Adds rows times a folded weight.
    pub(crate) fn product(mut self, rows: Tensor<2>, weight: FoldedWeight) -> Self {
        self.node_terms.push((rows, weight));
        self
    }

    /// Adds a folded weight to every row.
    pub(crate) fn constant(mut self, weight: FoldedWeight) -> Self {
        self.constants.push(weight);
        self
    }

    /// The sum, `[B * N, outputs]`.
    ///
    /// # Panics
    /// If no term has a row per node.
    pub fn rows(self) -> Tensor<2> {
        let [rows, _] = self.node_terms[0].0.dims();
        self.shaped(|outputs| [rows, outputs])
    }

    /// `ReLU` of the sum, `[B * N, outputs]`.
    ///
    /// # Panics
    /// As [`Affine::rows`].
    pub fn relu(self) -> Tensor<2> {
        let [rows, _] = self.node_terms[0].0.dims();
        self.compute(true, |outputs| [rows, outputs])
    }

    /// The sum, `[B, N, outputs]`.
    ///
    /// # Panics
    /// As [`Affine::rows`].
    pub fn by_sample(self) -> Tensor<3> {
        let (samples, nodes) = (self.samples, self.nodes);
        self.shaped(|outputs| [samples, nodes, outputs])
    }

    /// The sum in any shape with the same number of elements.
    pub(crate) fn shaped<const D: usize>(self, shape: impl Fn(usize) -> [usize; D]) -> Tensor<D> {
        self.compute(false, shape)
    }

    fn compute<const D: usize>(self, apply_relu: bool, shape: impl Fn(usize) -> [usize; D]) -> Tensor<D> {
        let Affine { ctx, samples, nodes, node_terms, sample_terms, constants } = self;
        if ctx.fused {
            return fused::affine(ctx, nodes, node_terms, sample_terms, constants, apply_relu, shape);
        }
        let add = |sum: BurnTensor<2>, term: BurnTensor<2>| sum + term;
        let products = |terms: Vec<(Tensor<2>, FoldedWeight)>| {
            terms.into_iter().map(|(rows, weight)| rows.burn().matmul(ctx.folded(weight))).reduce(add)
        };
        let mut sum = products(node_terms).expect("at least one term");
        let constant = constants.into_iter().map(|weight| ctx.folded(weight)).reduce(add);
        if let Some(per_sample) = products(sample_terms) {
            let [_, outputs] = sum.dims();
            let per_sample = constant.map_or(per_sample.clone(), |constant| per_sample + constant);
            let rows = sum.reshape([samples, nodes, outputs]) + per_sample.reshape([samples, 1, outputs]);
            sum = rows.reshape([samples * nodes, outputs]);
        } else if let Some(constant) = constant {
            sum = sum + constant;
        }
        let [_, outputs] = sum.dims();
        let sum = Tensor::from(sum);
        (if apply_relu { sum.relu() } else { sum }).reshape(shape(outputs))
    }
}

/// Node encodings and hidden states. A layer over nodes reads both, `2 H` inputs.
#[derive(Clone)]
pub struct NodeFeatures<'c> {
    pub(crate) ctx: &'c ForwardContext,
    pub(crate) samples: usize,
    pub(crate) nodes: usize,
    /// `[B * N, channels]`
    pub(crate) raw: Tensor<2>,
    /// `[B * N, H]`; `None` where all are zero.
    pub(crate) hidden: Option<Tensor<2>>,
}

impl NodeFeatures<'_> {
    /// A layer over encodings and hidden states, `[B * N, outputs]`.
    pub fn rows(&self, layer: Linear) -> Tensor<2> {
        Affine::new(self.ctx, self.samples, self.nodes).nodes(self, layer).rows()
    }

    /// A layer over encodings and hidden states, `[B, N, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<3> {
        Affine::new(self.ctx, self.samples, self.nodes).nodes(self, layer).by_sample()
    }

    /// Encodings, `[B * N, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        encode(self.ctx, self.raw.clone(), Location::Node)
    }

    /// Hidden states, `[B * N, H]`.
    pub fn hidden(&self) -> Tensor<2> {
        let zeros = || self.ctx.zeros([self.samples * self.nodes, self.ctx.hidden]);
        self.hidden.clone().unwrap_or_else(zeros)
    }
}

/// Encodings of ordered pairs of nodes.
#[derive(Clone)]
pub struct EdgeFeatures<'c> {
    pub(crate) ctx: &'c ForwardContext,
    /// `[B, N, N, channels]`: source node, then target node.
    pub(crate) raw: Tensor<4>,
}

impl EdgeFeatures<'_> {
    /// Raw channels with a row per pair, `[B * N * N, channels]`.
    pub(crate) fn raw_rows(&self) -> Tensor<2> {
        let [samples, nodes, _, channels] = self.raw.dims();
        self.raw.clone().reshape([samples * nodes * nodes, channels])
    }

    /// A layer over encodings without its constant term, [`EdgeFeatures::bias`]: `[B, N, N, outputs]`.
    pub fn product(&self, layer: Linear) -> Tensor<4> {
        let [samples, nodes, ..] = self.raw.dims();
        let rows = self.raw_rows();
        let weight = FoldedWeight::Layer(layer, Location::Edge);
        Affine::new(self.ctx, rows.dims()[0], 1).product(rows, weight).shaped(|outputs| [samples, nodes, nodes, outputs])
    }

    /// Constant term of a layer over encodings, `[1, outputs]`. It is the same for all edges, so it is cheaper to add to a smaller
    /// tensor.
    pub fn bias(&self, layer: Linear) -> Tensor<2> {
        let weight = FoldedWeight::LayerBias(layer, Location::Edge);
        if self.ctx.fused { fused::constant(self.ctx, weight) } else { self.ctx.folded(weight).into() }
    }

    /// [`EdgeFeatures::product`] of the self-loops alone, `[B, N, outputs]`, in burn's graph.
    pub(crate) fn self_loop_product(&self, layer: Linear) -> BurnTensor<3> {
        let [samples, nodes, _, channels] = self.raw.dims();
        let raw = self.raw.clone().burn();
        let eye = BurnTensor::<2>::eye(nodes, &raw.device()).reshape([1, nodes, nodes, 1]);
        let self_loops = (raw * eye).sum_dim(1).reshape([samples * nodes, channels]);
        let weight = self.ctx.folded(FoldedWeight::Layer(layer, Location::Edge));
        self_loops.matmul(weight).reshape([samples, nodes, layer.outputs])
    }

    /// Encodings of raw channels, `[rows, H]`.
    pub(crate) fn encode(&self, rows: Tensor<2>) -> Tensor<2> {
        encode(self.ctx, rows, Location::Edge)
    }

    /// Encodings, `[B, N, N, H]`. Large: prefer layers over them.
    pub fn encoded(&self) -> Tensor<4> {
        let [samples, nodes, ..] = self.raw.dims();
        self.encode(self.raw_rows()).reshape([samples, nodes, nodes, self.ctx.hidden])
    }
}

/// Encodings of the graph.
#[derive(Clone)]
pub struct GraphFeatures<'c> {
    pub(crate) ctx: &'c ForwardContext,
    /// `[B, channels]`
    pub(crate) raw: Tensor<2>,
}

impl GraphFeatures<'_> {
    /// A layer over encodings, `[B, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<2> {
        let weight = FoldedWeight::Layer(layer, Location::Graph);
        let sum = Affine::new(self.ctx, self.raw.dims()[0], 1).product(self.raw.clone(), weight);
        sum.constant(FoldedWeight::LayerBias(layer, Location::Graph)).rows()
    }

    /// Encodings, `[B, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        encode(self.ctx, self.raw.clone(), Location::Graph)
    }
}

/// Encodings of raw channels, row by row.
fn encode(ctx: &ForwardContext, raw: Tensor<2>, location: Location) -> Tensor<2> {
    let sum = Affine::new(ctx, raw.dims()[0], 1).product(raw, FoldedWeight::Encoders(location));
    sum.constant(FoldedWeight::EncoderBias(location)).rows()
}
