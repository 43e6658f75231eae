//! Decoders: from hidden states to the logits of a probe, `[B, R, K]`.

use std::cell::OnceCell;

use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Bool, Tensor};
use clrs::{Kind, Location, Probe, Spec, Stage};

use crate::model::encoders::{Place, is_pointer};
use crate::exec::features::{Affine, Edges, Graph, Nodes, ForwardContext};
use crate::exec::fused;
use crate::exec::parameters::{ParameterBuilder, Linear, Owner};
use crate::config::model::ModelConfig;
use crate::exec::weights::{FoldedWeight, Term};

/// What decoders read after a step.
#[derive(Clone)]
pub(crate) struct Read<'p> {
    /// With the hidden states before the step.
    pub(crate) nodes: Nodes<'p>,
    /// The hidden states after it, `[B * N, H]`.
    pub(crate) next: Tensor<2>,
    pub(crate) edges: Edges<'p>,
    /// What the processor says of pairs of nodes, `[B, N, N, H]`.
    pub(crate) edge_state: Option<Tensor<4>>,
    pub(crate) graph: Graph<'p>,
    /// The only pairs that may be chosen, `[B, N, N]`.
    pub(crate) allowed: Option<Tensor<3, Bool>>,
    pub(crate) once: Once,
}

/// What several decoders read, made when it is first asked for.
#[derive(Clone, Default)]
pub(crate) struct Once {
    /// The largest of each number among nodes, `[B, 3 H]`.
    max_pool: OnceCell<Tensor<2>>,
    /// The layers of all hints that read nodes alone, side by side, `[B * N, outputs]`.
    joined: OnceCell<Tensor<2>>,
}

impl<'p> Read<'p> {
    /// The samples in a range alone.
    pub(crate) fn slice(&self, samples: std::ops::Range<usize>) -> Read<'p> {
        if samples == (0..self.nodes.samples) {
            return self.clone();
        }
        let n = self.nodes.count;
        let rows = samples.start * n..samples.end * n;
        let hidden = self.nodes.hidden.clone().map(|hidden| hidden.slice([rows.clone()]));
        let raw = self.nodes.raw.clone().slice([rows.clone()]);
        Read {
            nodes: Nodes { pass: self.nodes.pass, samples: samples.len(), count: n, raw, hidden },
            next: self.next.clone().slice([rows]),
            edges: Edges { raw: self.edges.raw.clone().slice([samples.clone()]), ..self.edges },
            edge_state: self.edge_state.clone().map(|state| state.slice([samples.clone()])),
            graph: Graph { raw: self.graph.raw.clone().slice([samples.clone()]), ..self.graph },
            allowed: self.allowed.clone().map(|allowed| allowed.slice([samples])),
            once: Once::default(),
        }
    }

    /// Several, end to end.
    pub(crate) fn concatenate(parts: Vec<Read<'p>>) -> Read<'p> {
        if parts.len() == 1 {
            return parts.into_iter().next().expect("one");
        }
        let pass = parts[0].nodes.pass;
        let samples = parts.iter().map(|part| part.nodes.samples).sum();
        let all = |rows: &dyn Fn(&Read<'p>) -> Tensor<2>| Tensor::cat(parts.iter().map(rows).collect(), 0);
        let hidden = all(&|part| part.nodes.hidden());
        let edges = Edges { pass, raw: Tensor::cat(parts.iter().map(|part| part.edges.raw.clone()).collect(), 0) };
        let state: Option<Vec<Tensor<4>>> = parts.iter().map(|part| part.edge_state.clone()).collect();
        let allowed: Option<Vec<Tensor<3, Bool>>> = parts.iter().map(|part| part.allowed.clone()).collect();
        Read {
            nodes: Nodes {
                pass,
                samples,
                count: parts[0].nodes.count,
                raw: all(&|part| part.nodes.raw.clone()),
                hidden: Some(hidden),
            },
            next: all(&|part| part.next.clone()),
            edges,
            edge_state: state.map(|parts| Tensor::cat(parts, 0)),
            graph: Graph { pass, raw: all(&|part| part.graph.raw.clone()) },
            allowed: allowed.map(|parts| Tensor::cat(parts, 0)),
            once: Once::default(),
        }
    }

    /// A layer over a node's encoding and its hidden states before and after.
    fn sum(&self, layer: Linear) -> Affine<'p> {
        let Nodes { pass, samples, count, .. } = self.nodes;
        Affine::new(pass, samples, count).nodes(&self.nodes, layer).times(self.next.clone(), FoldedWeight::Block(layer.weight, 2))
    }

    /// Rows of pairs and what a layer multiplies them with: their encodings, and their state if there is one.
    fn of_pairs(&self, layer: Linear) -> Vec<(Tensor<2>, FoldedWeight)> {
        let mut of_pairs = vec![(self.edges.raw_rows(), FoldedWeight::Layer(layer, Place::Edges))];
        if let Some(state) = &self.edge_state {
            let [b, n, _, h] = state.dims();
            of_pairs.push((state.clone().reshape([b * n * n, h]), FoldedWeight::Block(layer.weight, 1)));
        }
        of_pairs
    }

    /// A layer over an edge's encoding and its state, `[B, N, N, outputs]`, without [`Edges::bias`].
    fn edges(&self, layer: Linear) -> Tensor<4> {
        let [b, n, ..] = self.edges.raw.dims();
        let sum = Affine::new(self.nodes.pass, b * n * n, 1);
        let sum = self.of_pairs(layer).into_iter().fold(sum, |sum, (rows, piece)| sum.times(rows, piece));
        sum.shaped(|outputs| [b, n, n, outputs])
    }

    /// Layers over both nodes of a pair and their edge, `[B, N, N, outputs]`.
    fn pairs(&self, first: Linear, second: Linear, edge: Linear) -> Tensor<4> {
        let (b, n, outputs) = (self.nodes.samples, self.nodes.count, edge.outputs);
        let (first, second) = (self.sum(first).by_sample(), self.sum(second).edge_bias(edge).by_sample());
        if self.nodes.pass.fused {
            return fused::pairs(self.nodes.pass, first, second, self.of_pairs(edge));
        }
        self.edges(edge) + first.reshape([b, n, 1, outputs]) + second.reshape([b, 1, n, outputs])
    }

    /// What a layer makes of the state of edges, `[B * N * N, outputs]`, if there is one.
    fn state(&self, layer: Linear) -> Option<Tensor<2>> {
        let state = self.edge_state.as_ref()?;
        let [b, n, _, h] = state.dims();
        let rows = state.clone().reshape([b * n * n, h]);
        Some(Affine::new(self.nodes.pass, b * n * n, 1).times(rows, FoldedWeight::Block(layer.weight, 1)).rows())
    }

    /// The largest of each number among nodes, `[B, 3 H]`.
    fn max_pool(&self) -> Tensor<2> {
        let (b, n, h) = (self.nodes.samples, self.nodes.count, self.nodes.pass.hidden);
        let max_pool = |rows: Tensor<2>| {
            if self.nodes.pass.fused {
                return fused::max_pool(self.nodes.pass, rows, n);
            }
            rows.reshape([b, n, h]).max_dim(1).reshape([b, h])
        };
        let parts = || vec![max_pool(self.nodes.encoded()), max_pool(self.nodes.hidden()), max_pool(self.next.clone())];
        self.once.max_pool.get_or_init(|| Tensor::cat(parts(), 1)).clone()
    }

    /// The layers of all hints that read nodes alone, side by side, `[B * N, outputs]`: a layer of one output leaves most of a
    /// register empty, and has a gradient as large as the hidden states.
    fn joined(&self) -> Tensor<2> {
        let Nodes { pass, samples, count, ref raw, ref hidden } = self.nodes;
        let sum = || {
            let mut sum = Affine::new(pass, samples, count).times(raw.clone(), FoldedWeight::Joined(Term::Raw));
            if let Some(hidden) = hidden {
                sum = sum.times(hidden.clone(), FoldedWeight::Joined(Term::Hidden));
            }
            sum.times(self.next.clone(), FoldedWeight::Joined(Term::Next)).constant(FoldedWeight::Joined(Term::Bias)).rows()
        };
        self.once.joined.get_or_init(sum).clone()
    }

    /// Logits of pairs of nodes, `[B, N, N]`, where only some may be chosen.
    fn allow(&self, logits: Tensor<3>) -> Tensor<3> {
        let Some(allowed) = &self.allowed else { return logits };
        let [b, n, _] = logits.dims();
        let least = logits.clone().reshape([b, n * n]).min_dim(1);
        let below = (least - 1.0).clamp_max(-1.0).reshape([b, 1, 1]).expand([b, n, n]);
        below.mask_where(allowed.clone(), logits)
    }
}

/// The decoder of one probe.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    /// The probe's place in the spec.
    pub(crate) probe: usize,
    layers: Vec<Linear>,
    /// Where its columns begin among those of all hints that read nodes alone, if it is one.
    column: Option<usize>,
}

/// The decoders of an algorithm: outputs, then hints.
#[derive(Clone, Debug)]
pub(crate) struct Decoders {
    list: Vec<Decoder>,
    /// The layers of hints that read nodes alone.
    pub(crate) joined: Vec<Linear>,
}

impl Decoders {
    /// The layers of all probes that are predicted.
    pub(crate) fn new(
        algorithm: &str,
        index: usize,
        spec: &Spec,
        edge_state: bool,
        settings: &ModelConfig,
        builder: &mut ParameterBuilder,
    ) -> Decoders {
        let reference = format!("net/~_construct_encoders_decoders/algo_{index}_");
        builder.begin(Owner::Algorithm(index), format!("{algorithm}/decoder/"), reference);
        let hints = settings.hint_mode.decodes();
        let predicted = |probe: &Probe| probe.stage == Stage::Output || probe.stage == Stage::Hint && hints;
        let decoder = |(place, probe): (usize, &Probe)| Decoder::new(place, probe, edge_state, settings.hidden, builder);
        let mut list: Vec<Decoder> = spec.iter().enumerate().filter(|(_, probe)| predicted(probe)).map(decoder).collect();
        let (mut joined, mut columns) = (Vec::new(), 0);
        for decoder in list.iter_mut().filter(|decoder| spec[decoder.probe].stage == Stage::Hint) {
            if let [layer] = decoder.layers[..] {
                decoder.column = Some(columns);
                columns += layer.outputs;
                joined.push(layer);
            }
        }
        Decoders { list, joined }
    }

    /// Those of a stage.
    pub(crate) fn of<'d>(&'d self, spec: &'d Spec, stage: Stage) -> impl Iterator<Item = &'d Decoder> {
        self.list.iter().filter(move |decoder| spec[decoder.probe].stage == stage)
    }
}

impl Decoder {
    fn new(place: usize, probe: &Probe, edge_state: bool, h: usize, builder: &mut ParameterBuilder) -> Decoder {
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
            builder.linear(&name, &format!("{}_dec_linear{suffix}", probe.name), inputs, outputs)
        };
        Decoder { probe: place, layers: shapes.clone().into_iter().enumerate().map(layer).collect(), column: None }
    }

    /// The logits of the probe, `[B, R, K]`. Those of permutations are not normalised yet.
    pub(crate) fn logits(&self, probe: &Probe, pass: &ForwardContext, read: &Read<'_>) -> Tensor<3> {
        let (b, n) = (read.nodes.samples, read.nodes.count);
        match (probe.location, &self.layers[..]) {
            (Location::Node, &[node]) => {
                let shape = if probe.kind == Kind::MaskOne { [b, 1, n] } else { [b, n, node.outputs] };
                match self.column {
                    Some(from) if pass.fused => fused::narrow(pass, read.joined(), from..from + node.outputs, shape),
                    _ => read.sum(node).shaped(|_| shape),
                }
            }
            (Location::Node, &[from, to, edge, last]) => {
                // max(p, q) w = p w + relu(q - p) w, so no pair of vectors is kept beside the differences.
                let h = pass.hidden;
                let (from, to) = (read.sum(from).rows(), read.sum(to).edge_bias(edge).rows());
                if pass.fused {
                    return read.allow(fused::pointers(pass, from, to, &read.edges, edge, last, read.state(edge)));
                }
                let (weight, bias) = (pass.get(last.weight), pass.get(last.bias));
                let edges = read.edges(edge).swap_dims(1, 2); // seen from the other end
                let above = edges + to.reshape([b, 1, n, h]) - from.clone().reshape([b, n, 1, h]);
                let logits = relu(above).reshape([b * n * n, h]).matmul(weight.clone()).reshape([b, n, n])
                    + (from.matmul(weight) + bias).reshape([b, n, 1]);
                read.allow(logits)
            }
            (Location::Edge, &[first, second, edge]) => {
                let logits = read.pairs(first, second, edge);
                if probe.kind == Kind::Mask {
                    return read.allow(logits.reshape([b, n, n])).reshape([b, n * n, 1]);
                }
                logits.reshape([b, n * n, edge.outputs])
            }
            (Location::Edge, &[first, second, edge, to, last]) => {
                let h = pass.hidden;
                let (pairs, to) = (read.pairs(first, second, edge), read.sum(to).rows());
                if pass.fused {
                    return fused::edge_pointers(pass, pairs, to, last);
                }
                let (weight, bias) = (pass.get(last.weight), pass.get(last.bias).reshape([1, 1, 1]));
                let to = to.reshape([b, 1, n, h]);
                // One first node at a time: all triplets at once would not fit.
                let of = |first: usize| {
                    let pairs = pairs.clone().slice([0..b, first..first + 1]).reshape([b, n, 1, h]);
                    let above = relu(to.clone() - pairs.clone()).reshape([b * n * n, h]).matmul(weight.clone());
                    let base = pairs.reshape([b * n, h]).matmul(weight.clone()).reshape([b, n, 1]);
                    above.reshape([b, n, n]) + base
                };
                Tensor::cat((0..n).map(of).collect(), 1) + bias
            }
            (Location::Graph, &[nodes, graph]) => {
                Affine::new(pass, b, 1).over(nodes, read.max_pool()).graph(&read.graph, graph).by_sample()
            }
            _ => unreachable!("`Decoder::new` makes no other layers"),
        }
    }
}

/// Logarithms of a matrix whose rows and columns sum to 1 (Sinkhorn's method); no node points to itself. Of each `[N, N]`.
pub(crate) fn log_sinkhorn(pass: &ForwardContext, logits: Tensor<3>, rounds: usize) -> Tensor<3> {
    if pass.fused {
        return fused::log_sinkhorn(pass, logits, rounds);
    }
    let [_, n, _] = logits.dims();
    let diagonal = Tensor::<2>::eye(n, &logits.device()).reshape([1, n, n]) * -1e6;
    let start = logits / TEMPERATURE + diagonal;
    (0..rounds).fold(start, |logits, _| log_softmax(log_softmax(logits, 2), 1))
}

/// The lower, the nearer to a permutation.
const TEMPERATURE: f32 = 0.1;
