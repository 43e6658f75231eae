//! Processors: message passing, attention and memory networks between encoders and decoders.
//!
//! A processor maps features of nodes, edges and the graph to a new hidden state per node. It is a list of layers, created by a
//! [`ParameterBuilder`](crate::exec::parameters::ParameterBuilder), and one function in tensor operations. Built-in ones are listed in
//! [`registry`]; a crate can add its own with [`ProcessorRegistry::with`].

mod attention;
pub(super) mod dispatch;
mod layer_norm;
mod memory;
mod message_passing;
pub mod registry;
pub(crate) mod structure;

use burn::tensor::{Bool, Tensor as BurnTensor};

use crate::exec::adjacency::Adjacency;
use crate::exec::context::ForwardContext;
use crate::exec::features::{Affine, EdgeFeatures, GraphFeatures, NodeFeatures};
use crate::exec::tensor::Tensor;

pub use layer_norm::LayerNorm;
pub use registry::{ProcessorEntry, ProcessorRegistry, UnknownProcessor};

/// Computes new hidden states from features, once or several times per algorithm step.
pub trait Processor: Send + Sync {
    /// New hidden states of all nodes.
    fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput;

    /// Whether [`ProcessorInput::neighbors`] is read.
    fn reads_adjacency(&self) -> bool;

    /// Whether [`ProcessorOutput::edges`] is returned.
    fn has_edge_state(&self) -> bool {
        false
    }

    /// Whether decoders may only choose pairs of adjacent nodes.
    fn masks_decoders(&self) -> bool {
        false
    }

    /// Largest number of nodes, if it is bounded.
    fn max_nodes(&self) -> Option<usize> {
        None
    }

    /// Whether `step` works on tensors in host memory. Without that, it is given tensors of burn on every device.
    #[doc(hidden)]
    fn has_fused_step(&self) -> bool {
        false
    }

    /// Structure of the processor if it belongs to the message-passing family, for FLOP counts.
    #[doc(hidden)]
    fn message_passing(&self) -> Option<structure::Structure> {
        None
    }
}

/// Features that a processor reads, of `B` active samples with `N` nodes each.
pub struct ProcessorInput<'c> {
    /// Node encodings and hidden states.
    pub nodes: NodeFeatures<'c>,
    /// Edge encodings.
    pub edges: EdgeFeatures<'c>,
    /// Graph encodings.
    pub graph: GraphFeatures<'c>,
    /// Present if the processor reads it or masks decoders.
    pub(crate) adjacency: Option<Adjacency>,
}

/// Result of a processor step.
pub struct ProcessorOutput {
    /// New hidden states, `[B * N, H]`.
    pub hidden: Tensor<2>,
    /// Edge states that decoders read beside edge encodings, `[B, N, N, H]`.
    pub edges: Option<Tensor<4>>,
}

impl<'c> ProcessorInput<'c> {
    /// Number of samples, `B`.
    pub fn samples(&self) -> usize {
        self.nodes.samples
    }

    /// Number of nodes, `N`.
    pub fn node_count(&self) -> usize {
        self.nodes.nodes
    }

    /// Starts a sum of linear layers over nodes, the graph and given rows.
    pub fn affine(&self) -> Affine<'c> {
        Affine::new(self.nodes.ctx, self.samples(), self.node_count())
    }

    /// Connected pairs of nodes, `[B, N, N]`, symmetric and with self-loops.
    ///
    /// # Panics
    /// If [`Processor::reads_adjacency`] is false.
    pub fn neighbors(&self) -> BurnTensor<3, Bool> {
        self.adjacency().burn()
    }

    fn adjacency(&self) -> &Adjacency {
        self.adjacency.as_ref().expect("the processor reads adjacency")
    }
}
