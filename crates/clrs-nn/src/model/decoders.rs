//! Decoders: from hidden states to the logits of each probe, `[B, R, K]`.

use std::cell::OnceCell;

use burn::tensor::Tensor as BurnTensor;
use burn::tensor::activation::{log_softmax, relu};
use clrs::{Kind, Location, Probe, Spec, Stage};
use clrs_kernels::sinkhorn::{MASK_VALUE, TEMPERATURE};

use super::encoders::is_pointer;
use crate::config::model::ModelConfig;
use crate::exec::adjacency::Adjacency;
use crate::exec::context::ForwardContext;
use crate::exec::features::{Affine, EdgeFeatures, GraphFeatures, NodeFeatures};
use crate::exec::fused;
use crate::exec::parameters::{Linear, Owner, ParameterBuilder};
use crate::exec::tensor::Tensor;
use crate::exec::weights::{FoldedWeight, NodeTerm};

/// Inputs of the decoders after a step.
#[derive(Clone)]
pub(super) struct DecoderInput<'c> {
    /// Nodes with their hidden states before the step.
    pub(super) nodes: NodeFeatures<'c>,
    /// Hidden states after the step, `[B * N, H]`.
    pub(super) next: Tensor<2>,
    pub(super) edges: EdgeFeatures<'c>,
    /// Edge states of the processor, `[B, N, N, H]`.
    pub(super) edge_state: Option<Tensor<4>>,
    pub(super) graph: GraphFeatures<'c>,
    /// Pairs that may be chosen, if the processor restricts them.
    pub(super) allowed: Option<Adjacency>,
    pub(super) cache: DecoderCache,
}

/// Intermediate results that several decoders share, computed on first use.
#[derive(Clone, Default)]
pub(super) struct DecoderCache {
    /// Max-pooled nodes, `[B, 3 H]`.
    max_pool: OnceCell<Tensor<2>>,
    /// Decoders of all hints that read nodes alone, side by side, `[B * N, outputs]`.
    node_hints: OnceCell<Tensor<2>>,
}

impl<'c> DecoderInput<'c> {
    /// A range of samples.
    pub(super) fn slice(&self, samples: std::ops::Range<usize>) -> DecoderInput<'c> {
        if samples == (0..self.nodes.samples) {
            return self.clone();
        }
        let n = self.nodes.nodes;
        let rows = samples.start * n..samples.end * n;
        let hidden = self.nodes.hidden.clone().map(|hidden| hidden.rows(rows.clone()));
        let raw = self.nodes.raw.clone().rows(rows.clone());
        DecoderInput {
            nodes: NodeFeatures { ctx: self.nodes.ctx, samples: samples.len(), nodes: n, raw, hidden },
            next: self.next.clone().rows(rows),
            edges: EdgeFeatures { raw: self.edges.raw.clone().rows(samples.clone()), ..self.edges },
            edge_state: self.edge_state.clone().map(|state| state.rows(samples.clone())),
            graph: GraphFeatures { raw: self.graph.raw.clone().rows(samples.clone()), ..self.graph },
            allowed: self.allowed.as_ref().map(|allowed| allowed.slice(samples)),
            cache: DecoderCache::default(),
        }
    }

    /// Concatenates the samples of several inputs.
    pub(super) fn concatenate(inputs: Vec<DecoderInput<'c>>) -> DecoderInput<'c> {
        if inputs.len() == 1 {
            return inputs.into_iter().next().expect("one");
        }
        let ctx = inputs[0].nodes.ctx;
        let samples = inputs.iter().map(|input| input.nodes.samples).sum();
        let all = |rows: &dyn Fn(&DecoderInput<'c>) -> Tensor<2>| Tensor::cat(inputs.iter().map(rows).collect(), 0);
        let hidden = all(&|input| input.nodes.hidden());
        let edges = EdgeFeatures { ctx, raw: Tensor::cat(inputs.iter().map(|input| input.edges.raw.clone()).collect(), 0) };
        let state: Option<Vec<Tensor<4>>> = inputs.iter().map(|input| input.edge_state.clone()).collect();
        let allowed: Option<Vec<Adjacency>> = inputs.iter().map(|input| input.allowed.clone()).collect();
        DecoderInput {
            nodes: NodeFeatures {
                ctx,
                samples,
                nodes: inputs[0].nodes.nodes,
                raw: all(&|input| input.nodes.raw.clone()),
                hidden: Some(hidden),
            },
            next: all(&|input| input.next.clone()),
            edges,
            edge_state: state.map(|inputs| Tensor::cat(inputs, 0)),
            graph: GraphFeatures { ctx, raw: all(&|input| input.graph.raw.clone()) },
            allowed: allowed.map(|inputs| Adjacency::cat(&inputs)),
            cache: DecoderCache::default(),
        }
    }

    /// A layer over node encodings and hidden states before and after the step.
    fn nodes(&self, layer: Linear) -> Affine<'c> {
        let NodeFeatures { ctx, samples, nodes, .. } = self.nodes;
        let next = (self.next.clone(), FoldedWeight::Block(layer.weight, 2));
        Affine::new(ctx, samples, nodes).nodes(&self.nodes, layer).product(next.0, next.1)
    }

    /// The products of a layer over pairs: with edge encodings, and with edge states if there are any.
    fn edge_terms(&self, layer: Linear) -> Vec<(Tensor<2>, FoldedWeight)> {
        let mut terms = vec![(self.edges.raw_rows(), FoldedWeight::Layer(layer, Location::Edge))];
        if let Some(state) = &self.edge_state {
            let [b, n, _, h] = state.dims();
            terms.push((state.clone().reshape([b * n * n, h]), FoldedWeight::Block(layer.weight, 1)));
        }
        terms
    }

    /// A layer over edge encodings and edge states, `[B, N, N, outputs]`, without [`EdgeFeatures::bias`].
    fn edges(&self, layer: Linear) -> Tensor<4> {
        let [b, n, ..] = self.edges.raw.dims();
        let sum = Affine::new(self.nodes.ctx, b * n * n, 1);
        let sum = self.edge_terms(layer).into_iter().fold(sum, |sum, (rows, weight)| sum.product(rows, weight));
        sum.shaped(|outputs| [b, n, n, outputs])
    }

    /// Layers over both nodes of a pair and their edge, `[B, N, N, outputs]`.
    fn pairs(&self, first: Linear, second: Linear, edge: Linear) -> Tensor<4> {
        let (b, n, outputs) = (self.nodes.samples, self.nodes.nodes, edge.outputs);
        let (first, second) = (self.nodes(first).by_sample(), self.nodes(second).edge_bias(edge).by_sample());
        if self.nodes.ctx.fused {
            return fused::pairs(self.nodes.ctx, first, second, self.edge_terms(edge));
        }
        self.edges(edge) + first.reshape([b, n, 1, outputs]) + second.reshape([b, 1, n, outputs])
    }

    /// A layer over edge states, `[B * N * N, outputs]`, if there are any.
    fn edge_states(&self, layer: Linear) -> Option<Tensor<2>> {
        let state = self.edge_state.as_ref()?;
        let [b, n, _, h] = state.dims();
        let rows = state.clone().reshape([b * n * n, h]);
        Some(Affine::new(self.nodes.ctx, b * n * n, 1).product(rows, FoldedWeight::Block(layer.weight, 1)).rows())
    }

    /// Maximum over nodes of encodings and of hidden states before and after the step, `[B, 3 H]`.
    fn max_pool(&self) -> Tensor<2> {
        let (b, n, h) = (self.nodes.samples, self.nodes.nodes, self.nodes.ctx.hidden);
        let max_pool = |rows: Tensor<2>| {
            if self.nodes.ctx.fused {
                return fused::max_pool(self.nodes.ctx, rows, n);
            }
            rows.burn().reshape([b, n, h]).max_dim(1).reshape([b, h]).into()
        };
        let pooled = || vec![max_pool(self.nodes.encoded()), max_pool(self.nodes.hidden()), max_pool(self.next.clone())];
        self.cache.max_pool.get_or_init(|| Tensor::cat(pooled(), 1)).clone()
    }

    /// Decoders of all hints that read nodes alone, side by side, `[B * N, outputs]`: a layer of one output leaves most of a
    /// SIMD register empty, and its gradient is as large as the hidden states.
    fn node_hints(&self) -> Tensor<2> {
        let NodeFeatures { ctx, samples, nodes, ref raw, ref hidden } = self.nodes;
        let weight = FoldedWeight::NodeHints;
        let sum = || {
            let mut sum = Affine::new(ctx, samples, nodes).product(raw.clone(), weight(NodeTerm::Raw));
            if let Some(hidden) = hidden {
                sum = sum.product(hidden.clone(), weight(NodeTerm::Hidden));
            }
            sum.product(self.next.clone(), weight(NodeTerm::Next)).constant(weight(NodeTerm::Bias)).rows()
        };
        self.cache.node_hints.get_or_init(sum).clone()
    }

    /// Lowers the logits of pairs that may not be chosen below all others, `[B, N, N]`.
    fn mask(&self, logits: Tensor<3>) -> Tensor<3> {
        let Some(allowed) = &self.allowed else { return logits };
        if self.nodes.ctx.fused {
            return fused::mask_logits(self.nodes.ctx, logits, allowed.host());
        }
        let ([b, n, _], logits) = (logits.dims(), logits.burn());
        let least = logits.clone().reshape([b, n * n]).min_dim(1);
        let below = (least - 1.0).clamp_max(-1.0).reshape([b, 1, 1]).expand([b, n, n]);
        below.mask_where(allowed.burn(), logits).into()
    }
}

/// The decoder of one probe.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    /// Index of the probe in the spec.
    pub(super) probe: usize,
    layers: Vec<Linear>,
    /// First column in [`DecoderInput::node_hints`], if it is a hint that reads nodes alone.
    column: Option<usize>,
}

/// The decoders of a task: outputs, then hints.
#[derive(Clone, Debug)]
pub(super) struct Decoders {
    list: Vec<Decoder>,
    /// Layers of the hints that read nodes alone.
    pub(super) node_hints: Vec<Linear>,
}

impl Decoders {
    /// Creates the layers of all probes that are decoded.
    pub(super) fn new(
        algorithm: &str,
        index: usize,
        spec: &Spec,
        edge_state: bool,
        config: &ModelConfig,
        builder: &mut ParameterBuilder,
    ) -> Decoders {
        let dm_clrs_prefix = format!("net/~_construct_encoders_decoders/algo_{index}_");
        builder.scope(Owner::Algorithm(index), format!("{algorithm}/decoder/"), &*dm_clrs_prefix);
        let hints = config.hint_mode.decodes();
        let is_decoded = |probe: &Probe| probe.stage == Stage::Output || probe.stage == Stage::Hint && hints;
        let decoder = |(index, probe): (usize, &Probe)| Decoder::new(index, probe, edge_state, config.hidden, builder);
        let mut list: Vec<Decoder> = spec.iter().enumerate().filter(|(_, probe)| is_decoded(probe)).map(decoder).collect();
        let (mut node_hints, mut columns) = (Vec::new(), 0);
        for decoder in list.iter_mut().filter(|decoder| spec[decoder.probe].stage == Stage::Hint) {
            if let [layer] = decoder.layers[..] {
                decoder.column = Some(columns);
                columns += layer.outputs;
                node_hints.push(layer);
            }
        }
        Decoders { list, node_hints }
    }

    /// Decoders of a stage.
    pub(super) fn of<'d>(&'d self, spec: &'d Spec, stage: Stage) -> impl Iterator<Item = &'d Decoder> {
        self.list.iter().filter(move |decoder| spec[decoder.probe].stage == stage)
    }
}

impl Decoder {
    fn new(index: usize, probe: &Probe, edge_state: bool, h: usize, builder: &mut ParameterBuilder) -> Decoder {
        let (node, edge, graph) = (3 * h, if edge_state { 2 * h } else { h }, h);
        let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 1 };
        let shapes: Vec<(&str, usize, usize)> = match (probe.location, is_pointer(probe.kind)) {
            (Location::Node, false) => vec![("node", node, classes)],
            (Location::Node, true) => vec![("from", node, h), ("to", node, h), ("edge", edge, h), ("last", h, 1)],
            (Location::Edge, false) => vec![("first", node, classes), ("second", node, classes), ("edge", edge, classes)],
            (Location::Edge, true) => {
                vec![("first", node, h), ("second", node, h), ("edge", edge, h), ("to", node, h), ("last", h, 1)]
            }
            (Location::Graph, _) => vec![("nodes", node, classes), ("graph", graph, classes)],
        };
        let layer = |(number, (name, inputs, outputs)): (usize, (&str, usize, usize))| {
            let suffix = if number == 0 { String::new() } else { format!("_{number}") };
            let name = if shapes.len() == 1 { probe.name.to_string() } else { format!("{}/{name}", probe.name) };
            builder.linear((&*name, &*format!("{}_dec_linear{suffix}", probe.name)), inputs, outputs)
        };
        Decoder { probe: index, layers: shapes.clone().into_iter().enumerate().map(layer).collect(), column: None }
    }

    /// Logits of the probe, `[B, R, K]`. Those of permutations are not normalized yet.
    pub(super) fn logits(&self, probe: &Probe, ctx: &ForwardContext, input: &DecoderInput<'_>) -> Tensor<3> {
        let (b, n) = (input.nodes.samples, input.nodes.nodes);
        match (probe.location, &self.layers[..]) {
            (Location::Node, &[node]) => {
                let shape = if probe.kind == Kind::MaskOne { [b, 1, n] } else { [b, n, node.outputs] };
                match self.column {
                    Some(from) if ctx.fused => input.node_hints().narrow(1, from..from + node.outputs).reshape(shape),
                    _ => input.nodes(node).shaped(|_| shape),
                }
            }
            (Location::Node, &[from, to, edge, last]) => {
                // max(p, q) w = p w + relu(q - p) w, so only the differences are stored for pairs.
                let h = ctx.hidden;
                let (from, to) = (input.nodes(from).rows(), input.nodes(to).edge_bias(edge).rows());
                if ctx.fused {
                    return input.mask(fused::pointers(
                        ctx,
                        from,
                        to,
                        input.edges.raw.clone(),
                        edge,
                        last,
                        input.edge_states(edge),
                    ));
                }
                let (weight, bias) = (ctx.parameter(last.weight), ctx.parameter(last.bias));
                let (from, to) = (from.burn(), to.burn());
                let edges = input.edges(edge).burn().swap_dims(1, 2); // the edge as seen from the node pointed to
                let above = edges + to.reshape([b, 1, n, h]) - from.clone().reshape([b, n, 1, h]);
                let logits = relu(above).reshape([b * n * n, h]).matmul(weight.clone()).reshape([b, n, n])
                    + (from.matmul(weight) + bias).reshape([b, n, 1]);
                input.mask(logits.into())
            }
            (Location::Edge, &[first, second, edge]) => {
                let logits = input.pairs(first, second, edge);
                if probe.kind == Kind::Mask {
                    return input.mask(logits.reshape([b, n, n])).reshape([b, n * n, 1]);
                }
                logits.reshape([b, n * n, edge.outputs])
            }
            (Location::Edge, &[first, second, edge, to, last]) => {
                let h = ctx.hidden;
                let (pairs, to) = (input.pairs(first, second, edge), input.nodes(to).rows());
                if ctx.fused {
                    return fused::edge_pointers(ctx, pairs, to, last);
                }
                let (weight, bias) = (ctx.parameter(last.weight), ctx.parameter(last.bias).reshape([1, 1, 1]));
                let (pairs, to) = (pairs.burn(), to.burn().reshape([b, 1, n, h]));
                // One first node at a time: all triplets at once would not fit into memory.
                let logits = |first: usize| {
                    let pairs = pairs.clone().slice([0..b, first..first + 1]).reshape([b, n, 1, h]);
                    let above = relu(to.clone() - pairs.clone()).reshape([b * n * n, h]).matmul(weight.clone());
                    let base = pairs.reshape([b * n, h]).matmul(weight.clone()).reshape([b, n, 1]);
                    above.reshape([b, n, n]) + base
                };
                (BurnTensor::cat((0..n).map(logits).collect(), 1) + bias).into()
            }
            (Location::Graph, &[nodes, graph]) => {
                Affine::new(ctx, b, 1).over(nodes, input.max_pool()).graph(&input.graph, graph).by_sample()
            }
            _ => unreachable!("`Decoder::new` creates no other layers"),
        }
    }
}

/// Sinkhorn iterations inside the decoder of a permutation, as in dm-clrs.
pub(super) const SINKHORN_DECODER: usize = 10;

/// Log-probabilities of a permutation: each `[N, N]` becomes nearly doubly stochastic (Sinkhorn's method), with an excluded diagonal.
pub(super) fn log_sinkhorn(ctx: &ForwardContext, logits: Tensor<3>, iterations: usize) -> Tensor<3> {
    if ctx.fused {
        return fused::log_sinkhorn(ctx, logits, iterations);
    }
    let ([_, n, _], logits) = (logits.dims(), logits.burn());
    let diagonal = BurnTensor::<2>::eye(n, &logits.device()).reshape([1, n, n]) * MASK_VALUE;
    let start = logits / TEMPERATURE + diagonal;
    (0..iterations).fold(start, |logits, _| log_softmax(log_softmax(logits, 2), 1)).into()
}
