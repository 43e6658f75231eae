//! What a processor and the decoders read: features of nodes, edges and the graph, as raw channels (see `weights.rs`).

use std::sync::Arc;

use burn::tensor::activation::relu;
use burn::tensor::{Bool, Tensor};

use crate::model::encoders::Place;
use crate::exec::fused;
use crate::exec::parameters::Linear;
pub use crate::exec::context::ForwardContext;
use crate::exec::weights::FoldedWeight;

/// What the processor is given in a step. `B` samples are alive, each of `N` nodes.
pub struct Input<'p> {
    /// Of nodes, hidden state included.
    pub nodes: Nodes<'p>,
    /// Of pairs of nodes.
    pub edges: Edges<'p>,
    /// Of the graph.
    pub graph: Graph<'p>,
    /// Which pairs are neighbours, `[B, N, N]`; a node is its own. There only if the processor asks for it, or masks decoders.
    pub adjacency: Option<Tensor<3, Bool>>,
}

impl<'p> Input<'p> {
    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.nodes.samples
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.nodes.count
    }

    /// A sum of layers over nodes, the graph and what else there is, to be put together.
    pub fn sum(&self) -> Affine<'p> {
        Affine::new(self.nodes.pass, self.samples(), self.count())
    }

    /// Which pairs are neighbours.
    ///
    /// # Panics
    /// If the processor did not ask for it.
    pub fn neighbours(&self) -> Tensor<3, Bool> {
        self.adjacency.clone().expect("the processor asks for neighbours")
    }

    /// [`Input::neighbours`] as fused kernels read it.
    pub(crate) fn neighbour_mask(&self) -> Arc<Vec<bool>> {
        Arc::new(self.neighbours().into_data().iter::<bool>().collect())
    }
}

/// A sum of layers, a row for each node: computed at once, with one pass over the result.
#[must_use]
pub struct Affine<'p> {
    pass: &'p ForwardContext,
    samples: usize,
    count: usize,
    /// What a piece is multiplied with, `[B * N, inputs]`.
    of_nodes: Vec<(Tensor<2>, FoldedWeight)>,
    /// The same for all nodes of a sample, `[B, inputs]`.
    of_samples: Vec<(Tensor<2>, FoldedWeight)>,
    constants: Vec<FoldedWeight>,
}

impl<'p> Affine<'p> {
    pub(crate) fn new(pass: &'p ForwardContext, samples: usize, count: usize) -> Affine<'p> {
        Affine { pass, samples, count, of_nodes: Vec::new(), of_samples: Vec::new(), constants: Vec::new() }
    }

    /// A layer over encodings and hidden states of nodes.
    pub fn nodes(mut self, nodes: &Nodes<'_>, layer: Linear) -> Self {
        self.of_nodes.push((nodes.raw.clone(), FoldedWeight::Layer(layer, Place::Nodes)));
        if let Some(hidden) = &nodes.hidden {
            self.of_nodes.push((hidden.clone(), FoldedWeight::Block(layer.weight, 1)));
        }
        self.constants.push(FoldedWeight::LayerBias(layer, Place::Nodes));
        self
    }

    /// A layer over encodings of the graph.
    pub fn graph(mut self, graph: &Graph<'_>, layer: Linear) -> Self {
        self.of_samples.push((graph.raw.clone(), FoldedWeight::Layer(layer, Place::Graph)));
        self.constants.push(FoldedWeight::LayerBias(layer, Place::Graph));
        self
    }

    /// What a layer over encodings of edges adds to every edge.
    pub fn edge_bias(mut self, layer: Linear) -> Self {
        self.constants.push(FoldedWeight::LayerBias(layer, Place::Edges));
        self
    }

    /// A layer over rows of your own, `[B * N, inputs]`.
    pub fn over(mut self, layer: Linear, rows: Tensor<2>) -> Self {
        self.of_nodes.push((rows, FoldedWeight::Whole(layer.weight)));
        self.constants.push(FoldedWeight::Whole(layer.bias));
        self
    }

    /// Rows times a piece.
    pub(crate) fn times(mut self, rows: Tensor<2>, piece: FoldedWeight) -> Self {
        self.of_nodes.push((rows, piece));
        self
    }

    /// A piece that is added to all rows.
    pub(crate) fn constant(mut self, piece: FoldedWeight) -> Self {
        self.constants.push(piece);
        self
    }

    /// The sum, `[B * N, outputs]`.
    ///
    /// # Panics
    /// If it has no term with a row for each node.
    pub fn rows(self) -> Tensor<2> {
        let [rows, _] = self.of_nodes[0].0.dims();
        self.shaped(|outputs| [rows, outputs])
    }

    /// Its rectifier.
    ///
    /// # Panics
    /// As [`Affine::rows`].
    pub fn relu(self) -> Tensor<2> {
        let [rows, _] = self.of_nodes[0].0.dims();
        self.compute(true, |outputs| [rows, outputs])
    }

    /// The sum, `[B, N, outputs]`.
    ///
    /// # Panics
    /// As [`Affine::rows`].
    pub fn by_sample(self) -> Tensor<3> {
        let (samples, count) = (self.samples, self.count);
        self.shaped(|outputs| [samples, count, outputs])
    }

    /// The sum in any shape, by the number of outputs.
    pub(crate) fn shaped<const D: usize>(self, shape: impl Fn(usize) -> [usize; D]) -> Tensor<D> {
        self.compute(false, shape)
    }

    fn compute<const D: usize>(self, rectify: bool, shape: impl Fn(usize) -> [usize; D]) -> Tensor<D> {
        let Affine { pass, samples, count, of_nodes, of_samples, constants } = self;
        if pass.fused && of_nodes.len() + of_samples.len() <= fused::MAX_INPUTS {
            return fused::affine(pass, count, of_nodes, of_samples, constants, rectify, shape);
        }
        let add = |sum: Tensor<2>, more: Tensor<2>| sum + more;
        let products =
            |terms: Vec<(Tensor<2>, FoldedWeight)>| terms.into_iter().map(|(rows, piece)| rows.matmul(pass.piece(piece))).reduce(add);
        let mut sum = products(of_nodes).expect("a term at least");
        let constant = constants.into_iter().map(|piece| pass.piece(piece)).reduce(add);
        if let Some(of_samples) = products(of_samples) {
            let [_, outputs] = sum.dims();
            let of_samples = constant.map_or(of_samples.clone(), |constant| of_samples + constant);
            let rows = sum.reshape([samples, count, outputs]) + of_samples.reshape([samples, 1, outputs]);
            sum = rows.reshape([samples * count, outputs]);
        } else if let Some(constant) = constant {
            sum = sum + constant;
        }
        let sum = if rectify { relu(sum) } else { sum };
        let [_, outputs] = sum.dims();
        sum.reshape(shape(outputs))
    }
}

/// Features of nodes and their hidden states: what a layer reads is the encoding and the hidden state, `2 H` numbers.
#[derive(Clone)]
pub struct Nodes<'p> {
    pub(crate) pass: &'p ForwardContext,
    pub(crate) samples: usize,
    pub(crate) count: usize,
    /// `[B * N, channels]`
    pub(crate) raw: Tensor<2>,
    /// `[B * N, H]`, or nothing where all is 0.
    pub(crate) hidden: Option<Tensor<2>>,
}

impl Nodes<'_> {
    /// A layer over encoding and hidden state, `[B * N, outputs]`.
    pub fn rows(&self, layer: Linear) -> Tensor<2> {
        Affine::new(self.pass, self.samples, self.count).nodes(self, layer).rows()
    }

    /// The same, `[B, N, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<3> {
        Affine::new(self.pass, self.samples, self.count).nodes(self, layer).by_sample()
    }

    /// The encodings themselves, `[B * N, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        encoded(self.pass, self.raw.clone(), Place::Nodes)
    }

    /// The hidden states, `[B * N, H]`.
    pub fn hidden(&self) -> Tensor<2> {
        let zeros = || Tensor::zeros([self.samples * self.count, self.pass.hidden], &self.raw.device());
        self.hidden.clone().unwrap_or_else(zeros)
    }
}

/// Features of pairs of nodes.
#[derive(Clone)]
pub struct Edges<'p> {
    pub(crate) pass: &'p ForwardContext,
    /// `[B, N, N, channels]`: the first node, then the second.
    pub(crate) raw: Tensor<4>,
}

impl Edges<'_> {
    /// Raw channels, a row for each pair.
    pub(crate) fn raw_rows(&self) -> Tensor<2> {
        let [samples, count, _, channels] = self.raw.dims();
        self.raw.clone().reshape([samples * count * count, channels])
    }

    /// A layer over encodings, `[B, N, N, outputs]`, without what is the same for all edges: [`Edges::bias`].
    pub fn product(&self, layer: Linear) -> Tensor<4> {
        let [samples, count, ..] = self.raw.dims();
        let rows = self.raw_rows();
        let piece = FoldedWeight::Layer(layer, Place::Edges);
        Affine::new(self.pass, rows.dims()[0], 1).times(rows, piece).shaped(|outputs| [samples, count, count, outputs])
    }

    /// What a layer adds to every edge, `[1, outputs]`: cheaper to add to something smaller.
    pub fn bias(&self, layer: Linear) -> Tensor<2> {
        self.pass.piece(FoldedWeight::LayerBias(layer, Place::Edges))
    }

    /// The product for the edge from each node to itself, `[B, N, outputs]`.
    pub fn product_with_itself(&self, layer: Linear) -> Tensor<3> {
        let [samples, count, _, channels] = self.raw.dims();
        let eye = Tensor::<2>::eye(count, &self.raw.device()).reshape([1, count, count, 1]);
        let own = (self.raw.clone() * eye).sum_dim(1).reshape([samples * count, channels]);
        own.matmul(self.pass.piece(FoldedWeight::Layer(layer, Place::Edges))).reshape([samples, count, layer.outputs])
    }

    /// The encodings themselves, `[B, N, N, H]`: large.
    pub fn encoded(&self) -> Tensor<4> {
        let [samples, count, ..] = self.raw.dims();
        encoded(self.pass, self.raw_rows(), Place::Edges).reshape([samples, count, count, self.pass.hidden])
    }
}

/// Features of the graph.
#[derive(Clone)]
pub struct Graph<'p> {
    pub(crate) pass: &'p ForwardContext,
    /// `[B, channels]`
    pub(crate) raw: Tensor<2>,
}

impl Graph<'_> {
    /// A layer over encodings, `[B, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<2> {
        let sum = Affine::new(self.pass, self.raw.dims()[0], 1).times(self.raw.clone(), FoldedWeight::Layer(layer, Place::Graph));
        sum.constant(FoldedWeight::LayerBias(layer, Place::Graph)).rows()
    }

    /// The encodings themselves, `[B, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        encoded(self.pass, self.raw.clone(), Place::Graph)
    }
}

/// Encodings of raw channels, a row for each row.
fn encoded(pass: &ForwardContext, raw: Tensor<2>, place: Place) -> Tensor<2> {
    let sum = Affine::new(pass, raw.dims()[0], 1).times(raw, FoldedWeight::Encoders(place));
    sum.constant(FoldedWeight::EncoderBias(place)).rows()
}
