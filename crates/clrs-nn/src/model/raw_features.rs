//! What probes say in a step, as channels.

use burn::tensor::{Bool, Device, Int, Tensor};
use clrs::Probe;

use crate::model::encoders::{Channels, Encoder, neighbours};

/// What probes say: channels of nodes, edges and the graph, and who is whose neighbour.
#[derive(Clone, Default)]
pub(crate) struct RawFeatures {
    nodes: Vec<Tensor<3>>,
    edges: Vec<Tensor<4>>,
    graph: Vec<Tensor<2>>,
    pub(crate) neighbours: Option<Tensor<3, Bool>>,
    count: usize,
}

impl RawFeatures {
    pub(crate) fn add(&mut self, probe: &Probe, nodes: usize, value: Tensor<3>, encoder: &Encoder) {
        self.count = nodes;
        if let Some(known) = &self.neighbours
            && let Some(more) = neighbours(probe, nodes, &value)
        {
            self.neighbours = Some(known.clone().bool_or(more));
        }
        match encoder.channels(probe, nodes, value) {
            Channels::Nodes(channels) => self.nodes.push(channels),
            Channels::Edges(channels) => self.edges.push(channels),
            Channels::Graph(channels) => self.graph.push(channels),
        }
    }

    pub(crate) fn nodes_count(&self) -> usize {
        self.count
    }

    /// Puts channels together, so that steps need not.
    pub(crate) fn join(&mut self) {
        join(&mut self.nodes);
        join(&mut self.edges);
        join(&mut self.graph);
    }

    /// The first samples alone.
    pub(crate) fn slice(&self, samples: usize) -> RawFeatures {
        RawFeatures {
            nodes: self.nodes.iter().map(|channels| first(channels, samples)).collect(),
            edges: self.edges.iter().map(|channels| first(channels, samples)).collect(),
            graph: self.graph.iter().map(|channels| first(channels, samples)).collect(),
            neighbours: self.neighbours.clone().map(|pairs| pairs.slice([0..samples])),
            count: self.count,
        }
    }

    /// Some samples, by their places.
    pub(crate) fn select(&self, places: &Tensor<1, Int>) -> RawFeatures {
        RawFeatures {
            nodes: self.nodes.iter().map(|channels| channels.clone().select(0, places.clone())).collect(),
            edges: self.edges.iter().map(|channels| channels.clone().select(0, places.clone())).collect(),
            graph: self.graph.iter().map(|channels| channels.clone().select(0, places.clone())).collect(),
            neighbours: self.neighbours.clone().map(|pairs| pairs.select(0, places.clone())),
            count: self.count,
        }
    }

    /// Side by side: of nodes `[B * N, channels]`, of edges `[B, N, N, channels]`, of the graph `[B, channels]`.
    pub(crate) fn channels(&mut self, b: usize, n: usize, device: &Device) -> (Tensor<2>, Tensor<4>, Tensor<2>) {
        if self.nodes.is_empty() {
            self.nodes.push(Tensor::zeros([b, n, 1], device));
        }
        if self.edges.is_empty() {
            self.edges.push(Tensor::zeros([b, n, n, 1], device));
        }
        if self.graph.is_empty() {
            self.graph.push(Tensor::zeros([b, 1], device));
        }
        self.join();
        let nodes = self.nodes.remove(0);
        let [_, _, channels] = nodes.dims();
        (nodes.reshape([b * n, channels]), self.edges.remove(0), self.graph.remove(0))
    }
}

/// Channels side by side.
fn join<const D: usize>(channels: &mut Vec<Tensor<D>>) {
    if channels.len() > 1 {
        *channels = vec![Tensor::cat(std::mem::take(channels), D - 1)];
    }
}

/// The first samples of some.
pub(crate) fn first<const D: usize>(of: &Tensor<D>, samples: usize) -> Tensor<D> {
    if of.dims()[0] == samples { of.clone() } else { of.clone().slice([0..samples]) }
}
