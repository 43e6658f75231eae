//! Processors by name.

use std::fmt;

use clrs::suggest::{did_you_mean, nearest};

use super::Processor;
use super::attention::{Attention, Scoring};
use super::memory::MemoryNetwork;
use super::message_passing::MessagePassing;
use super::structure::{Senders, Structure};
use crate::config::model::ModelConfig;
use crate::exec::parameters::ParameterBuilder;

/// A function that creates the layers of a processor.
pub type BuildProcessor = fn(&ModelConfig, &mut ParameterBuilder) -> Box<dyn Processor>;

/// A processor in a registry.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ProcessorEntry {
    /// Name in recipes.
    pub name: &'static str,
    /// Name of its module in dm-clrs; `None` if dm-clrs does not have it.
    pub dm_clrs_module: Option<&'static str>,
    /// One line of documentation.
    pub description: &'static str,
    /// Time of a training step relative to `mpnn`, measured on bfs with 16 nodes and 128 hidden values; for estimates.
    pub relative_cost: f64,
    build: BuildProcessor,
}

impl ProcessorEntry {
    /// A processor that dm-clrs does not have.
    pub const fn new(name: &'static str, description: &'static str, build: BuildProcessor) -> ProcessorEntry {
        ProcessorEntry { name, dm_clrs_module: None, description, relative_cost: 1.0, build }
    }

    /// Sets [`ProcessorEntry::relative_cost`].
    #[must_use]
    pub const fn relative_cost(self, relative_cost: f64) -> ProcessorEntry {
        ProcessorEntry { relative_cost, ..self }
    }

    const fn reference(
        name: &'static str,
        dm_clrs_module: &'static str,
        description: &'static str,
        build: BuildProcessor,
    ) -> ProcessorEntry {
        ProcessorEntry { name, dm_clrs_module: Some(dm_clrs_module), description, relative_cost: 1.0, build }
    }

    /// Creates the processor and its parameters.
    pub fn build(&self, config: &ModelConfig, builder: &mut ParameterBuilder) -> Box<dyn Processor> {
        (self.build)(config, builder)
    }
}

impl fmt::Debug for ProcessorEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessorEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A list of processors: the built-in ones, and those of other crates.
///
/// ```
/// use clrs_nn::model::processors::ProcessorRegistry;
///
/// let registry = ProcessorRegistry::builtin();
/// assert_eq!(registry.find("mpnn").unwrap().name, "mpnn");
/// assert_eq!(registry.find("pgm").unwrap_err().to_string(), "unknown processor `pgm`; did you mean `pgn`?");
/// ```
#[derive(Clone, Debug)]
pub struct ProcessorRegistry(Vec<ProcessorEntry>);

/// No processor has the name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown processor `{name}`{}", did_you_mean(suggestion.as_deref()))]
#[non_exhaustive]
pub struct UnknownProcessor {
    /// The unknown name.
    pub name: String,
    /// A similar name.
    pub suggestion: Option<String>,
}

impl ProcessorRegistry {
    /// The processors of this crate, in dm-clrs's order.
    pub fn builtin() -> ProcessorRegistry {
        ProcessorRegistry(BUILTIN.to_vec())
    }

    /// Adds a processor. It replaces one of the same name.
    #[must_use]
    pub fn with(mut self, entry: ProcessorEntry) -> ProcessorRegistry {
        match self.0.iter_mut().find(|other| other.name == entry.name) {
            Some(other) => *other = entry,
            None => self.0.push(entry),
        }
        self
    }

    /// All processors.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ProcessorEntry> {
        self.0.iter()
    }

    /// Finds a processor by name.
    ///
    /// # Errors
    /// [`UnknownProcessor`], with the most similar name.
    pub fn find(&self, name: &str) -> Result<&ProcessorEntry, UnknownProcessor> {
        self.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let suggestion = nearest(name, self.iter().map(|entry| entry.name)).map(str::to_owned);
            UnknownProcessor { name: name.into(), suggestion }
        })
    }
}

impl Default for ProcessorRegistry {
    fn default() -> ProcessorRegistry {
        ProcessorRegistry::builtin()
    }
}

/// A member of the message-passing family: its senders and the flags that are set.
macro_rules! message_passing {
    ($name:literal, $description:literal, $senders:ident $(, $flag:ident)*) => {
        ProcessorEntry::reference($name, "mpnn_aggr_clrs_processor", $description, |config, builder| {
            let structure = Structure { $($flag: true,)* ..Structure::new(Senders::$senders) };
            Box::new(MessagePassing::new(structure, config, builder))
        })
    };
}

macro_rules! attention {
    ($name:literal, $module:literal, $description:literal, $scoring:ident, full: $full:literal) => {
        ProcessorEntry::reference($name, $module, $description, |config, builder| {
            Box::new(Attention::new(Scoring::$scoring, $full, config, builder))
        })
    };
}

macro_rules! memory {
    ($name:literal, $description:literal, full: $full:literal) => {
        ProcessorEntry::reference($name, "memnet_clrs_processor", $description, |config, builder| {
            Box::new(MemoryNetwork::new($full, config, builder))
        })
    };
}

const BUILTIN: &[ProcessorEntry] = &[
    message_passing!("deepsets", "Deep Sets: no messages between nodes", Itself).relative_cost(0.6),
    attention!("gat", "gat_aggr_clrs_processor", "GAT over neighbors", V1, full: false).relative_cost(0.45),
    attention!("gat_full", "gat_aggr_clrs_processor", "GAT over all nodes", V1, full: true).relative_cost(0.45),
    attention!("gatv2", "gatv2_aggr_clrs_processor", "GATv2 over neighbors", V2, full: false).relative_cost(0.55),
    attention!("gatv2_full", "gatv2_aggr_clrs_processor", "GATv2 over all nodes", V2, full: true).relative_cost(0.55),
    memory!("memnet_full", "end-to-end memory network over all edges", full: true).relative_cost(1.5),
    memory!("memnet_masked", "end-to-end memory network over edges between neighbors", full: false).relative_cost(1.5),
    message_passing!("mpnn", "message passing from all nodes", All),
    message_passing!("pgn", "pointer graph network: message passing from neighbors", Neighbors).relative_cost(0.75),
    message_passing!("pgn_mask", "`pgn` with decoders restricted to neighbors", Neighbors, masks).relative_cost(0.75),
    message_passing!("triplet_mpnn", "`mpnn` with triplet reasoning", All, triplets).relative_cost(2.5),
    message_passing!("triplet_pgn", "`pgn` with triplet reasoning", Neighbors, triplets).relative_cost(2.2),
    message_passing!("triplet_pgn_mask", "`pgn_mask` with triplet reasoning", Neighbors, triplets, masks).relative_cost(2.2),
    message_passing!("gpgn", "gated `pgn`", Neighbors, gated).relative_cost(0.85),
    message_passing!("gpgn_mask", "gated `pgn_mask`", Neighbors, gated, masks).relative_cost(0.85),
    message_passing!("gmpnn", "gated `mpnn`", All, gated).relative_cost(1.1),
    message_passing!("triplet_gpgn", "gated `pgn` with triplet reasoning", Neighbors, triplets, gated).relative_cost(2.3),
    message_passing!("triplet_gpgn_mask", "gated `pgn_mask` with triplet reasoning", Neighbors, triplets, gated, masks)
        .relative_cost(2.3),
    message_passing!("triplet_gmpnn", "gated `mpnn` with triplet reasoning", All, triplets, gated).relative_cost(2.6),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = BUILTIN.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BUILTIN.len());
    }

    #[test]
    fn a_processor_of_the_same_name_replaces_the_earlier_one() {
        let mean = ProcessorEntry::new("mpnn", "replaced", BUILTIN[0].build);
        let registry = ProcessorRegistry::builtin().with(mean).with(ProcessorEntry::new("own", "added", BUILTIN[0].build));
        assert_eq!(registry.iter().count(), BUILTIN.len() + 1);
        assert_eq!(registry.find("mpnn").expect("known").description, "replaced");
        assert_eq!(registry.find("own").expect("known").description, "added");
    }
}
