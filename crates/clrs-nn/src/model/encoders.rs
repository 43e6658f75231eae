//! Encoders: the raw channels of each probe, and the linear layer over them.

use clrs::{Kind, Location, Probe, Spec, Stage};

use crate::config::model::{EncoderInit, ModelConfig};
use crate::exec::parameters::{Init, Linear, Owner, ParameterBuilder};
use crate::exec::tensor::Tensor;

/// Raw channels of one probe.
pub(super) enum Channels {
    /// `[B, N, channels]`
    Nodes(Tensor<3>),
    /// `[B, N, N, channels]`
    Edges(Tensor<4>),
    /// `[B, channels]`
    Graph(Tensor<2>),
}

/// The encoder of one probe.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    /// Index of the probe in the spec.
    pub(super) probe: usize,
    /// Location of its channels. A node pointer is a feature of pairs of nodes.
    location: Location,
    /// One layer; two for an edge pointer, one for each end of the edge.
    layers: Vec<Linear>,
}

/// The encoders of a task, inputs before hints.
#[derive(Clone, Debug)]
pub(super) struct Encoders {
    list: Vec<Encoder>,
    /// Size of encodings.
    pub(super) hidden: usize,
}

impl Encoders {
    /// Creates the layers of all probes that are encoded.
    pub(super) fn new(
        algorithm: &str,
        index: usize,
        spec: &Spec,
        config: &ModelConfig,
        builder: &mut ParameterBuilder,
    ) -> Encoders {
        let dm_clrs_prefix = format!("net/~_construct_encoders_decoders/algo_{index}_");
        builder.scope(Owner::Algorithm(index), format!("{algorithm}/encoder/"), &*dm_clrs_prefix);
        let hints = config.hint_mode.encodes();
        let is_encoded = |probe: &Probe| probe.stage == Stage::Input || probe.stage == Stage::Hint && hints;
        let encoder = |(index, probe): (usize, &Probe)| Encoder::new(index, probe, config, builder);
        // A spec lists inputs first and hints last.
        let list = spec.iter().enumerate().filter(|(_, probe)| is_encoded(probe)).map(encoder).collect();
        Encoders { list, hidden: config.hidden }
    }

    /// Encoders of a stage.
    pub(super) fn of<'e>(&'e self, spec: &'e Spec, stage: Stage) -> impl Iterator<Item = &'e Encoder> {
        self.list.iter().filter(move |encoder| spec[encoder.probe].stage == stage)
    }

    /// All layers with the location of their channels, in the order of the channels.
    pub(super) fn layers(&self) -> impl Iterator<Item = (Location, Linear)> {
        self.list.iter().flat_map(|encoder| encoder.layers.iter().map(|&layer| (encoder.location, layer)))
    }
}

impl Encoder {
    fn new(index: usize, probe: &Probe, config: &ModelConfig, builder: &mut ParameterBuilder) -> Encoder {
        let inputs = if let Kind::Categorical { classes } = probe.kind { classes } else { 1 };
        let xavier = config.init == EncoderInit::XavierOnScalars && probe.stage == Stage::Hint && probe.kind == Kind::Scalar;
        let stddev = 1.0 / (if xavier { config.hidden } else { inputs } as f64).sqrt();
        let mut layer = |name: &str, suffix: &str| {
            let dm_clrs_name = format!("{}_enc_linear{suffix}", probe.name);
            builder.linear_with((name, &*dm_clrs_name), [inputs, config.hidden], Init::TruncatedNormal { stddev }, 0.0)
        };
        let is_pointer = is_pointer(probe.kind);
        let layers = if is_pointer && probe.location == Location::Edge {
            vec![layer(&format!("{}/first", probe.name), ""), layer(&format!("{}/second", probe.name), "_1")]
        } else {
            vec![layer(&probe.name, "")]
        };
        let location = if is_pointer { Location::Edge } else { probe.location };
        Encoder { probe: index, location, layers }
    }

    /// Raw channels of a probe's values, `[B, R, K]`.
    pub(super) fn channels(&self, probe: &Probe, nodes: usize, value: Tensor<3>) -> Channels {
        let [samples, _, classes] = value.dims();
        match (self.location, probe.location) {
            (Location::Node, _) if probe.kind == Kind::MaskOne => Channels::Nodes(value.reshape([samples, nodes, 1])),
            (Location::Node, _) => Channels::Nodes(value),
            (Location::Graph, _) => Channels::Graph(value.reshape([samples, classes])),
            (Location::Edge, Location::Edge) if is_pointer(probe.kind) => {
                // The encoder is linear: the mean of encodings is the encoding of the mean.
                let pointers = value.reshape([samples, nodes, nodes, nodes]);
                let first = pointers.clone().mean_dim(1).reshape([samples, nodes, nodes, 1]);
                let second = pointers.mean_dim(2).reshape([samples, nodes, nodes, 1]);
                Channels::Edges(Tensor::cat(vec![first, second], 3))
            }
            (Location::Edge, Location::Edge) => Channels::Edges(value.reshape([samples, nodes, nodes, classes])),
            (Location::Edge, _) => Channels::Edges(value.reshape([samples, nodes, nodes, 1])),
        }
    }
}

/// Sum of the values of both directions above which a probe connects two nodes; `None` for kinds that connect no nodes.
pub(super) fn connection_threshold(probe: &Probe) -> Option<f32> {
    match (probe.location, probe.kind) {
        (Location::Node, kind) if is_pointer(kind) => Some(0.5),
        (Location::Edge, Kind::Mask) => Some(0.0),
        _ => None,
    }
}

pub(crate) fn is_pointer(kind: Kind) -> bool {
    matches!(kind, Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation)
}
