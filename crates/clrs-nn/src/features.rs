//! What a processor and the decoders read: features of nodes, edges and the graph, as raw channels.
//!
//! All encoders are linear: the encoding of a node is `x E + e`, where `x` holds the few numbers that its probes give. A layer
//! on top of it computes `(x E + e) W + b = x (E W) + (e W + b)`. So an edge carries its raw numbers and never `H` encoded ones;
//! the products `E W` are made once per pass, whatever the number of steps.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use burn::tensor::{Bool, Tensor};

use crate::fused::{Layers, Prepared};
use crate::parameters::{Handle, Linear, Weights};

/// The encoders of one location, put together.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    /// `[channels, H]`
    pub(crate) matrix: Tensor<2>,
    /// The sum of the biases of all its probes, `[1, H]`.
    pub(crate) bias: Tensor<2>,
}

/// A layer on top of the encoders.
#[derive(Clone, Debug)]
struct Composed {
    matrix: Tensor<2>,
    bias: Tensor<2>,
}

/// One pass through the network: the values of its parameters, and what was composed of them.
pub struct Pass {
    /// The values of all parameters.
    pub weights: Weights,
    /// Size of hidden vectors.
    pub hidden: usize,
    pub(crate) nodes: Encoding,
    pub(crate) edges: Encoding,
    pub(crate) graph: Encoding,
    composed: RefCell<HashMap<(Handle, Place), Composed>>,
    /// Whether fused kernels are used where there are some.
    pub(crate) fused: bool,
    prepared: RefCell<HashMap<Handle, Arc<Prepared>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nodes,
    Edges,
    Graph,
}

impl Pass {
    pub(crate) fn new(weights: Weights, hidden: usize, fused: bool, [nodes, edges, graph]: [Encoding; 3]) -> Pass {
        let (composed, prepared) = (RefCell::default(), RefCell::default());
        Pass { weights, hidden, nodes, edges, graph, composed, fused, prepared }
    }

    /// Layers as fused kernels read them, made once and found by the first of them.
    pub(crate) fn prepared(&self, first: Linear, layers: &Layers) -> Arc<Prepared> {
        let mut prepared = self.prepared.borrow_mut();
        Arc::clone(prepared.entry(first.weight).or_insert_with(|| Arc::new(layers.prepare())))
    }

    /// `x W + b` over rows of hidden vectors.
    pub fn linear(&self, layer: Linear, x: Tensor<2>) -> Tensor<2> {
        self.weights.linear(layer, x)
    }

    fn composed(&self, layer: Linear, place: Place) -> Composed {
        if let Some(composed) = self.composed.borrow().get(&(layer.weight, place)) {
            return composed.clone();
        }
        let encoding = match place {
            Place::Nodes => &self.nodes,
            Place::Edges => &self.edges,
            Place::Graph => &self.graph,
        };
        let weight = self.weights.get(layer.weight);
        let [inputs, _] = weight.dims();
        let first = weight.clone().slice([0..self.hidden]);
        let mut matrix = encoding.matrix.clone().matmul(first.clone());
        if place == Place::Nodes {
            // The rows for the hidden state follow those for the channels.
            matrix = Tensor::cat(vec![matrix, weight.slice([self.hidden..inputs.min(2 * self.hidden)])], 0);
        }
        let bias = encoding.bias.clone().matmul(first) + self.weights.get(layer.bias);
        let composed = Composed { matrix, bias };
        self.composed.borrow_mut().insert((layer.weight, place), composed.clone());
        composed
    }
}

/// What the processor is given in a step. `B` samples are alive, each of `N` nodes.
pub struct Input<'p> {
    /// Of nodes, hidden state included.
    pub nodes: Nodes<'p>,
    /// Of pairs of nodes.
    pub edges: Edges<'p>,
    /// Of the graph.
    pub graph: Graph<'p>,
    /// Which pairs are neighbours, `[B, N, N]`; a node is its own. There only if the processor asks for it.
    pub adjacency: Option<Tensor<3, Bool>>,
}

impl Input<'_> {
    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.nodes.samples
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.nodes.count
    }

    /// Which pairs are neighbours.
    ///
    /// # Panics
    /// If the processor did not ask for it.
    pub fn neighbours(&self) -> Tensor<3, Bool> {
        self.adjacency.clone().expect("the processor asks for neighbours")
    }
}

impl Input<'_> {
    /// [`Input::neighbours`] as fused kernels read it.
    pub(crate) fn neighbours_flat(&self) -> Arc<Vec<bool>> {
        Arc::new(self.neighbours().into_data().iter::<bool>().collect())
    }
}

/// Features of nodes and their hidden states: what a layer reads is the encoding and the hidden state, `2 H` numbers.
#[derive(Clone)]
pub struct Nodes<'p> {
    pub(crate) pass: &'p Pass,
    pub(crate) samples: usize,
    pub(crate) count: usize,
    /// `[B * N, channels]`
    pub(crate) raw: Tensor<2>,
    /// `[B * N, H]`, or nothing where all is 0.
    pub(crate) hidden: Option<Tensor<2>>,
    /// Both, side by side.
    joined: Tensor<2>,
}

impl<'p> Nodes<'p> {
    pub(crate) fn new(pass: &'p Pass, samples: usize, raw: Tensor<2>, hidden: Option<Tensor<2>>) -> Nodes<'p> {
        let count = raw.dims()[0] / samples;
        let joined = match &hidden {
            None => raw.clone(),
            Some(hidden) => Tensor::cat(vec![raw.clone(), hidden.clone()], 1),
        };
        Nodes { pass, samples, count, raw, hidden, joined }
    }

    /// The same nodes with other hidden states.
    #[must_use]
    pub(crate) fn with_hidden(&self, hidden: Tensor<2>) -> Nodes<'p> {
        Nodes::new(self.pass, self.samples, self.raw.clone(), Some(hidden))
    }

    /// A layer over encoding and hidden state, `[B * N, outputs]`.
    pub fn rows(&self, layer: Linear) -> Tensor<2> {
        let Composed { mut matrix, bias } = self.pass.composed(layer, Place::Nodes);
        if self.hidden.is_none() {
            matrix = matrix.slice([0..self.raw.dims()[1]]);
        }
        self.joined.clone().matmul(matrix) + bias
    }

    /// The same, `[B, N, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<3> {
        self.rows(layer).reshape([self.samples, self.count, layer.outputs])
    }

    /// The encodings themselves, `[B * N, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        self.raw.clone().matmul(self.pass.nodes.matrix.clone()) + self.pass.nodes.bias.clone()
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
    pub(crate) pass: &'p Pass,
    /// `[B, N, N, channels]`: the first node, then the second.
    pub(crate) raw: Tensor<4>,
}

impl Edges<'_> {
    /// A layer over encodings, `[B, N, N, outputs]`, without what is the same for all edges: [`Edges::bias`].
    pub fn product(&self, layer: Linear) -> Tensor<4> {
        let [samples, count, _, channels] = self.raw.dims();
        let rows = self.raw.clone().reshape([samples * count * count, channels]);
        rows.matmul(self.pass.composed(layer, Place::Edges).matrix).reshape([samples, count, count, layer.outputs])
    }

    /// The matrix of a layer over raw channels, `[channels, outputs]`.
    pub(crate) fn matrix(&self, layer: Linear) -> Tensor<2> {
        self.pass.composed(layer, Place::Edges).matrix
    }

    /// What a layer adds to every edge, `[1, outputs]`: cheaper to add to something smaller.
    pub fn bias(&self, layer: Linear) -> Tensor<2> {
        self.pass.composed(layer, Place::Edges).bias
    }

    /// The product for the edge from each node to itself, `[B, N, outputs]`.
    pub fn product_with_itself(&self, layer: Linear) -> Tensor<3> {
        let [samples, count, _, channels] = self.raw.dims();
        let eye = Tensor::<2>::eye(count, &self.raw.device()).reshape([1, count, count, 1]);
        let own = (self.raw.clone() * eye).sum_dim(1).reshape([samples * count, channels]);
        own.matmul(self.pass.composed(layer, Place::Edges).matrix).reshape([samples, count, layer.outputs])
    }

    /// The encodings themselves, `[B, N, N, H]`: large.
    pub fn encoded(&self) -> Tensor<4> {
        let [samples, count, _, channels] = self.raw.dims();
        let rows = self.raw.clone().reshape([samples * count * count, channels]);
        let encoded = rows.matmul(self.pass.edges.matrix.clone()) + self.pass.edges.bias.clone();
        encoded.reshape([samples, count, count, self.pass.hidden])
    }
}

/// Features of the graph.
#[derive(Clone)]
pub struct Graph<'p> {
    pub(crate) pass: &'p Pass,
    /// `[B, channels]`
    pub(crate) raw: Tensor<2>,
}

impl Graph<'_> {
    /// A layer over encodings, `[B, outputs]`.
    pub fn project(&self, layer: Linear) -> Tensor<2> {
        let Composed { matrix, bias } = self.pass.composed(layer, Place::Graph);
        self.raw.clone().matmul(matrix) + bias
    }

    /// The encodings themselves, `[B, H]`.
    pub fn encoded(&self) -> Tensor<2> {
        self.raw.clone().matmul(self.pass.graph.matrix.clone()) + self.pass.graph.bias.clone()
    }
}
