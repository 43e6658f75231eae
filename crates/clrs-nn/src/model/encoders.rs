//! Encoders: which channels a probe gives, and the layer over them.

use burn::tensor::{Bool, Tensor};
use clrs::{Kind, Location, Probe, Spec, Stage};

use crate::exec::parameters::{ParameterBuilder, Linear, Init};
use crate::config::model::{EncoderInit, ModelConfig};

/// Where the channels of a probe go. A pointer of a node says something of a pair of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    Nodes,
    Edges,
    Graph,
}

/// What one probe gives in a step.
pub(crate) enum Channels {
    /// `[B, N, channels]`
    Nodes(Tensor<3>),
    /// `[B, N, N, channels]`
    Edges(Tensor<4>),
    /// `[B, channels]`
    Graph(Tensor<2>),
}

/// The encoder of one probe.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    /// The probe's place in the spec.
    pub(crate) probe: usize,
    place: Place,
    /// One layer, or two of an edge's pointer: seen from its first node, and from its second.
    layers: Vec<Linear>,
}

/// The encoders of an algorithm, inputs before hints.
#[derive(Clone, Debug)]
pub(crate) struct Encoders {
    list: Vec<Encoder>,
    /// Size of encodings.
    pub(crate) hidden: usize,
}

impl Encoders {
    /// The layers of all probes that are read.
    pub(crate) fn new(algorithm: &str, index: usize, spec: &Spec, settings: &ModelConfig, builder: &mut ParameterBuilder) -> Encoders {
        let reference = format!("net/~_construct_encoders_decoders/algo_{index}_");
        builder.begin(crate::exec::parameters::Owner::Algorithm(index), format!("{algorithm}/encoder/"), reference);
        let hints = settings.hint_mode.encodes();
        let read = |probe: &Probe| probe.stage == Stage::Input || probe.stage == Stage::Hint && hints;
        let encoder = |(place, probe): (usize, &Probe)| Encoder::new(place, probe, settings, builder);
        // A spec has its inputs first and its hints last.
        let list = spec.iter().enumerate().filter(|(_, probe)| read(probe)).map(encoder).collect();
        Encoders { list, hidden: settings.hidden }
    }

    /// Those of a stage.
    pub(crate) fn of<'e>(&'e self, spec: &'e Spec, stage: Stage) -> impl Iterator<Item = &'e Encoder> {
        self.list.iter().filter(move |encoder| spec[encoder.probe].stage == stage)
    }

    /// The layers over the channels of a place, in their order.
    pub(crate) fn at(&self, place: Place) -> impl Iterator<Item = Linear> {
        self.list.iter().filter(move |encoder| encoder.place == place).flat_map(|encoder| encoder.layers.iter().copied())
    }
}

impl Encoder {
    fn new(place: usize, probe: &Probe, settings: &ModelConfig, builder: &mut ParameterBuilder) -> Encoder {
        let inputs = if let Kind::Categorical { classes } = probe.kind { classes } else { 1 };
        let small = probe.stage == Stage::Hint && probe.kind == Kind::Scalar && settings.init == EncoderInit::XavierOnScalars;
        let deviation = 1.0 / (if small { settings.hidden } else { inputs } as f64).sqrt();
        let mut layer = |name: &str, suffix: &str| {
            let reference = format!("{}_enc_linear{suffix}", probe.name);
            builder.linear_from(name, &reference, inputs, settings.hidden, Init::Normal { deviation }, 0.0)
        };
        let is_pointer = is_pointer(probe.kind);
        let layers = if is_pointer && probe.location == Location::Edge {
            vec![layer(&format!("{}/first", probe.name), ""), layer(&format!("{}/second", probe.name), "_1")]
        } else {
            vec![layer(&probe.name, "")]
        };
        let place_ = match probe.location {
            Location::Node if is_pointer => Place::Edges,
            Location::Node => Place::Nodes,
            Location::Edge => Place::Edges,
            Location::Graph => Place::Graph,
        };
        Encoder { probe: place, place: place_, layers }
    }

    /// The channels of what a probe says, `[B, R, K]`.
    pub(crate) fn channels(&self, probe: &Probe, nodes: usize, value: Tensor<3>) -> Channels {
        let [samples, _, numbers] = value.dims();
        match (self.place, probe.location) {
            (Place::Nodes, _) if probe.kind == Kind::MaskOne => Channels::Nodes(value.reshape([samples, nodes, 1])),
            (Place::Nodes, _) => Channels::Nodes(value),
            (Place::Graph, _) => Channels::Graph(value.reshape([samples, numbers])),
            (Place::Edges, Location::Edge) if is_pointer(probe.kind) => {
                // An encoder is linear: the mean of encodings is the encoding of the mean.
                let pointers = value.reshape([samples, nodes, nodes, nodes]);
                let first = pointers.clone().mean_dim(1).reshape([samples, nodes, nodes, 1]);
                let second = pointers.mean_dim(2).reshape([samples, nodes, nodes, 1]);
                Channels::Edges(Tensor::cat(vec![first, second], 3))
            }
            (Place::Edges, Location::Edge) => Channels::Edges(value.reshape([samples, nodes, nodes, numbers])),
            (Place::Edges, _) => Channels::Edges(value.reshape([samples, nodes, nodes, 1])),
        }
    }
}

/// The pairs of nodes that a probe makes neighbours, if it says anything of that.
pub(crate) fn neighbours(probe: &Probe, nodes: usize, value: &Tensor<3>) -> Option<Tensor<3, Bool>> {
    let pairs = || value.clone().detach().reshape([value.dims()[0], nodes, nodes]);
    let both_ways = |threshold: f32| {
        let pairs = pairs();
        (pairs.clone() + pairs.swap_dims(1, 2)).greater_scalar(threshold)
    };
    match (probe.location, probe.kind) {
        (Location::Node, kind) if is_pointer(kind) => Some(both_ways(0.5)),
        (Location::Edge, Kind::Mask) => Some(both_ways(0.0)),
        _ => None,
    }
}

pub(crate) fn is_pointer(kind: Kind) -> bool {
    matches!(kind, Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation)
}
