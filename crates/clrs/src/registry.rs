//! Lookup of algorithms by name.

use crate::algorithm::AnyAlgorithm;
use crate::algorithms::BUILTIN;
use crate::suggest::{did_you_mean, nearest};

/// A list of algorithms: the built-in ones, and those of other crates.
///
/// ```
/// use clrs::Registry;
///
/// let registry = Registry::builtin();
/// assert!(registry.iter().len() >= 32);
/// assert_eq!(registry.find("bfs")?.name(), "bfs");
/// let error = registry.find("bsf").err().expect("no such algorithm");
/// assert_eq!(error.to_string(), "unknown algorithm `bsf`; did you mean `bfs`?");
/// # Ok::<(), clrs::registry::UnknownAlgorithm>(())
/// ```
#[derive(Clone)]
pub struct Registry(Vec<&'static dyn AnyAlgorithm>);

impl Registry {
    /// The algorithms of this crate, in the order of dm-clrs.
    pub fn builtin() -> Registry {
        Registry(BUILTIN.to_vec())
    }

    /// Adds an algorithm. It replaces an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, algorithm: &'static dyn AnyAlgorithm) -> Registry {
        match self.0.iter_mut().find(|other| other.name() == algorithm.name()) {
            Some(other) => *other = algorithm,
            None => self.0.push(algorithm),
        }
        self
    }

    /// Iterates over the algorithms.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static dyn AnyAlgorithm> {
        self.0.iter().copied()
    }

    /// Returns the algorithm with the given name.
    ///
    /// # Errors
    /// If the name is unknown; the error suggests a similar one.
    pub fn find(&self, name: &str) -> Result<&'static dyn AnyAlgorithm, UnknownAlgorithm> {
        self.iter().find(|algorithm| algorithm.name() == name).ok_or_else(|| UnknownAlgorithm {
            name: name.into(),
            suggestion: nearest(name, self.iter().map(AnyAlgorithm::name)).map(str::to_owned),
        })
    }
}

/// No algorithm has the given name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("unknown algorithm `{name}`{}", did_you_mean(.suggestion.as_deref()))]
pub struct UnknownAlgorithm {
    /// The unknown name.
    pub name: String,
    /// A similar name, if there is one.
    pub suggestion: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_suggests_a_similar_name() {
        let reason = |name| Registry::builtin().find(name).err().map(|error| error.to_string());
        assert_eq!(reason("brigdes").as_deref(), Some("unknown algorithm `brigdes`; did you mean `bridges`?"));
        assert_eq!(reason("BFS").as_deref(), Some("unknown algorithm `BFS`; did you mean `bfs`?"));
        assert_eq!(
            reason("Insertion-Sort").as_deref(),
            Some("unknown algorithm `Insertion-Sort`; did you mean `insertion_sort`?")
        );
        assert_eq!(reason("simplex").as_deref(), Some("unknown algorithm `simplex`"));
        assert_eq!(reason("bfs"), None);
    }

    #[test]
    fn with_replaces_an_algorithm_of_the_same_name() {
        let registry = Registry::builtin();
        let again = registry.clone().with(BUILTIN[0]);
        assert!(again.iter().map(AnyAlgorithm::name).eq(registry.iter().map(AnyAlgorithm::name)));
    }
}
