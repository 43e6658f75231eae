//! The algorithms of a recipe.

use clrs::registry::UnknownAlgorithm;
use clrs::{AnyAlgorithm, Registry};

use crate::config::recipe::Recipe;

/// Why the algorithms of a recipe cannot be trained on.
#[derive(Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum TaskError {
    #[error("no algorithm to train on: set `algorithms`")]
    None,
    #[error(transparent)]
    Unknown(#[from] UnknownAlgorithm),
    #[error("`algorithms` names {0} twice")]
    Duplicate(String),
}

/// Looks up the algorithms of a recipe.
///
/// # Errors
/// If there are none, or a name is unknown or repeated.
pub fn algorithms(recipe: &Recipe, registry: &Registry) -> Result<Vec<&'static dyn AnyAlgorithm>, TaskError> {
    let mut algorithms: Vec<&'static dyn AnyAlgorithm> = Vec::new();
    for name in &recipe.algorithms {
        let algorithm = registry.find(name)?;
        if algorithms.iter().any(|other| other.name() == algorithm.name()) {
            return Err(TaskError::Duplicate(name.clone()));
        }
        algorithms.push(algorithm);
    }
    if algorithms.is_empty() { Err(TaskError::None) } else { Ok(algorithms) }
}
