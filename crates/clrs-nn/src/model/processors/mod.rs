//! Processors: what passes between nodes in a step.
//!
//! A processor is given features of nodes, edges and the graph, and returns a new hidden state for every node. It is a list
//! of layers made by [`ParameterBuilder`], and one function in ordinary tensor operations. To add one, write it in a file of its own
//! and list it in [`RECIPES`].

mod attention;
mod memory;
mod message_passing;

use burn::tensor::Tensor;

use crate::exec::features::{Input, ForwardContext};
use crate::exec::fused;
use crate::exec::parameters::{ParameterBuilder, ParamId, Init};
use crate::config::model::ModelConfig;

use attention::{Attention, Scoring};
use memory::Memory;
use message_passing::{MessagePassing, Senders};

/// What passes between nodes in a step.
pub trait Processor: Send + Sync {
    /// New hidden states of all nodes.
    fn step(&self, pass: &ForwardContext, input: &Input<'_>) -> Output;

    /// Whether [`Input::adjacency`] is wanted.
    fn reads_adjacency(&self) -> bool;

    /// Whether [`Output::edges`] is returned.
    fn has_edge_state(&self) -> bool {
        false
    }

    /// Whether decoders may choose among neighbours only.
    fn masks_decoders(&self) -> bool {
        false
    }

    /// The most nodes of a sample, if there is a bound.
    fn max_nodes(&self) -> Option<usize> {
        None
    }
}

/// What a processor returns.
pub struct Output {
    /// New hidden states, `[B * N, H]`.
    pub hidden: Tensor<2>,
    /// A state of pairs of nodes that decoders read beside their features, `[B, N, N, H]`.
    pub edges: Option<Tensor<4>>,
}

/// A processor by name.
pub struct Recipe {
    /// Its name, in recipes and on the command line.
    pub name: &'static str,
    /// What its module is called in dm-clrs; empty where dm-clrs has no such processor.
    pub reference: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    build: fn(&ModelConfig, &mut ParameterBuilder) -> Box<dyn Processor>,
}

impl Recipe {
    /// Makes its layers.
    pub fn build(&self, settings: &ModelConfig, builder: &mut ParameterBuilder) -> Box<dyn Processor> {
        (self.build)(settings, builder)
    }
}

/// The processor of that name.
pub fn find(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

/// The message-passing family: who sends, triplets, gate, mask on decoders.
macro_rules! message_passing {
    ($name:literal, $about:literal, $senders:ident $(, $flag:ident)*) => {
        Recipe {
            name: $name,
            reference: "mpnn_aggr_clrs_processor",
            about: $about,
            build: |settings, builder| {
                let shape = message_passing::Shape { $($flag: true,)* ..message_passing::Shape::new(Senders::$senders) };
                Box::new(MessagePassing::new(shape, settings, builder))
            },
        }
    };
}

/// Attention: which, and over whom.
macro_rules! attention {
    ($name:literal, $reference:literal, $about:literal, $scoring:ident, $full:literal) => {
        Recipe {
            name: $name,
            reference: $reference,
            about: $about,
            build: |settings, builder| Box::new(Attention::new(Scoring::$scoring, $full, settings, builder)),
        }
    };
}

/// Memory networks: over whom.
macro_rules! memory {
    ($name:literal, $about:literal, $full:literal) => {
        Recipe {
            name: $name,
            reference: "memnet_clrs_processor",
            about: $about,
            build: |settings, builder| Box::new(Memory::new($full, settings, builder)),
        }
    };
}

/// All processors, in the reference's order.
pub const RECIPES: &[Recipe] = &[
    message_passing!("deepsets", "each node by itself", Itself),
    attention!("gat", "gat_aggr_clrs_processor", "attention over neighbours", V1, false),
    attention!("gat_full", "gat_aggr_clrs_processor", "attention over all nodes", V1, true),
    attention!("gatv2", "gatv2_aggr_clrs_processor", "attention with a layer between, over neighbours", V2, false),
    attention!("gatv2_full", "gatv2_aggr_clrs_processor", "attention with a layer between, over all nodes", V2, true),
    memory!("memnet_full", "memory network over all edges", true),
    memory!("memnet_masked", "memory network over edges between neighbours", false),
    message_passing!("mpnn", "messages from all nodes", All),
    message_passing!("pgn", "messages from neighbours", Neighbours),
    message_passing!("pgn_mask", "pgn, and decoders choose among neighbours", Neighbours, masks),
    message_passing!("triplet_mpnn", "mpnn with triplets of nodes", All, triplets),
    message_passing!("triplet_pgn", "pgn with triplets of nodes", Neighbours, triplets),
    message_passing!("triplet_pgn_mask", "pgn_mask with triplets of nodes", Neighbours, triplets, masks),
    message_passing!("gpgn", "pgn with a gate", Neighbours, gated),
    message_passing!("gpgn_mask", "pgn_mask with a gate", Neighbours, gated, masks),
    message_passing!("gmpnn", "mpnn with a gate", All, gated),
    message_passing!("triplet_gpgn", "pgn with triplets and a gate", Neighbours, triplets, gated),
    message_passing!("triplet_gpgn_mask", "pgn_mask with triplets and a gate", Neighbours, triplets, gated, masks),
    message_passing!("triplet_gmpnn", "mpnn with triplets and a gate", All, triplets, gated),
];

/// Normalises rows, with a scale and an offset that are learnt.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm {
    scale: ParamId,
    offset: ParamId,
}

impl LayerNorm {
    /// Over rows of so many numbers.
    pub fn new(size: usize, builder: &mut ParameterBuilder) -> LayerNorm {
        LayerNorm {
            scale: builder.parameter("norm/scale", "layer_norm/scale", &[size], Init::Constant(1.0)),
            offset: builder.parameter("norm/offset", "layer_norm/offset", &[size], Init::Constant(0.0)),
        }
    }

    /// The rows, normalised.
    pub fn apply(&self, pass: &ForwardContext, rows: Tensor<2>) -> Tensor<2> {
        if pass.fused {
            return fused::layer_norm(pass, rows, self.scale, self.offset);
        }
        let centred = rows.clone() - rows.mean_dim(1);
        let variance = centred.clone().square().mean_dim(1);
        centred / (variance + 1e-5).sqrt() * pass.get(self.scale) + pass.get(self.offset)
    }
}
