//! The algorithms and processors that recipes can name.

use clrs::Registry;

use super::processors::ProcessorRegistry;

/// Algorithms and processors by name: the built-in ones, and those that other crates add.
#[derive(Clone)]
pub struct Registries {
    /// Algorithms.
    pub algorithms: Registry,
    /// Processors.
    pub processors: ProcessorRegistry,
}

impl Registries {
    /// The built-in algorithms and processors.
    pub fn builtin() -> Registries {
        Registries { algorithms: Registry::builtin(), processors: ProcessorRegistry::builtin() }
    }
}

impl Default for Registries {
    fn default() -> Registries {
        Registries::builtin()
    }
}
