//! Raw channels of all probes that a step reads.

use clrs::Probe;

use super::encoders::{Channels, Encoder, connection_threshold};
use crate::exec::adjacency::Adjacency;
use crate::exec::context::ForwardContext;
use crate::exec::tensor::Tensor;

/// Raw channels of nodes, edges and the graph, and the adjacency matrix.
#[derive(Clone, Default)]
pub(super) struct RawFeatures {
    node_channels: Vec<Tensor<3>>,
    edge_channels: Vec<Tensor<4>>,
    graph_channels: Vec<Tensor<2>>,
    /// Only tracked if it is present from the start.
    pub(super) adjacency: Option<Adjacency>,
    samples: usize,
    nodes: usize,
}

impl RawFeatures {
    /// Adds the channels of a probe, `value` being `[B, R, K]`.
    pub(super) fn add(&mut self, probe: &Probe, nodes: usize, value: Tensor<3>, encoder: &Encoder) {
        (self.samples, self.nodes) = (value.dims()[0], nodes);
        if let Some(threshold) = connection_threshold(probe) {
            self.adjacency = self.adjacency.take().map(|known| known.connect(value.clone(), threshold));
        }
        match encoder.channels(probe, nodes, value) {
            Channels::Nodes(channels) => self.node_channels.push(channels),
            Channels::Edges(channels) => self.edge_channels.push(channels),
            Channels::Graph(channels) => self.graph_channels.push(channels),
        }
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Concatenates the channels of each location, so that steps do not have to.
    pub(super) fn join(&mut self) {
        join(&mut self.node_channels);
        join(&mut self.edge_channels);
        join(&mut self.graph_channels);
    }

    /// The first samples.
    pub(super) fn slice(&self, samples: usize) -> RawFeatures {
        RawFeatures {
            node_channels: self.node_channels.iter().map(|channels| first(channels, samples)).collect(),
            edge_channels: self.edge_channels.iter().map(|channels| first(channels, samples)).collect(),
            graph_channels: self.graph_channels.iter().map(|channels| first(channels, samples)).collect(),
            adjacency: self.adjacency.as_ref().map(|adjacency| adjacency.slice(0..samples)),
            samples,
            nodes: self.nodes,
        }
    }

    /// Samples by index.
    pub(super) fn index_select(&self, samples: &[usize]) -> RawFeatures {
        RawFeatures {
            node_channels: self.node_channels.iter().map(|channels| channels.clone().index_select(samples)).collect(),
            edge_channels: self.edge_channels.iter().map(|channels| channels.clone().index_select(samples)).collect(),
            graph_channels: self.graph_channels.iter().map(|channels| channels.clone().index_select(samples)).collect(),
            adjacency: self.adjacency.as_ref().map(|adjacency| adjacency.index_select(samples)),
            samples: samples.len(),
            nodes: self.nodes,
        }
    }

    /// Channels of nodes, `[B * N, channels]`, edges, `[B, N, N, channels]`, and the graph, `[B, channels]`. A location without
    /// probes has one channel of zeros.
    pub(super) fn into_channels(mut self, ctx: &ForwardContext) -> (Tensor<2>, Tensor<4>, Tensor<2>) {
        let (b, n) = (self.samples, self.nodes);
        if self.node_channels.is_empty() {
            self.node_channels.push(ctx.zeros([b, n, 1]));
        }
        if self.edge_channels.is_empty() {
            self.edge_channels.push(ctx.zeros([b, n, n, 1]));
        }
        if self.graph_channels.is_empty() {
            self.graph_channels.push(ctx.zeros([b, 1]));
        }
        self.join();
        let nodes = self.node_channels.remove(0);
        let [_, _, channels] = nodes.dims();
        (nodes.reshape([b * n, channels]), self.edge_channels.remove(0), self.graph_channels.remove(0))
    }
}

fn join<const D: usize>(channels: &mut Vec<Tensor<D>>) {
    if channels.len() > 1 {
        *channels = vec![Tensor::cat(std::mem::take(channels), D - 1)];
    }
}

/// The first samples of a tensor.
pub(super) fn first<const D: usize>(tensor: &Tensor<D>, samples: usize) -> Tensor<D> {
    if tensor.dims()[0] == samples { tensor.clone() } else { tensor.clone().rows(0..samples) }
}
