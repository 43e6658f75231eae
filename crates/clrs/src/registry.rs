//! Algorithms by name.

use crate::algorithm::AnyAlgorithm;
use crate::algorithms::BUILTIN;
use crate::suggest::{did_you_mean, nearest};

/// A list of algorithms: the built-in ones, and those of other crates.
#[derive(Clone)]
pub struct Registry(Vec<&'static dyn AnyAlgorithm>);

impl Registry {
    /// The algorithms of this crate, in the reference's order.
    pub fn builtin() -> Registry {
        Registry(BUILTIN.to_vec())
    }

    /// One more; it takes the place of an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, algorithm: &'static dyn AnyAlgorithm) -> Registry {
        match self.0.iter_mut().find(|other| other.name() == algorithm.name()) {
            Some(other) => *other = algorithm,
            None => self.0.push(algorithm),
        }
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static dyn AnyAlgorithm> {
        self.0.iter().copied()
    }

    /// The algorithm of that name.
    pub fn find(&self, name: &str) -> Result<&'static dyn AnyAlgorithm, UnknownAlgorithm> {
        self.iter().find(|algorithm| algorithm.name() == name).ok_or_else(|| UnknownAlgorithm {
            name: name.into(),
            suggestion: nearest(name, self.iter().map(AnyAlgorithm::name)).map(str::to_owned),
        })
    }
}

/// No algorithm has the name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm is called `{name}`{}", did_you_mean(.suggestion.as_deref()))]
pub struct UnknownAlgorithm {
    /// The name that was asked for.
    pub name: String,
    /// A name that is near.
    pub suggestion: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_a_suggestion_and_a_strange_one_none() {
        let reason = |name| Registry::builtin().find(name).err().map(|error| error.to_string());
        assert_eq!(reason("brigdes").as_deref(), Some("no algorithm is called `brigdes`; did you mean `bridges`?"));
        assert_eq!(reason("simplex").as_deref(), Some("no algorithm is called `simplex`"));
        assert_eq!(reason("bfs"), None);
    }

    #[test]
    fn an_algorithm_of_the_same_name_takes_the_earlier_ones_place() {
        let registry = Registry::builtin();
        let again = registry.clone().with(BUILTIN[0]);
        assert!(again.iter().map(AnyAlgorithm::name).eq(registry.iter().map(AnyAlgorithm::name)));
    }
}
