use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{InvalidProblem, ensure_valid};

/// The alphabet of every text in the benchmark.
const ALPHABET: [char; 4] = ['a', 'b', 'c', 'd'];

/// A text over the letters a, b, c, d, kept as their numbers from 0; in JSON a string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Letters(Vec<usize>);

impl Letters {
    /// The size of the alphabet.
    pub const COUNT: usize = ALPHABET.len();

    /// From numbers of letters.
    pub fn from_numbers(numbers: &[usize]) -> Result<Letters, InvalidProblem> {
        ensure_valid(numbers.iter().all(|&number| number < Self::COUNT), || "there is no fifth letter".into())?;
        Ok(Letters(numbers.to_vec()))
    }

    /// The rule that there is a text.
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
        let number = |letter| {
            let number = ALPHABET.iter().position(|&known| known == letter);
            number.ok_or_else(|| InvalidProblem::Rule(format!("`{letter}` is none of the letters a, b, c, d")))
        };
        Ok(Letters(text.chars().map(number).collect::<Result<_, _>>()?))
    }
}

impl From<Letters> for String {
    fn from(Letters(numbers): Letters) -> String {
        numbers.into_iter().map(|number| ALPHABET[number]).collect()
    }
}
