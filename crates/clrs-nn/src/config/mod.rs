//! Recipes and model configuration.

pub mod model;
pub mod recipe;
