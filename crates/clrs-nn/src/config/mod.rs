//! Recipes and model configuration: everything that determines a training run, parsed once into typed values.

pub mod data_source;
pub mod fields;
pub mod model;
pub mod recipe;
