use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{InvalidProblem, ensure_valid};

/// The alphabet of all strings in the benchmark.
const ALPHABET: [char; 4] = ['a', 'b', 'c', 'd'];

/// A string over the letters a, b, c, d, stored as indices into the alphabet; in JSON a string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Letters(Vec<usize>);

impl Letters {
    /// Size of the alphabet.
    pub const COUNT: usize = ALPHABET.len();

    /// Creates a string from indices into the alphabet.
    pub fn from_indices(indices: &[usize]) -> Result<Letters, InvalidProblem> {
        ensure_valid(indices.iter().all(|&index| index < Self::COUNT), || {
            format!("a letter is out of range; it must be less than {}", Self::COUNT)
        })?;
        Ok(Letters(indices.to_vec()))
    }

    /// Checks that the string is not empty.
    pub(super) fn not_empty(&self, name: &str) -> Result<(), InvalidProblem> {
        ensure_valid(!self.is_empty(), || format!("`{name}` is empty"))
    }
}

impl Deref for Letters {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl TryFrom<String> for Letters {
    type Error = InvalidProblem;

    fn try_from(text: String) -> Result<Letters, InvalidProblem> {
        let index = |letter| {
            let index = ALPHABET.iter().position(|&known| known == letter);
            index.ok_or_else(|| InvalidProblem::Rule(format!("`{letter}` is not one of the letters a, b, c, d")))
        };
        Ok(Letters(text.chars().map(index).collect::<Result<_, _>>()?))
    }
}

impl From<Letters> for String {
    fn from(Letters(indices): Letters) -> String {
        indices.into_iter().map(|index| ALPHABET[index]).collect()
    }
}
